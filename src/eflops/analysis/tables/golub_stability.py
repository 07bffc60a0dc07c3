"""How alike the genes are that a method selects from run to run, and from split to split."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from eflops.analysis.golub_experiments import OVER
from eflops.analysis.source import Source
from eflops.analysis.stability import mean_jaccard, nogueira, selection
from eflops.analysis.supports import selected_features
from eflops.analysis.table import Table
from eflops.data.golub import genes


def make(source: Source) -> Table:
    """A row a method, and for splits the references too, whose one fit a split is all there is."""
    features = len(genes())
    rows = [row for experiment in OVER for row in _rows(source, experiment, features)]
    references = source.references("golub_splits")
    for name, fits in references.groupby("reference", sort=False):
        kept = [[int(feature) for feature in text.split()] for text in fits["features"]]
        rows.append({"experiment": "golub_splits", "method": name, "diverged": 0, **measures(kept, features)})
    cells = pd.DataFrame(rows)
    labels = source.labels | dict(zip(references["reference"], references["label"], strict=True))
    return Table(
        cells,
        pd.DataFrame([_shown(row, labels) for _, row in cells.iterrows()]),
        "Stability of the selected genes",
        "Of the sets of genes that a method's runs select: their mean size, the mean Jaccard index of all pairs, and "
        "Nogueira's index with its 95 % interval (1: always the same genes; 0: as by chance). Runs that diverged are "
        "left out.",
    )


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs of a row, each with the number of genes that it selects."""
    runs = selected_features(source, keys["experiment"], len(genes()))
    runs = runs[(runs["method"] == keys["method"]) & (runs["status"] == "finished")]
    return runs.assign(value=runs["selected"].map(len)).drop(columns="selected")


def measures(sets: Iterable[list[int]], features: int) -> dict[str, float]:
    """All that a row says of some sets of features."""
    selected = selection(sets, features)
    chosen = [row.nonzero()[0].tolist() for row in selected]
    index = nogueira(selected)
    return {
        "n": len(chosen),
        "genes": float(selected.sum(axis=1).mean()),
        "different_genes": int(selected.any(axis=0).sum()),
        "jaccard": mean_jaccard(chosen),
        "nogueira": index.value,
        "low": index.low,
        "high": index.high,
    }


def _rows(source: Source, experiment: str, features: int) -> Iterable[dict[str, Any]]:
    runs = selected_features(source, experiment, features)
    for method in source.order(runs["method"]):
        own = runs[runs["method"] == method]
        finished = own[own["status"] == "finished"]
        diverged = len(own) - len(finished)
        yield {
            "experiment": experiment,
            "method": method,
            "diverged": diverged,
            **measures(finished["selected"], features),
        }


def _shown(row: pd.Series, labels: Mapping[str, str]) -> dict[str, str]:
    return {
        "Method": labels[row["method"]],
        "over": OVER[row["experiment"]],
        "n": f"{row['n']}" + (f" ({row['diverged']} diverged)" if row["diverged"] else ""),
        "genes a run": f"{row['genes']:.1f}",
        "different genes": f"{row['different_genes']}",
        "Jaccard": f"{row['jaccard']:.2f}",
        "Nogueira's index": f"{row['nogueira']:.2f} [{row['low']:.2f}, {row['high']:.2f}]",
    }
