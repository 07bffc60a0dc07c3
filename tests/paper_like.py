"""A study made up so that every verdict is known beforehand.

`paper_like` has runs whose means, spreads, orders and shares are the paper's own; each test spoils them in one way.
"""

import math
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from eflops.analysis.paper import Paper, read_paper
from eflops.analysis.scorecard import claims
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.line import Line
from eflops.analysis.scorecard.make import Scorecard, build
from eflops.analysis.scorecard.table2 import our_name
from eflops.analysis.source import Source
from golub_genes import golub_probes

TARGETS = Path(__file__).parents[1] / "resources" / "paper" / "targets.yaml"
RATES = {"rates_theta": ("set_rate", [0.05, 0.25, 0.5]), "rates_phi": ("set_gate_rate", [0.1, 0.5, 0.9])}
SIZES = {"synthetic": (1000, 50), "golub": (7142, 7), "mnist": (44426, 1110)}
LABELS = {"eflops": "E-FLoPS", "fediht": "Fed-IHT", "fediterht": "FedIter-HT", "fedavg": "FedAvg"}


def line_of(card: Scorecard, name: str) -> Line:
    """The line with this id."""
    return next(line for line in card.lines if line.id == name)


def unit(n: int, step: int = 1) -> np.ndarray:
    """As many values with mean 0 and standard deviation 1, in an order of their own for each step."""
    values = np.arange(n) - (n - 1) / 2
    return (values / values.std(ddof=1))[(np.arange(n) * step) % n]


@dataclass
class Study:
    """A results folder in memory: gathered runs, curves and supports by experiment, judged in `folder`."""

    folder: Path

    runs: dict[str, pd.DataFrame] = field(default_factory=dict)
    curves: dict[str, pd.DataFrame] = field(default_factory=dict)
    supports: dict[str, pd.DataFrame] = field(default_factory=dict)

    def change(self, experiment: str, column: str | list[str], value: object, **where: object) -> None:
        """Set a column of the runs that have the given identity; a callable changes what is there."""
        runs = self.runs[experiment]
        chosen = np.all([runs[key] == wanted for key, wanted in where.items()], axis=0)
        runs.loc[chosen, column] = value(runs.loc[chosen, column]) if callable(value) else value

    def diverge(self, experiment: str, metrics: list[str], **where: object) -> None:
        """Make runs diverge."""
        self.change(experiment, "status", "diverged", **where)
        self.change(experiment, metrics, np.nan, **where)

    def evidence(self) -> Evidence:
        """What the judges read, written to files first."""
        (self.folder / "gathered").mkdir(parents=True, exist_ok=True)
        for suffix, frames in (("", self.runs), (".curves", self.curves), (".supports", self.supports)):
            for name, frame in frames.items():
                frame.to_csv(self.folder / "gathered" / f"{name}{suffix}.csv", index=False)
        path = self.folder / "data/golub/genes.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        golub_probes().rename(columns={"probe": "gene"}).to_csv(path, index=False)
        return Evidence(Source(self.folder, LABELS), frozenset(self.runs), read_paper(TARGETS))

    def card(self) -> Scorecard:
        """The scorecard of this study."""
        return build(self.evidence())

    def claim(self, name: str) -> str:
        """The verdict of one claim."""
        return str(claims.judge_claim(name, self.evidence()).verdict)

    def reason(self, name: str) -> str:
        """Why a claim has its verdict."""
        return claims.judge_claim(name, self.evidence()).reason

    def verdicts(self) -> dict[str, str]:
        """The verdict of every line."""
        return {line.id: str(line.judgement.verdict) for line in self.card().lines}


def cell(
    experiment: str, dataset: str, method: str, draws: int, seeds: int, ratio: float | None = None, **columns
) -> pd.DataFrame:
    """Runs of one cell, `columns` their metrics: a number, or an array [draws, seeds]."""
    parameters, kept = SIZES[dataset]
    runs = pd.DataFrame(list(product(range(draws), range(seeds))), columns=["draw", "seed"])
    runs = runs.assign(experiment=experiment, dataset=dataset, ratio=ratio, method=method, variant="base")
    runs = runs.assign(status="finished", parameters=parameters, kept=kept)
    runs["record"] = [f"nd{ratio}/{method}/draw{draw}-seed{seed}.json" for draw, seed in runs[["draw", "seed"]].values]
    return runs.assign(**{name: np.broadcast_to(value, (draws, seeds)).ravel() for name, value in columns.items()})


# Messages and operations of a run; only their ratios between methods count.
COSTS = {f"{name}_{phase}": 1_000 for name in ("down", "up", "last_round") for phase in ("training", "finetuning")}
COSTS |= {"messages_training": 50, "messages_finetuning": 5, "paper_training": 50_000, "set_rounds": 200}
COSTS |= {"macs": 50, "dense_macs": 1_000}


def both_names(cells: list[pd.DataFrame]) -> pd.DataFrame:
    """The cells, and those of Fed-IHT once more as FedIter-HT."""
    runs = pd.concat(cells, ignore_index=True)
    again = runs[runs["method"] == "fediht"].assign(method="fediterht")
    again["record"] = again["record"].str.replace("fediht", "fediterht")
    return pd.concat([runs, again], ignore_index=True)


