"""Accuracy and bytes for every method and way to cut."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from eflops.analysis import costs
from eflops.analysis.cut_cases import CASES
from eflops.analysis.source import Source
from eflops.analysis.summary import spread, summarise_all
from eflops.analysis.table import Table

EXPERIMENTS = ("mnist_cut",)
METRICS = ["accuracy", "share_training", "bytes_total", "macs_removed"]


def make(source: Source) -> Table:
    """A row a way to cut; for each method its accuracy and its training bytes as a share of dense."""
    runs = costs.with_costs(source.runs("mnist_cut"))
    cells = summarise_all(runs, METRICS, ["variant", "method"])
    by_metric = {metric: part.set_index(["variant", "method"]) for metric, part in cells.groupby("metric")}
    methods = source.order(runs["method"])
    rows = []
    for variant, case in CASES.items():
        if variant not in set(runs["variant"]):
            continue
        row = {"Cut": case.words}
        for method in methods:
            accuracy = by_metric["accuracy"].loc[(variant, method), ["mean", "sd", "n", "diverged"]]
            share = by_metric["share_training"].loc[(variant, method), "mean"]
            row[source.labels[method]] = f"{spread(*accuracy)}, {share:.1%}"
        rows.append(row)
    return Table(
        cells,
        pd.DataFrame(rows),
        "When to cut: accuracy and communication on MNIST",
        f"Test accuracy, mean ± standard deviation over {cells['n'].max()} run seeds of one data draw, and the bytes "
        "of training as a share of dense messages.",
    )


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a cell."""
    return costs.trace(source, EXPERIMENTS, keys, keys["metric"])
