"""Lines of the scorecard: their recomputed verdicts, and the runs that each verdict read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from eflops import trust
from eflops.analysis.needs import compared_experiments, targets_of
from eflops.analysis.paper import read_paper
from eflops.analysis.scorecard import claims
from eflops.analysis.scorecard.card import LineJson
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.sections import OF_CLAIMS, section_of
from eflops.analysis.source import Source
from eflops.config.models import Config
from eflops.config.products import shown_methods
from eflops.provenance.explain.address import same_value
from eflops.results.paths import GATHERED


@dataclass(frozen=True)
class Read:
    """One access of a verdict: the runs of an experiment, of some methods, in a metric."""

    experiment: str
    methods: tuple[str, ...] = ()
    metric: str = ""


@dataclass(frozen=True)
class Reading(Evidence):
    """Evidence that records what a check reads."""

    reads: list[Read] = field(default_factory=list)

    def runs(
        self, experiment: str, methods: Sequence[str], metric: str, draws: int = 2, seeds: int = 1
    ) -> pd.DataFrame:
        self.reads.append(Read(experiment, tuple(methods), metric))
        return super().runs(experiment, methods, metric, draws, seeds)

    def curves(self, experiment: str) -> pd.DataFrame:
        self.reads.append(Read(experiment))
        return super().curves(experiment)


def scorecard_experiments(folder: Path, config: Config) -> list[str]:
    """The experiments that the scorecard of a folder reads."""
    return compared_experiments(targets_of(folder), config)


def line_verdict(source: Source, config: Config, name: str) -> tuple[str, list[Read]]:
    """The verdict on a line by the present code, and what it read."""
    section = section_of(name)
    evidence = evidence_of(source, config)
    if section.name in OF_CLAIMS:
        return str(claims.judge_claim(name.removeprefix(f"{section.prefix}/"), evidence).verdict), evidence.reads
    line = next(line for line in trust.load("section", section.lines)(evidence) if line.id == name)
    return str(line.judgement.verdict), reads_of(source, config, name)


def reads_of(source: Source, config: Config, name: str) -> list[Read]:
    """What the verdict on a line reads; found by evaluating its claim."""
    section = section_of(name)
    if section.name in OF_CLAIMS:
        return line_verdict(source, config, name)[1]
    return [Read(section.experiments[0], (), section.metric)]


def runs_behind(source: Source, line: LineJson, reads: Sequence[Read]) -> pd.DataFrame:
    """The gathered runs that a line's verdict uses, with the contribution of each if it is one number."""
    frames = [pd.DataFrame(columns=["experiment", "record"])]
    for read in dict.fromkeys(reads):
        if not source.has(GATHERED.format(experiment=read.experiment)):
            continue
        runs = source.runs(read.experiment)
        runs = runs[runs["method"].isin(read.methods)] if read.methods else runs
        if line["section"] not in OF_CLAIMS:
            runs = runs[runs["method"].isin(line["column"].split(" - "))]
            at_ratio = runs["ratio"].map(lambda ratio: same_value(ratio, line["row"]))
            runs = runs[at_ratio] if at_ratio.any() else runs
        frames.append(runs.assign(value=runs[read.metric]) if read.metric in runs else runs)
    return pd.concat(frames, ignore_index=True).drop_duplicates(["experiment", "record"], ignore_index=True)


def evidence_of(source: Source, config: Config) -> Reading:
    """The evidence of the scorecard: the experiments that it needs and the config defines."""
    experiments = scorecard_experiments(source.results, config)
    # The workflow's scorecard knows the methods of these experiments only; it calls the others by their names.
    known = replace(source, labels=shown_methods(config, experiments)["labels"])
    return Reading(known, frozenset(experiments), read_paper(targets_of(source.results)))
