"""Curves over rounds: mean and standard deviation bands, with a line where tuning starts."""

import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.figure import style
from eflops.analysis.source import Source


def band(curves: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean, standard deviation and number of runs of a metric, by method and round."""
    grouped = curves.groupby(["method", "phase", "round"], as_index=False, sort=True)[metric]
    return grouped.agg(mean="mean", sd="std", n="count").sort_values(["method", "round"], ignore_index=True)


def draw_bands(axes: Axes, data: pd.DataFrame, source: Source, legend: bool = True) -> None:
    """A line and a band of one standard deviation a method; a dotted line where the first tuning phase starts."""
    for method in source.order(data["method"]):
        part = data[data["method"] == method]
        colour, _ = style(method)
        axes.plot(part["round"], part["mean"], color=colour, label=source.labels[method], linewidth=1.2)
        axes.fill_between(
            part["round"], part["mean"] - part["sd"], part["mean"] + part["sd"], color=colour, alpha=0.15, linewidth=0
        )
    training = data.loc[data["phase"] == "training", "round"]
    axes.axvline(training.max(), color="0.4", linestyle=":", linewidth=1)
    if legend:
        axes.legend()