def synthetic(paper: Paper, draws: int = 12, seeds: int = 3) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 1 with the paper's means and spreads, and R2 in the claimed order, with a short curve."""
    level = {"eflops": 0.7, "fediht": 0.5, "fedavg": 0.6, "centralized": 0.8}
    steps = {"eflops": 1, "fediht": 5, "fedavg": 7, "centralized": 11}
    within = unit(seeds)[None, :] if seeds > 1 else np.zeros((1, 1))
    cells = [
        cell(
            "support_recovery",
            "synthetic",
            method,
            draws,
            seeds,
            ratio,
            support_recovery=printed.value + 0.01 * unit(draws, steps[method])[:, None] + printed.sd * within,
            r2=level[method] + 0.01 * unit(draws, steps[method])[:, None],
            open_gates=60 + unit(draws)[:, None],
            **COSTS | {"down_training": (2 if method == "eflops" else 1) * 100_000},
        )
        for ratio, row in paper.recovery.items()
        for method, printed in row.items()
    ]
    runs = both_names(cells)
    points = [("training", 0, 0.0), ("training", 50, 0.5), ("training", 200, 0.9), ("finetuning", 220, 1.0)]
    curves = [
        pd.DataFrame({"record": runs["record"], "phase": phase, "round": turn, "r2": share * runs["r2"]})
        for phase, turn, share in points
    ]
    return runs, pd.concat(curves, ignore_index=True)


def sparse(dense: pd.DataFrame) -> pd.DataFrame:
    """The regime of sparse messages: E-FLoPS as in Table 1, Fed-IHT clearly below it, at a tenth of the bytes."""
    runs = dense[dense["method"].isin(["eflops", "fediht", "fediterht"]) & (dense["seed"] == 0)].copy()
    ours = dense[dense["method"] == "eflops"].groupby(["ratio", "draw"])[["support_recovery", "r2"]].mean()
    at = pd.MultiIndex.from_frame(runs[["ratio", "draw"]])
    for metric in ("support_recovery", "r2"):
        below = np.where(runs["method"] == "eflops", 0.0, 0.1 + 0.005 * np.cos(runs["draw"]))
        runs[metric] = ours[metric].reindex(at).to_numpy() - below
    return runs.assign(experiment="sparse_both", down_training=10_000)


def golub(experiment: str, splits: int, seeds: int) -> pd.DataFrame:
    """Accuracies whose paired t over 30 seeds of a split is the paper's 3.79 against Fed-IHT."""
    base = 0.8 + 0.01 * unit(seeds)[None, :]
    gain = 0.02 * unit(seeds, 7)[None, :] + 3.79 * 0.02 / math.sqrt(30)
    # The same splits are hard for every method, and the gain differs a little from one to the next.
    if splits > 1:
        base = base + 0.05 * unit(splits)[:, None]
        gain = gain + 0.002 * unit(splits, 7)[:, None]
    values = {"eflops": base + gain, "fediht": base, "fedavg": base - 0.02 - 0.01 * (unit(seeds, 3) > 0)}
    values["centralized"] = base
    cells = [
        cell(experiment, "golub", name, splits, seeds, accuracy=value, auc=value + 0.05, open_gates=20 + gain)
        for name, value in values.items()
    ]
    return both_names(cells)


def golub_supports(runs: pd.DataFrame, paper: Paper) -> pd.DataFrame:
    """Which genes each run keeps, with the paper's shares at every split, to a tenth."""
    names = golub_probes()
    rows = []
    for method, seed, record in runs[["method", "seed", "record"]].itertuples(index=False):
        column = paper.genes.get(method, {})
        kept = [gene for rank, gene in enumerate(column) if (seed + rank) % 10 < round(10 * column[gene].value)]
        rows.append((record, " ".join(str(_feature(gene, names, paper)) for gene in kept), ""))
    return pd.DataFrame(rows, columns=["record", "support", "weights"])


def _feature(gene: str, names: pd.DataFrame, paper: Paper) -> int:
    name = our_name(gene, paper.gene_aliases)
    probes = names.index[names["label"] == name.removesuffix(" (second probe)")]
    return int(probes[1] if name.endswith("(second probe)") else probes[0])


def mnist() -> pd.DataFrame:
    """Similar accuracies, E-FLoPS with twice the bytes of Fed-IHT and fewer operations."""
    bytes_ = {"eflops": 60, "fediht": 30, "fedavg": 1000}
    share = {"eflops": 0.1, "fediht": 0.2, "fedavg": 0.3}
    steps = {"eflops": 1, "fediht": 5, "fedavg": 1}
    cells = [
        cell(
            "mnist",
            "mnist",
            method,
            6,
            2,
            accuracy=0.89 + 0.003 * unit(6, steps[method])[:, None],
            macs=1000 * share[method] + 10 * unit(6, steps[method])[:, None],
            dense_macs=1000,
            open_gates=1500,
            last_round_training=sent,
            **{f"{way}_{phase}": sent for way, phase in product(("down", "up"), ("training", "finetuning"))},
        )
        for method, sent in bytes_.items()
    ]
    return both_names(cells)


def scan(experiment: str) -> pd.DataFrame:
    """Level R2 over the rates of a scan."""
    varied, rates = RATES[experiment]
    fixed = {"set_rate": 0.25, "set_gate_rate": 0.85}
    cells = [
        cell(experiment, "synthetic", "eflops", 4, 2, 0.64, r2=0.6, **(fixed | {varied: rate})).assign(
            variant=str(rate)
        )
        for rate in rates
    ]
    return pd.concat(cells, ignore_index=True)
