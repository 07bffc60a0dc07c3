"""Figure 2d: the share of the dense network's multiply-accumulate operations that is removed."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis import costs
from eflops.analysis.bars import finish
from eflops.analysis.figure import Figure, style
from eflops.analysis.source import Source
from eflops.analysis.summary import summarise

EXPERIMENTS = ("mnist",)
METRIC = "macs_removed"


def make(source: Source) -> Figure:
    """The panel on its own."""
    drawing, axes = plt.subplots(figsize=(3.5, 2.8))
    return Figure(drawing, draw(axes, source))


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel: every run as a point, mean and standard deviation beside them; the plotted numbers."""
    runs = costs.with_costs(source.runs("mnist"))
    data = summarise(runs, METRIC, ["method"])
    methods = source.order(data["method"])
    for place, method in enumerate(methods):
        colour, marker = style(method)
        removed = runs.loc[runs["method"] == method, METRIC]
        spots = place - 0.15 + np.linspace(-0.12, 0.12, len(removed))
        axes.plot(spots, removed, marker, color=colour, markersize=2.5, alpha=0.6, linewidth=0)
        row = data.set_index("method").loc[method]
        axes.errorbar(place + 0.2, row["mean"], row["sd"], color=colour, marker=marker, markersize=4.5, capsize=2.5)
    finish(axes, methods, [], source)
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.set(ylabel="operations removed", title="runs, and their mean ± sd")
    return data


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a point."""
    return costs.trace(source, EXPERIMENTS, keys, METRIC)
