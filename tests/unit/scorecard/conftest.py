"""A study made up so that every verdict is known beforehand.

`paper_like` has runs whose means, orders and shares are the paper's own; each test spoils them in one way.
"""

import math
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eflops.analysis.paper import Paper, read_paper
from eflops.analysis.scorecard.build import Scorecard, build, judge_claim
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.source import Source

TARGETS = Path(__file__).parents[3] / "resources" / "paper" / "targets.yaml"
SEEDS = np.arange(30)
# Thirty values with mean 0 and standard deviation 1, and the same in another order.
UNIT = (SEEDS - SEEDS.mean()) / SEEDS.std(ddof=1)
SHUFFLED = UNIT[(SEEDS * 7) % 30]
RATES = {"rates_theta": ("set_rate", [0.05, 0.25, 0.5]), "rates_phi": ("set_gate_rate", [0.1, 0.5, 0.9])}
SIZES = {"synthetic": (1000, 50), "golub": (7142, 7), "mnist": (44426, 1110)}


@dataclass
class Study:
    """A results folder in memory: gathered runs and curves by experiment, and tables, judged in `folder`."""

    folder: Path

    runs: dict[str, pd.DataFrame] = field(default_factory=dict)
    curves: dict[str, pd.DataFrame] = field(default_factory=dict)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)

    def change(self, experiment: str, column: str | list[str], value: object, **where: object) -> None:
        """Set a column of the runs that have the given identity; a callable changes what is there."""
        runs = self.runs[experiment]
        chosen = np.all([runs[key] == wanted for key, wanted in where.items()], axis=0)
        runs.loc[chosen, column] = value(runs.loc[chosen, column]) if callable(value) else value

    def evidence(self) -> Evidence:
        """What the judges read, written to files first."""
        folder = self.folder
        for part, frames in (("gathered", self.runs), ("tables", self.tables)):
            (folder / part).mkdir(parents=True, exist_ok=True)
            for name, frame in frames.items():
                frame.to_csv(folder / part / f"{name}.csv", index=False)
        for name, frame in self.curves.items():
            frame.to_csv(folder / "gathered" / f"{name}.curves.csv", index=False)
        source = Source(folder, {"labels": {"eflops": "E-FLoPS"}})
        return Evidence(source, frozenset(self.runs), frozenset(self.tables), read_paper(TARGETS))

    def card(self) -> Scorecard:
        """The scorecard of this study."""
        return build(self.evidence())

    def claim(self, name: str) -> str:
        """The verdict of one claim."""
        return str(judge_claim(name, self.evidence()).verdict)

    def verdicts(self) -> dict[str, str]:
        """The verdict of every line."""
        return {line.id: str(line.judgement.verdict) for line in self.card().lines}


def cell(
    experiment: str, dataset: str, method: str, ratio: float | None = None, n: int = 30, **columns
) -> pd.DataFrame:
    """Runs of one cell, `columns` their metrics."""
    parameters, kept = SIZES[dataset]
    runs = pd.DataFrame(
        {"experiment": experiment, "dataset": dataset, "ratio": ratio, "method": method}, index=range(n)
    )
    runs = runs.assign(variant="base", draw=0, seed=range(n), status="finished", parameters=parameters, kept=kept)
    runs["record"] = [f"nd{ratio}/{method}/draw0-seed{seed}.json" for seed in range(n)]
    return runs.assign(**columns)


def synthetic(paper: Paper) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 1 with the paper's means and spreads, and R2 in the claimed order, with a short curve."""
    level = {"eflops": 0.7, "fediht": 0.5, "fedavg": 0.6, "centralized": 0.8}
    cells = [
        cell(
            "support_recovery",
            "synthetic",
            method,
            ratio,
            support_recovery=printed.value + printed.sd * UNIT * (1 if method == "eflops" else -1) * 0.3,
            r2=level[method] + 0.01 * (UNIT if method == "eflops" else SHUFFLED),
        )
        for ratio, row in paper.recovery.items()
        for method, printed in row.items()
    ]
    runs = pd.concat(cells, ignore_index=True)
    points = [("training", 1, 0.1), ("training", 2, 0.9), ("tuning", 3, 1.0)]
    curves = [
        pd.DataFrame({"record": runs["record"], "phase": phase, "round": turn, "r2": share * runs["r2"]})
        for phase, turn, share in points
    ]
    return runs, pd.concat(curves, ignore_index=True)


def golub(experiment: str) -> pd.DataFrame:
    """Accuracies whose paired t is the paper's 3.79 against Fed-IHT."""
    base = 0.9 + 0.01 * UNIT
    gain = 0.02 * SHUFFLED + 3.79 * 0.02 / math.sqrt(30)
    values = {"eflops": base + gain, "fediht": base, "fedavg": base - 0.05 * (SEEDS > 5), "centralized": base}
    return pd.concat([cell(experiment, "golub", name, accuracy=value) for name, value in values.items()])


def mnist() -> pd.DataFrame:
    """Similar accuracies, E-FLoPS with twice the bytes of Fed-IHT and fewer operations."""
    bytes_ = {"eflops": 60, "fediht": 30, "fedavg": 1000}
    share = {"eflops": 0.1, "fediht": 0.2, "fedavg": 0.3}
    return pd.concat(
        cell(
            "mnist",
            "mnist",
            method,
            accuracy=0.89 + 0.01 * UNIT,
            macs=1000 * share[method] + 10 * (UNIT if method == "eflops" else SHUFFLED),
            dense_macs=1000,
            last_round_training=sent,
            **{f"{way}_{phase}": sent for way, phase in product(("down", "up"), ("training", "tuning"))},
        )
        for method, sent in bytes_.items()
    )


def scan(experiment: str) -> pd.DataFrame:
    """Level R2 over the rates of a scan."""
    varied, rates = RATES[experiment]
    fixed = {"set_rate": 0.25, "set_gate_rate": 0.85}
    settings = [{**fixed, varied: rate} for rate in rates]
    cells = [cell(experiment, "synthetic", "eflops", 0.64, 10, r2=0.6, **setting) for setting in settings]
    return pd.concat([frame.assign(variant=str(rate)) for frame, rate in zip(cells, rates, strict=True)])


def gene_table(paper: Paper) -> pd.DataFrame:
    """Table 2 with the paper's shares."""
    rows = []
    for method, column in paper.genes.items():
        for gene, printed in column.items():
            name = paper.gene_aliases.get(gene, gene).removesuffix(" (second probe)")
            rows.append({"method": method, "gene": name, "probe": f"{gene}_at", "frequency": printed.value, "n": 30})
    return pd.DataFrame(rows)


@pytest.fixture
def targets() -> Path:
    return TARGETS


@pytest.fixture(scope="session")
def paper() -> Paper:
    return read_paper(TARGETS)


@pytest.fixture
def nothing_run(tmp_path: Path) -> Study:
    return Study(tmp_path)


@pytest.fixture
def paper_like(paper: Paper, tmp_path: Path) -> Study:
    runs, curves = synthetic(paper)
    study = Study(
        tmp_path, {"support_recovery": runs}, {"support_recovery": curves}, {"gene_frequency": gene_table(paper)}
    )
    draws = [runs.assign(draw=draw, support_recovery=runs["support_recovery"] + 0.05 * draw) for draw in (1, 2, 3)]
    study.runs["draws"] = pd.concat(draws)
    study.runs |= {name: scan(name) for name in RATES} | {name: golub(name) for name in ("golub_runs", "golub_splits")}
    study.runs["mnist"] = mnist()
    return study
