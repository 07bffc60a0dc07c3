"""A results folder of the synthetic experiments, made by the real code at tiny sizes."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

import small_results
from eflops.analysis.references import make as make_references
from eflops.analysis.source import Source
from eflops.config.load import check, merge
from eflops.config.models import Config
from eflops.config.plan import Plan, plan_of
from eflops.data.build import build
from eflops.data.federation import save
from eflops.results import labels

ROOT = Path(__file__).resolve().parents[3]
BRIEF = {"rounds": 6, "finetune_rounds": 2}
SHORT = {"per_dataset": {"synthetic": BRIEF}}
ABLATIONS = ("recovery", "prune", "gate", "steps", "literal", "options")
TINY: dict[str, Any] = {
    "datasets": {"synthetic": {"features": 60, "density": 0.1, "test_rows": 50, "clients": 3, "min_rows": 8}},
    "methods": {
        **dict.fromkeys(("eflops", "flops", "fediht", "fedavg", "centralized"), SHORT),
        # A rate at which every run diverges.
        "fediterht": merge(SHORT, {"per_dataset": {"synthetic": {"rate": 1e30, "clip": None}}}),
    },
    "experiments": {
        "support_recovery": {"ratios": [0.64, 1.36], "draws": [7], "seeds": 3, "evaluate_every": 2},
        "curves": {"draws": [7], "seeds": 3, "evaluate_every": 2},
        "nearest": {"ratios": [0.64, 1.36], "draws": [7, 8], "settings": BRIEF},
        "sparse_both": {"ratios": [0.64], "draws": [7], "settings": BRIEF},
        "feedback14": {"ratios": [0.64], "draws": [7], "seeds": 3, "settings": BRIEF, "evaluate_every": 2},
        "sparse_server": {"ratios": [0.64], "draws": [7], "settings": BRIEF},
        "rates_theta": {"draws": [7, 8], "seeds": 1, "settings": {"clip": None}, "vary": {"rate": [0.05, 1e30]}},
        "rates_phi": {"draws": [7, 8], "seeds": 1, "vary": {"gate_rate": [0.1, 0.9]}},
        "temperature": {"ratios": [0.64], "draws": [7, 8, 9], "settings": BRIEF},
        **{f"ablation_{name}": {"draws": [7, 8], "seeds": 1} for name in ABLATIONS},
    },
}


@pytest.fixture(scope="session")
def study() -> Config:
    """The project's own config with the synthetic experiments made tiny, and no others."""
    raw = merge(yaml.safe_load((ROOT / "config.yaml").read_text()), TINY)
    kept = {name: raw["experiments"][name] for name in TINY["experiments"]}
    return check({**raw, "experiments": kept})


@pytest.fixture(scope="session")
def results(study: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, records and gathered files of all these experiments."""
    folder = tmp_path_factory.mktemp("results")
    for name in study.experiments:
        _run(study, plan_of(study, name), folder)
    return folder


@pytest.fixture(scope="session")
def source(study: Config, results: Path) -> Source:
    """What tables and figures read."""
    labels = {name: entry.label for name, entry in study.methods.items()}
    return Source(results, labels, tuple(name for name, entry in study.methods.items() if entry.pooled))


def _run(study: Config, plan: Plan, folder: Path) -> None:
    folders = []
    for ratio, draw in product(plan.ratios, plan.draws):
        data = folder / "data" / "synthetic" / labels.data_label(ratio, draw)
        if not data.exists():
            settings = study.datasets["synthetic"].model_dump(mode="json")
            federation = build(settings, labels.ratio_value(ratio), draw)
            save(federation, data, {**settings, "ratio": ratio, "draw": draw})
        folders.append(data)
    small_results.train_plan(study, plan, folder)
    small_results.gather(plan, folder)
    if plan.name == "support_recovery":
        make_references(folders, folder / "gathered" / f"{plan.name}.references.csv")
