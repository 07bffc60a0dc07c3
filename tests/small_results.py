"""A small study made for real, in one process: data, runs, gathered files, tables, figures, scorecard."""

from pathlib import Path
from typing import Any

from eflops.analysis import products, references
from eflops.analysis.gather import write as write_gathered
from eflops.analysis.needs import summary_sources, summary_trials, targets_of
from eflops.analysis.scorecard import make as scorecard
from eflops.analysis.summary.write import write as write_summary
from eflops.config import study
from eflops.config.load import check
from eflops.config.models import Config
from eflops.config.plan import Plan, all_plans, cell_specs, plan_of
from eflops.config.products import product_job, shown_methods
from eflops.config.products import products as planned_products
from eflops.data.build import build, write_features
from eflops.data.federation import save
from eflops.data.job import job_of
from eflops.files import write_text
from eflops.provenance.explain.verdicts import scorecard_experiments
from eflops.results import labels, record
from eflops.results.paths import SCORECARD
from eflops.training.train import train

SETTINGS = {"rounds": 6, "finetune_rounds": 2}
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
    make_runs(results, config)
    for plan in all_plans(config):
        gather(plan, results)
    # What is drawn from the scorecard comes after all tables, which the scorecard reads.
    for product in sorted(planned_products(config), key=lambda product: SCORECARD in product.inputs):
        for path in product.inputs:
            _make_input(config, path, results)
        products.make(product_job(config, product), results, [results / path for path in product.files])
    known = planned_products(config)
    write_summary(
        results,
        frozenset(summary_sources(known)),
        summary_trials(known),
        [results / f"summary.{form}" for form in ("json", "md", "rst")],
    )
    study.write(raw, results / study.STUDY)


def make_runs(results: Path, config: Config) -> None:
    """The data and the records of all experiments and searches."""
    for plan in all_plans(config):
        _make_data(config, plan, results)
        train_plan(config, plan, results)


def _make_data(config: Config, plan: Plan, results: Path) -> None:
    settings = config.datasets[plan.dataset].model_dump(mode="json", exclude={"label", "model", "client_fraction"})
    for ratio in plan.ratios:
        for draw in plan.draws:
            folder = results / "data" / plan.dataset / labels.data_label(ratio, draw)
            save(build(settings, labels.ratio_value(ratio), draw), folder, {**settings, "ratio": ratio, "draw": draw})


def train_plan(config: Config, plan: Plan, results: Path) -> None:
    """The records of one experiment or search."""
    for spec in cell_specs(config, plan.name):
        train(job_of(spec, results, 32), lambda _: lambda *_: None)
        write_text(results / f"benchmarks/train/{spec.folder}.tsv", BENCHMARK)


def gather(plan: Plan, results: Path) -> None:
    """The gathered files of one experiment or search."""
    entries = [(path, record.read(results / "runs" / plan.name / path)) for path in plan.record_paths]
    write_gathered(entries, *(results / "gathered" / f"{plan.name}{part}.csv" for part in ("", ".curves", ".supports")))


def _make_input(config: Config, path: str, results: Path) -> None:
    """A file that some tables and figures read besides."""
    if path == SCORECARD:
        return _judge(config, results)
    if Path(path).name == "genes.csv":
        settings = config.datasets[Path(path).parent.name].model_dump(mode="json")
        return write_features(settings, results / path)
    if not path.startswith("gathered/"):
        return None  # a manifest, made with its data
    experiment, kind, _ = Path(path).name.split(".")
    plan = plan_of(config, experiment)
    if kind == "supports":
        return None
    folders = [f"{plan.dataset}/{labels.data_label(ratio, draw)}" for ratio in plan.ratios for draw in plan.draws]
    return references.make((results / "data" / folder for folder in folders), results / path)


def _judge(config: Config, results: Path) -> None:
    experiments = scorecard_experiments(results, config)
    labels = shown_methods(config, experiments)["labels"]
    card = scorecard.scorecard(results, targets_of(results), labels, experiments)
    for form in ("md", "json"):
        scorecard.write(card, results / f"scorecard.{form}")
