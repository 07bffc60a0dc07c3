"""Searches: how trials are ranked, and that the config holds what the searches chose."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from eflops.analysis.paper import read_paper
from eflops.analysis.search import choose, choose_nearest, distances, gene_columns, put, rank
from eflops.config.load import read
from eflops.config.plan import variants_of
from eflops.data.golub import genes
from eflops.errors import UserError

ROOT = Path(__file__).parents[2]
CONFIG = read(ROOT / "config.yaml")
CHOSEN = sorted((ROOT / "resources/search").glob("*.json"))


SEARCH: dict[str, Any] = {"metric": "r2", "score": "mean", "admit": {"open_gates": 2.0, "sent": {}}}
COSTS = {"parameters": 100, "kept": 5, "macs": 1, "dense_macs": 2, "set_rounds": 1, "paper_training": 1} | {
    f"{name}_{phase}": 1000 for name in ("down", "up", "messages", "last_round") for phase in ("training", "finetuning")
}


def runs(scores: dict[str, list[float | None]], metric: str = "r2", **more: Any) -> pd.DataFrame:
    rows = [
        {"method": "m", "variant": trial, "status": "diverged" if value is None else "finished", metric: value}
        | {"ratio": 0.64, "set_rate": 0.1 * number, "set_local_steps": 3.0, "set_clip": None, **COSTS, **more}
        for number, (trial, values) in enumerate(scores.items(), 1)
        for value in values
    ]
    return pd.DataFrame(rows)


def test_the_best_mean_comes_first_and_divergence_counts_as_the_worst() -> None:
    trials = rank(runs({"steady": [0.5, 0.5], "lost": [0.9, None], "low": [0.1, 0.2]}), SEARCH)
    assert list(trials["variant"]) == ["steady", "low", "lost"]
    assert trials.set_index("variant").loc["lost", ["score", "diverged"]].tolist() == pytest.approx([-0.05, 1])


def test_a_low_cross_entropy_is_better() -> None:
    trials = rank(runs({"high": [0.9], "low": [0.1]}, "cross_entropy"), SEARCH | {"metric": "cross_entropy"})
    assert list(trials["variant"]) == ["low", "high"]


def test_a_trial_that_fails_on_one_seed_loses_by_its_spread() -> None:
    both = runs({"steady": [0.88, 0.88], "risky": [0.99, 0.80]}, "accuracy")
    assert rank(both, SEARCH | {"metric": "accuracy"})["variant"][0] == "risky"
    wary = rank(both, SEARCH | {"metric": "accuracy", "score": "mean_minus_sd"})
    assert list(wary["variant"]) == ["steady", "risky"]
    assert wary["score"][1] == pytest.approx(0.895 - np.std([0.99, 0.80], ddof=1))


def test_a_trial_without_a_constraint_or_with_heavy_messages_is_not_admitted() -> None:
    best = runs({"loose": [0.9]}, open_gates=11.0)
    heavy = runs({"heavy": [0.8]}, open_gates=10.0, down_training=10**6)
    bound = runs({"bound": [0.1]}, open_gates=10.0)
    found = pd.concat([best, heavy, bound])
    trials = rank(found, SEARCH | {"admit": {"open_gates": 2.0, "sent": {"m": 1.0}}})
    assert trials["variant"].tolist() == ["bound", "loose", "heavy"]
    assert trials["excluded"].tolist() == ["", "open gates", "bytes"]
    assert choose(trials, {"m": ["local_steps"]}) == {"m": {"local_steps": 3}}
    with pytest.raises(UserError, match="No trial of m is admitted"):
        choose(trials[1:], {"m": ["local_steps"]})


def test_a_constraint_that_is_off_at_one_ratio_is_not_made_up_for_at_another() -> None:
    both = {"off": [0.9], "on": [0.8]}
    found = pd.concat([runs(both, open_gates=5.0).assign(ratio=ratio) for ratio in (0.24, 0.64)])
    found.loc[(found["variant"] == "off") & (found["ratio"] == 0.24), "open_gates"] = 12.0
    trials = rank(found, SEARCH).set_index("variant")
    assert trials["excluded"].to_dict() == {"on": "", "off": "open gates"}
    assert trials.loc["off", "open_gates"] == pytest.approx(12.0 / found["kept"].iloc[0])


def test_the_choice_has_the_searched_settings_with_their_types() -> None:
    trials = rank(runs({"one": [0.1], "two": [0.2]}), SEARCH)
    chosen = choose(trials, {"m": ["rate", "local_steps", "clip"]})
    assert chosen == {"m": {"rate": 0.2, "local_steps": 3, "clip": None}}
    assert isinstance(chosen["m"]["local_steps"], int)


def test_the_nearest_trial_has_the_papers_recovery() -> None:
    paper = read_paper(ROOT / "resources/paper/targets.yaml")
    both = runs({"far": [0.9], "near": [0.6]}, "support_recovery").assign(method="eflops", record="")
    found = distances("support_recovery", both, Path(), paper)
    assert found == pytest.approx({("eflops", "far"): 0.9 - 0.626, ("eflops", "near"): 0.626 - 0.6})
    trials = rank(both.assign(r2=[0.9, 0.1]), SEARCH)
    trials["distance"] = [found[key] for key in zip(trials["method"], trials["variant"], strict=True)]
    assert choose_nearest(trials, {"eflops": ["rate"]}) == {"eflops": {"rate": 0.2}}


def test_an_n_over_d_that_the_paper_lacks_says_nothing_of_what_is_near() -> None:
    paper = read_paper(ROOT / "resources/paper/targets.yaml")
    one = runs({"near": [0.6]}, "support_recovery").assign(method="eflops", record="")
    other = one.assign(ratio=0.7, support_recovery=0.1)
    assert distances("support_recovery", pd.concat([one, other]), Path(), paper) == distances(
        "support_recovery", one, Path(), paper
    )
    assert distances("support_recovery", other, Path(), paper) == {}


def test_the_nearest_trial_selects_the_papers_genes(tmp_path: Path) -> None:
    paper, names = read_paper(ROOT / "resources/paper/targets.yaml"), genes()
    cystatin = int(names.index[names["probe"] == "M27891_at"][0])
    found = runs({"first": [0.9], "second": [0.9]}, "accuracy").assign(method="eflops", record=["a", "b"])
    supports = tmp_path / "supports.csv"
    supports.write_text(f"record,support,weights\na,{cystatin},1\nb,0,1\n")
    near, far = distances("gene_frequency", found, supports, paper).values()
    shares = np.array([share.value for share in paper.genes["eflops"].values()])
    assert far == pytest.approx(np.sqrt(np.mean(shares**2)))
    shares[0] = 1 - shares[0]
    assert near == pytest.approx(np.sqrt(np.mean(shares**2)))
    columns = gene_columns(found, supports, paper)
    assert columns["listed"].tolist() == [1, 0]
    assert columns["share@cystatin C"].tolist() == [1.0, 0.0]


def test_open_gates_are_told_by_ratio_in_times_of_the_target() -> None:
    few, many = (
        runs({"it": [0.5]}, open_gates=gates).assign(ratio=ratio) for gates, ratio in ((5.0, 1.36), (12.5, 0.24))
    )
    trial = rank(pd.concat([few, many]), SEARCH).iloc[0]
    assert trial[["open_gates@0.24", "open_gates@1.36", "open_gates"]].tolist() == [2.5, 1.0, 2.5]


def test_a_choice_is_written_and_read_back_the_same_beside_the_others(tmp_path: Path) -> None:
    settings = {"rate": 1e-05, "clip": None, "sparse_upload": True, "gate": "median"}
    put(tmp_path / "chosen.yaml", "x", {"a": settings})
    put(tmp_path / "chosen.yaml", "y", {"a": {"rate": 2}, "b": {}})
    put(tmp_path / "chosen.yaml", "x", {"b": settings})
    assert yaml.safe_load((tmp_path / "chosen.yaml").read_text()) == {
        "x": {"b": settings},
        "y": {"a": {"rate": 2}, "b": {}},
    }


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_the_config_holds_what_the_search_chose(path: Path) -> None:
    for entry, methods in json.loads(path.read_text()).items():
        for method, settings in methods.items():
            stored = CONFIG.choices[entry][method]
            assert {key: stored[key] for key in settings} == settings


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_the_choice_is_the_best_admitted_of_the_trials_that_the_config_describes(path: Path) -> None:
    (name,) = [name for name, search in CONFIG.searches.items() if search.entry == path.stem]
    trials = pd.read_csv(path.with_suffix(".csv"))
    search = CONFIG.searches[name]
    admitted = trials[trials["excluded"].isna()]
    best = admitted.loc[admitted.groupby("method")["score"].idxmax()].set_index("method")["variant"]
    for method, settings in json.loads(path.read_text())[path.stem].items():
        assert len(trials[trials["method"] == method]) == search.trials
        drawn = variants_of(CONFIG, name, method)[best[method]]
        assert {key: getattr(drawn, key) for key in settings} == settings


def test_entropy_and_no_entropy_share_their_trials() -> None:
    for name, search in CONFIG.searches.items():
        with_entropy, without = (variants_of(CONFIG, name, method) for method in ("eflops", "flops"))
        assert len(without) == search.trials
        for label, settings in with_entropy.items():
            trial = label.partition(",")[0]
            assert without[trial] == settings.model_copy(update={"temperature": 0.0})
