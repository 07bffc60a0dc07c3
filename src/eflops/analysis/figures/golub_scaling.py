"""Which genes are found under each scaling of the leukaemia data."""

from collections.abc import Mapping

import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from eflops.analysis.figure import Figure, canvas, say
from eflops.analysis.source import Source
from eflops.analysis.stats.genes import gene_shares, selected_features, selections
from eflops.analysis.stats.summary import with_metric
from eflops.analysis.text import shortened
from eflops.data.golub import genes

METRIC = "accuracy"
TOP = 5
LONGEST = 40


def make(source: Source, scalings: Mapping[str, str]) -> Figure:
    """One panel per method: genes by scaling, dark where many runs select the gene.

    scalings: what each experiment's scaling is called; shown are the methods that all of them ran.
    """
    names = genes()
    selected = {name: selected_features(source, name, len(names)) for name in scalings}
    shares = pd.concat(
        [_shares(source, name, selected[name], names, words) for name, words in scalings.items()], ignore_index=True
    )
    ran = [set(source.runs(name)["method"]) for name in scalings]
    methods = source.from_reference(set.intersection(*ran))
    rows = leading_genes(shares[shares["method"] == methods[0]], scalings) if methods else shares[["gene"]].head(0)
    data = shares[shares["gene"].isin(rows["gene"]) & shares["method"].isin(methods)].reset_index(drop=True)

    def paint() -> Drawing:
        if data.empty:
            drawing, axes = canvas()
            say(axes, "no method that ran under every scaling selects a gene")
            return drawing
        size = (2.5 + 1.5 * len(methods), 1.5 + 0.17 * len(rows))
        drawing, axes = canvas(1, len(methods), size=size, sharey=True, squeeze=False)
        for place, method in zip(axes.flat, source.order(methods), strict=True):
            _draw(place, data[data["method"] == method], rows, scalings)
            place.set_title(source.labels[method])
        axes[0, 0].set_yticks([0.5 + place for place in range(len(rows))])
        axes[0, 0].set_yticklabels([shortened(name, LONGEST) for name in rows["gene"]])
        drawing.suptitle("share of runs that select any probe of the gene, by scaling of the data", fontsize=8)
        return drawing

    picked = [selections(runs, names["label"].rename("gene")) for runs in selected.values()]
    return Figure(data, pd.concat(picked, ignore_index=True), paint, "value")


def _shares(source: Source, name: str, selected: pd.DataFrame, genes: pd.DataFrame, words: str) -> pd.DataFrame:
    """One row per method and gene: the share of runs with any of its probes, and the method's accuracy."""
    shares = gene_shares(selected, genes).drop_duplicates(["method", "gene"])[["method", "gene", "together", "n"]]
    accuracy = with_metric(source.runs(name), METRIC).groupby("method")[METRIC].mean().rename(METRIC)
    shares = shares.join(accuracy, on="method").assign(experiment=name, scaling=words.replace("\n", " "))
    columns = ["experiment", "method", "gene", "scaling", "together", "accuracy", "n"]
    return shares[columns].rename(columns={"together": "frequency"})


def leading_genes(shares: pd.DataFrame, experiments: Mapping[str, str]) -> pd.DataFrame:
    """The genes that a method selects most under any scaling, scaling by scaling: [gene]."""
    ranked = shares.sort_values(["frequency", "gene"], ascending=[False, True])
    top = [ranked[ranked["experiment"] == experiment].head(TOP) for experiment in experiments]
    return pd.concat(top)[["gene"]].drop_duplicates(ignore_index=True)


def _draw(axes: Axes, shares: pd.DataFrame, rows: pd.DataFrame, scalings: Mapping[str, str]) -> None:
    grid = shares.pivot(index="gene", columns="experiment", values="frequency")
    grid = grid.reindex(index=rows["gene"], columns=list(scalings)).fillna(0.0)
    texts = grid.map(lambda share: f"{share:.2f}" if share else "")
    seaborn.heatmap(
        grid, annot=texts, fmt="", annot_kws={"fontsize": 6}, cmap="Blues", vmin=0, vmax=1, cbar=False, ax=axes
    )
    accuracy = shares.groupby("experiment")["accuracy"].first()
    labels = [f"{words}\nacc. {accuracy.get(name, float('nan')):.2f}" for name, words in scalings.items()]
    axes.set_xticklabels(labels, fontsize=6, rotation=90)
    axes.tick_params(length=0)
    axes.set(xlabel="", ylabel="")
