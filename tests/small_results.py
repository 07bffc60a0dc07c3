"""A small study made for real, in one process: data, runs, gathered files, tables, figures, scorecard."""

from pathlib import Path
from typing import Any

from eflops.analysis import closing, products, references, supports
from eflops.analysis.catalogue import products as planned_products
from eflops.analysis.catalogue.whole import SCORECARD, SUMMARY, summary_sources
from eflops.analysis.gather import gather
from eflops.analysis.scorecard import make as scorecard
from eflops.config import cells
from eflops.config.load import check
from eflops.config.models import Config
from eflops.data import build
from eflops.data.federation import save
from eflops.files import write_text
from eflops.provenance import study
from eflops.provenance.lines import judged_experiments, targets_of
from eflops.provenance.recompute import context
from eflops.train import Job, train

SETTINGS = {"rounds": 6, "tune_rounds": 2}
CONFIG: dict[str, Any] = {
    "datasets": {
        "synthetic": {"kind": "synthetic", "density": 0.1, "features": 64, "test_rows": 40, "clients": 3, "min_rows": 6}
    },
    "methods": {
        "eflops": {"method": "eflops", "label": "E-FLoPS", "settings": SETTINGS},
        "flops": {"method": "eflops", "label": "FLoPS", "settings": {**SETTINGS, "temperature": 0.0}},
        "fediht": {"method": "fediht", "label": "Fed-IHT", "settings": SETTINGS},
        "fedavg": {"method": "fedavg", "label": "FedAvg", "settings": SETTINGS},
    },
    "experiments": {
        "support_recovery": {
            "dataset": "synthetic",
            "ratios": [0.64, 1.0],
            "methods": ["eflops", "flops", "fediht", "fedavg"],
            "seeds": 3,
        }
    },
}
BENCHMARK = "s\tmax_rss\tcpu_time\n2.5\t200\t2.4\n"


def make(results: Path, raw: dict[str, Any] = CONFIG) -> None:
    """Do what the workflow does, job after job."""
    config = check(raw)
    for plan in cells.plans(config):
        _make_data(config, plan, results)
        _train(config, plan, results)
        _gather(plan, results)
    # What is drawn from the scorecard comes after all tables, which the scorecard reads.
    for product in sorted(planned_products(config), key=lambda product: SCORECARD in product.inputs):
        for path in product.inputs:
            _make_input(config, path, results)
        products.make(product.name, results, context(config), [results / path for path in product.files])
    made = {path for product in planned_products(config) for path in product.files}
    closing.write(results, frozenset(summary_sources(made)), results / SUMMARY)
    study.write(raw, results / study.NAME)


def _make_data(config: Config, plan: cells.Plan, results: Path) -> None:
    settings = config.datasets[plan.dataset].model_dump(mode="json", exclude={"label", "model", "client_fraction"})
    for ratio in plan.ratios:
        for draw in plan.draws:
            folder = results / "data" / plan.dataset / cells.data_label(ratio, draw)
            save(build(settings, cells.ratio_value(ratio), draw), folder, {**settings, "ratio": ratio, "draw": draw})


def _train(config: Config, plan: cells.Plan, results: Path) -> None:
    for ratio in plan.ratios:
        for method in plan.methods:
            place = f"{plan.name}/{ratio}/{method}"
            slice_ = cells.job(config, plan.name, ratio, method)
            train(
                Job(slice_, results / "data", results / "runs" / place, tuple(plan.runs), 32), lambda _: lambda *_: None
            )
            write_text(results / f"benchmarks/train/{place}.tsv", BENCHMARK)


def _gather(plan: cells.Plan, results: Path) -> None:
    out = results / "gathered" / f"{plan.name}.csv"
    gather(plan.as_json(), results / "runs" / plan.name, out, out.with_suffix(".curves.csv"))


def _make_input(config: Config, path: str, results: Path) -> None:
    """A file that some tables and figures read besides."""
    if path == SCORECARD:
        return _judge(config, results)
    experiment, kind, _ = Path(path).name.split(".")
    plan = cells.plan(config, experiment)
    if kind == "supports":
        return supports.gather(plan.as_json(), results / "runs" / experiment, results / path)
    made = []
    for ratio in plan.ratios:
        for draw in plan.draws:
            place = f"{plan.dataset}/{cells.data_label(ratio, draw)}"
            out = [results / "references" / place / f"{name}.json" for name in ("best_subset", "lasso")]
            references.make(results / "data" / place, out)
            made += out
    references.gather(made, results / path)


def _judge(config: Config, results: Path) -> None:
    tables = [product.name for product in planned_products(config) if product.kind == "table"]
    targets = targets_of(results)
    card = scorecard.scorecard(results, targets, context(config), judged_experiments(results, config), tables)
    for form in ("md", "json", "html"):
        scorecard.write(card, results / f"scorecard.{form}")
