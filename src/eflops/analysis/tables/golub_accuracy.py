"""Accuracy, cross-entropy and AUC on the leukaemia data, over run seeds of one split and over splits."""

import pandas as pd

from eflops.analysis.golub_experiments import OVER, REFERENCED
from eflops.analysis.source import Source
from eflops.analysis.summary import best, bold, spread, summarise_all
from eflops.analysis.table import Table

METRICS = {"accuracy": "accuracy", "cross_entropy": "cross-entropy", "auc": "AUC"}
CELL = ["mean", "sd", "n", "diverged"]


def make(source: Source) -> Table:
    """A row an experiment and method, the references last; the best federated accuracy of an experiment in bold."""
    runs = pd.concat([source.runs(name) for name in OVER], ignore_index=True)
    references = pd.concat([source.references(name).assign(experiment=name) for name in REFERENCED], ignore_index=True)
    fits = references.rename(columns={"reference": "method"}).assign(status="finished")
    both = [summarise_all(frame, list(METRICS), ["experiment", "method"]) for frame in (runs, fits)]
    cells = pd.concat(both, ignore_index=True)
    labels = source.labels | dict(zip(references["reference"], references["label"], strict=True))
    rows = [row for name in OVER for row in _rows(cells[cells["experiment"] == name], OVER[name], labels, source)]
    return Table(
        cells,
        pd.DataFrame(rows),
        "Classification of leukaemia samples",
        "Mean ± standard deviation over n runs: run seeds of one split, or splits with one run seed each. With 15 test "
        "samples a split, one sample is 0.067. The best federated accuracy is bold. Best subset and L1 logistic "
        "regression are fitted to the pooled training samples, once a split.",
    )


def _rows(cells: pd.DataFrame, over: str, labels: dict[str, str], source: Source) -> list[dict[str, str]]:
    table = cells.set_index(["metric", "method"])
    methods = list(labels.keys() & set(cells["method"]))
    accuracy = table.loc["accuracy"]
    federated = [name for name in source.order(cells["method"]) if name not in source.context["pooled"]]
    first = best(accuracy.loc[federated])
    rows = []
    for name in sorted(methods, key=list(labels).index):
        texts = {words: spread(*table.loc[(metric, name), CELL]) for metric, words in METRICS.items()}
        texts["accuracy"] = bold(texts["accuracy"], name in first)
        rows.append({"Method": labels[name], "over": over, "n": f"{accuracy.loc[name, 'n']:.0f}", **texts})
    return rows
