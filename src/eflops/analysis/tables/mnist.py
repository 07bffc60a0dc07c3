"""Accuracy, communication and operations on MNIST."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from eflops.analysis import costs
from eflops.analysis.source import Source
from eflops.analysis.summary import best, bold, spread, summarise_all
from eflops.analysis.table import Table

EXPERIMENTS = ("mnist",)
METRICS = [
    "accuracy",
    "cross_entropy",
    "kept",
    "bytes_training",
    "bytes_tuning",
    "share_training",
    "share_formula",
    "share_round",
    "macs",
    "macs_removed",
]
BYTES = {"share_round": "a round after the cut", "share_training": "all of training", "share_formula": "by the formula"}


def make(source: Source) -> Table:
    """A row a method; the best federated accuracy and the most operations removed by a federated method are bold."""
    runs = costs.with_costs(source.runs("mnist"))
    cells = summarise_all(runs, METRICS, ["method"])
    methods = source.order(runs["method"])
    table = {metric: cells[cells["metric"] == metric].set_index("method").loc[methods] for metric in METRICS}
    federated = [method for method in methods if method not in source.context["pooled"]]
    first = {metric: best(table[metric].loc[federated]) for metric in ("accuracy", "macs_removed")}
    shown = pd.DataFrame({"Method": [source.labels[method] for method in methods]})
    shown["accuracy"] = _column(table["accuracy"], first["accuracy"])
    shown["cross-entropy"] = _column(table["cross_entropy"], [])
    shown["weights kept"] = [f"{mean:.0f}" for mean in table["kept"]["mean"]]
    for metric, words in BYTES.items():
        shown[f"bytes, {words}"] = [
            f"{mean:.1%}" if method in federated else "-" for method, mean in table[metric]["mean"].items()
        ]
    shown["megabytes sent"] = [
        f"{sent:.1f}" if method in federated else "-"
        for method, sent in ((table["bytes_training"] + table["bytes_tuning"])["mean"] / 1e6).items()
    ]
    shown["operations"] = [f"{mean:.0f}" for mean in table["macs"]["mean"]]
    shown["removed"] = _column(table["macs_removed"], first["macs_removed"])
    return Table(cells, shown, "The CNN on MNIST", _note(cells))


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a cell."""
    return costs.trace(source, EXPERIMENTS, keys, keys["metric"])


def _column(cells: pd.DataFrame, first: list[object]) -> list[str]:
    texts = {name: spread(*cells.loc[name, ["mean", "sd", "n", "diverged"]]) for name in cells.index}
    return [bold(text, name in first) for name, text in texts.items()]


def _note(cells: pd.DataFrame) -> str:
    return (
        f"Mean ± standard deviation over {cells['n'].max()} run seeds of one data draw. Bytes are those of the "
        "messages as serialised, both ways, as a share of as many dense messages; the paper's formula has no indices. "
        "Megabytes are of training and tuning. Operations are multiply-accumulates of one prediction without dead "
        "units, and the share of the dense network's that is removed. The best federated method is bold."
    )
