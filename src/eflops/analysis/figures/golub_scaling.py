"""Which genes are found under each scaling of the leukaemia data."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.figure import Figure
from eflops.analysis.gene_shares import gene_shares
from eflops.analysis.source import Source
from eflops.analysis.supports import selected_features
from eflops.data.golub import genes

METRIC = "accuracy"
SCALINGS = {
    "golub_runs": "intensity",
    "golub_scaling_array": "intensity,\nper array",
    "golub_scaling_log_array": "log10,\nper array",
    "golub_scaling_log_gene": "log10,\nper gene",
}
METHODS = ("eflops", "fediht", "fedavg")
TOP = 5
LONGEST = 40


def make(source: Source) -> Figure:
    """A panel a method: genes by scaling, dark where many runs select the gene."""
    shares = scaling_shares(source)
    rows = leading_genes(shares)
    methods = [method for method in source.order(shares["method"]) if method in METHODS]
    height = 1.5 + 0.17 * len(rows)
    drawing, axes = plt.subplots(1, len(methods), figsize=(2.5 + 1.5 * len(methods), height), sharey=True)
    for place, method in zip(axes, methods, strict=True):
        _draw(place, shares[shares["method"] == method], rows, source.labels[method])
    axes[0].set_yticks(range(len(rows)), [_short(name) for name in rows["gene"]])
    drawing.suptitle("share of runs that select any probe of the gene, by scaling of the data", fontsize=8)
    kept = shares[shares["gene"].isin(rows["gene"]) & shares["method"].isin(methods)]
    return Figure(drawing, kept.reset_index(drop=True))


def scaling_shares(source: Source) -> pd.DataFrame:
    """One row an experiment, method and gene: the share of runs with any of its probes, and the method's accuracy."""
    names = genes()
    parts = []
    for experiment, scaling in SCALINGS.items():
        shares = gene_shares(selected_features(source, experiment, len(names)), names)
        shares = shares.drop_duplicates(["method", "gene"])[["method", "gene", "together", "n"]]
        accuracy = source.runs(experiment).groupby("method")[METRIC].mean().rename(METRIC)
        words = scaling.replace("\n", " ")
        parts.append(shares.join(accuracy, on="method").assign(experiment=experiment, scaling=words))
    columns = ["experiment", "method", "gene", "scaling", "together", "accuracy", "n"]
    return pd.concat(parts, ignore_index=True)[columns].rename(columns={"together": "frequency"})


def leading_genes(shares: pd.DataFrame) -> pd.DataFrame:
    """The genes that the first method selects most under any scaling, scaling by scaling: [gene]."""
    own = shares[shares["method"] == METHODS[0]]
    ranked = own.sort_values(["frequency", "gene"], ascending=[False, True])
    top = [ranked[ranked["experiment"] == experiment].head(TOP) for experiment in SCALINGS]
    return pd.concat(top)[["gene"]].drop_duplicates(ignore_index=True)


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs of a square, each with 1 where it selects any probe of the gene and 0 where not."""
    names = genes()
    features = set(names.index[names["label"] == keys["gene"]])
    runs = selected_features(source, keys["experiment"], len(names))
    runs = runs[runs["method"] == keys["method"]]
    return runs.assign(value=[float(not features.isdisjoint(row)) for row in runs["selected"]]).drop(columns="selected")


def _draw(axes: Axes, shares: pd.DataFrame, rows: pd.DataFrame, title: str) -> None:
    grid = shares.pivot(index="gene", columns="experiment", values="frequency")
    grid = grid.reindex(index=rows["gene"], columns=list(SCALINGS)).fillna(0.0)
    axes.imshow(grid, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for row, column in zip(*grid.to_numpy().nonzero(), strict=True):
        share = grid.iat[row, column]
        axes.text(column, row, f"{share:.2f}", ha="center", va="center", fontsize=6, color="w" if share > 0.6 else "k")
    accuracy = shares.groupby("experiment")["accuracy"].first()
    labels = [f"{words}\nacc. {accuracy.get(experiment, float('nan')):.2f}" for experiment, words in SCALINGS.items()]
    axes.set_xticks(range(len(SCALINGS)), labels, fontsize=6, rotation=90)
    axes.set_title(title)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
