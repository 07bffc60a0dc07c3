"""Curves over rounds: mean and standard deviation bands, with a line where tuning starts."""

import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.figure import style
from eflops.analysis.source import Source

MARKERS = 5


def band(curves: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean, standard deviation and number of runs of a metric, by method and round."""
    grouped = curves.groupby(["method", "phase", "round"], as_index=False, sort=True)[metric]
    return grouped.agg(mean="mean", sd="std", n="count").sort_values(["method", "round"], ignore_index=True)


def draw_bands(axes: Axes, data: pd.DataFrame, source: Source) -> None:
    """A line and a band of one standard deviation a method; a dotted line where the first tuning phase starts.

    A few markers tell the lines apart without colour, each method's at other rounds, so that none hides another.
    """
    methods = source.order(data["method"])
    for place, method in enumerate(methods):
        part = data[data["method"] == method]
        colour, marker = style(method)
        every = max(len(part) // MARKERS, 1)
        axes.plot(
            part["round"],
            part["mean"],
            color=colour,
            linewidth=1.2,
            marker=marker,
            markersize=3.5,
            markevery=(place * every // len(methods), every),
        )
        axes.fill_between(
            part["round"], part["mean"] - part["sd"], part["mean"] + part["sd"], color=colour, alpha=0.12, linewidth=0
        )
    training = data.loc[data["phase"] == "training", "round"]
    axes.axvline(training.max(), color="0.4", linestyle=":", linewidth=1)
