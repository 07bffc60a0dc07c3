"""Searches: how trials are ranked, and that the config holds what the searches chose."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from eflops.analysis.tuning import adopt, choose, rank
from eflops.config import cells
from eflops.config.load import read
from eflops.errors import UserError

ROOT = Path(__file__).parents[2]
CONFIG = read(ROOT / "config.yaml")
CHOSEN = sorted((ROOT / "resources/tuning").glob("*.json"))


def runs(scores: dict[str, list[float | None]], metric: str = "r2") -> pd.DataFrame:
    rows = [
        {"method": "m", "variant": trial, "status": "diverged" if value is None else "finished", metric: value}
        | {"set_rate": 0.1 * number, "set_local_steps": 3.0, "set_clip": None}
        for number, (trial, values) in enumerate(scores.items(), 1)
        for value in values
    ]
    return pd.DataFrame(rows)


def test_the_best_mean_comes_first_and_divergence_counts_as_the_worst() -> None:
    trials = rank(runs({"steady": [0.5, 0.5], "lost": [0.9, None], "low": [0.1, 0.2]}), "r2")
    assert list(trials["variant"]) == ["steady", "low", "lost"]
    assert trials.set_index("variant").loc["lost", ["score", "diverged"]].tolist() == pytest.approx([-0.05, 1])


def test_a_low_cross_entropy_is_better() -> None:
    trials = rank(runs({"high": [0.9], "low": [0.1]}, "cross_entropy"), "cross_entropy")
    assert list(trials["variant"]) == ["low", "high"]


def test_the_choice_has_the_searched_settings_with_their_types() -> None:
    trials = rank(runs({"one": [0.1], "two": [0.2]}), "r2")
    chosen = choose(trials, {"m": ["rate", "local_steps", "clip"]})
    assert chosen == {"m": {"rate": 0.2, "local_steps": 3, "clip": None}}
    assert isinstance(chosen["m"]["local_steps"], int)


def test_a_choice_is_written_where_it_belongs_and_read_back_the_same(tmp_path: Path) -> None:
    text = (
        "methods:\n  a:\n    label: A\n    per_dataset:\n      x: {}\n      y: {rate: 1}  # kept\n  b:\n    label: B\n"
    )
    (tmp_path / "c.yaml").write_text(text)
    settings = {"rate": 1e-05, "clip": None, "sparse_upload": True, "gate": "median"}
    adopt(tmp_path / "c.yaml", "x", {"a": settings})
    stored = yaml.safe_load((tmp_path / "c.yaml").read_text())
    assert stored["methods"]["a"]["per_dataset"] == {"x": settings, "y": {"rate": 1}}
    with pytest.raises(UserError, match=r"methods\.b\.per_dataset has no line"):
        adopt(tmp_path / "c.yaml", "x", {"b": settings})


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_the_config_holds_what_the_search_chose(path: Path) -> None:
    chosen = json.loads(path.read_text())
    for method, settings in chosen.items():
        stored = CONFIG.methods[method].per_dataset[path.stem]
        assert {key: stored[key] for key in settings} == settings


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_the_choice_is_the_best_of_the_trials_that_the_config_describes(path: Path) -> None:
    (name,) = [name for name, search in CONFIG.searches.items() if search.dataset == path.stem]
    trials = pd.read_csv(path.with_suffix(".csv"), float_precision="round_trip")
    search = CONFIG.searches[name]
    best = trials.loc[trials.groupby("method")["score"].idxmax()].set_index("method")["variant"]
    for method, settings in json.loads(path.read_text()).items():
        assert len(trials[trials["method"] == method]) == search.trials
        drawn = cells.variants(CONFIG, name, method)[best[method]]
        assert {key: getattr(drawn, key) for key in settings} == settings
