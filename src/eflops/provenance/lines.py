"""Lines of the scorecard: judged anew, and the runs that each verdict read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from eflops.analysis.catalogue import products
from eflops.analysis.claims import module_of
from eflops.analysis.paper import read_paper
from eflops.analysis.scorecard.build import CLAIMS, Scorecard, build
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.needs import needs
from eflops.analysis.source import Source
from eflops.config.models import Config
from eflops.errors import UserError
from eflops.files import read_json
from eflops.provenance.address import same

NAME = "scorecard.json"
TARGETS = "targets.yaml"
RESOURCE = Path("resources/paper") / TARGETS
# The sections of numbers, by the first part of a line's id.
METRICS = {"table1": ("support_recovery",), "table2": (), "golub-test": ("accuracy",)}
EXPERIMENTS = {"table1": ("support_recovery",), "table2": ("golub_runs",), "golub-test": ("golub_runs",)}


@dataclass(frozen=True)
class Read:
    """What a verdict asked for: the runs of an experiment, of some methods, in a metric."""

    experiment: str
    methods: tuple[str, ...] = ()
    metric: str = ""


@dataclass(frozen=True)
class Reading(Evidence):
    """Evidence that remembers what was asked of it."""

    reads: list[Read] = field(default_factory=list)

    def runs(self, experiment: str, methods: Sequence[str], metric: str, least: int | None = None) -> pd.DataFrame:
        self.reads.append(Read(experiment, tuple(methods), metric))
        return super().runs(experiment, methods, metric, least)

    def curves(self, experiment: str) -> pd.DataFrame:
        self.reads.append(Read(experiment))
        return super().curves(experiment)


def stored_line(folder: Path, name: str) -> dict[str, Any]:
    """A line of a results folder's scorecard, by its id."""
    try:
        lines = {line["id"]: line for line in read_json(folder / NAME)["lines"]}
    except FileNotFoundError:
        raise UserError(f"{folder / NAME}: there is no scorecard; make it with: snakemake scorecard") from None
    if name not in lines:
        raise UserError(f"{NAME}: there is no line '{name}'; there are {', '.join(lines)}.")
    return dict(lines[name])


def targets_of(folder: Path) -> Path:
    """The paper's numbers: those published with the results, or the project's."""
    return folder / TARGETS if (folder / TARGETS).exists() else RESOURCE


def judged_experiments(folder: Path, config: Config) -> list[str]:
    """The experiments that the scorecard reads and the config has."""
    return [name for name in needs(targets_of(folder), "EXPERIMENTS") if name in config.experiments]


def judged(source: Source, config: Config) -> Scorecard:
    """The whole scorecard as the present code makes it."""
    return build(_evidence(source, config))


def judged_line(source: Source, config: Config, name: str) -> tuple[str, list[Read]]:
    """The verdict on a line as the present code gives it, and what it read."""
    evidence = _evidence(source, config)
    section, _, claim = name.partition("/")
    if section != "claim":
        line = next(line for line in build(evidence).lines if line.id == name)
        reads = [Read(experiment, (), "".join(METRICS[section])) for experiment in EXPERIMENTS[section]]
        return str(line.judgement.verdict), reads
    try:
        return str(import_module(module_of(claim)).judge(evidence).verdict), evidence.reads
    except UserError:
        return "not judged", evidence.reads


def runs_behind(source: Source, line: dict[str, Any], reads: Sequence[Read]) -> pd.DataFrame:
    """The gathered runs that a line's verdict rests on, with what each contributes where it is one number."""
    frames = [pd.DataFrame(columns=["experiment", "record"])]
    for read in dict.fromkeys(reads):
        if not (source.results / "gathered" / f"{read.experiment}.csv").exists():
            continue
        runs = source.runs(read.experiment)
        runs = runs[runs["method"].isin(read.methods)] if read.methods else runs
        if line["section"] != CLAIMS:
            runs = runs[runs["method"].isin(line["column"].split(" - "))]
            at_ratio = runs["ratio"].map(lambda ratio: same(ratio, line["row"]))
            runs = runs[at_ratio] if at_ratio.any() else runs
        frames.append(runs.assign(value=runs[read.metric]) if read.metric in runs else runs)
    return pd.concat(frames, ignore_index=True).drop_duplicates(["experiment", "record"], ignore_index=True)


def _evidence(source: Source, config: Config) -> Reading:
    """What the workflow gives the scorecard: the experiments and tables that it needs and the config has."""
    targets = targets_of(source.results)
    tables = {product.name for product in products(config) if product.kind == "table"}
    return Reading(
        source,
        frozenset(judged_experiments(source.results, config)),
        frozenset(needs(targets, "TABLES")) & tables,
        read_paper(targets),
    )
