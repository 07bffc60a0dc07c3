"""Bars by method in the methods' colours."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from eflops.analysis.figure import style
from eflops.analysis.source import Source

# How the parts of a method's bars are told apart besides their order: how strong the colour is, and the hatching.
# No dots: each is a circle in the SVG, and a bar's pattern of them weighs as much as all the rest of a figure.
LOOKS = ((1.0, ""), (0.35, "////"), (0.6, "xx"))


def draw_bars(axes: Axes, data: pd.DataFrame, parts: Mapping[str, str], source: Source, bottom: float = 0.0) -> None:
    """A group of bars per method, one for each of `parts` (metric to its words), with standard deviations.

    data: one row per method and metric, with mean and sd.
    """
    methods = source.order(data["method"])
    width = 0.8 / len(parts)
    for index, metric in enumerate(parts):
        rows = data[data["metric"] == metric].set_index("method").loc[methods]
        for place, method in enumerate(methods):
            x = place + (index - (len(parts) - 1) / 2) * width
            mean, sd = rows.loc[method, ["mean", "sd"]]
            _bar(axes, x, mean - bottom, bottom, 0.92 * width, method, index)
            if sd > 0:
                axes.errorbar(x, mean, sd, color="0.2", linewidth=0.8, capsize=1.5)
    finish(axes, methods, list(parts.values()), source)


def draw_stacks(axes: Axes, data: pd.DataFrame, parts: Mapping[str, str], source: Source) -> None:
    """One bar per method, of the means of all `parts` on top of each other."""
    methods = source.order(data["method"])
    means = data.pivot(index="method", columns="metric", values="mean")
    for place, method in enumerate(methods):
        below = 0.0
        for index, metric in enumerate(parts):
            _bar(axes, place, means.loc[method, metric], below, 0.7, method, index)
            below += means.loc[method, metric]
    finish(axes, methods, list(parts.values()), source)


def finish(axes: Axes, methods: Sequence[str], parts: Sequence[str], source: Source) -> None:
    """Name the methods below the bars, and the parts in a legend where there are several."""
    axes.set_xticks(range(len(methods)), [source.labels[method].replace(" ", "\n", 1) for method in methods])
    axes.tick_params(axis="x", length=0, labelsize=6.5)
    if len(parts) > 1:
        looks = [Patch(facecolor="0.3", alpha=LOOKS[i][0], hatch=LOOKS[i][1], edgecolor="w") for i in range(len(parts))]
        axes.legend(looks, parts, loc="upper right")


def _bar(axes: Axes, x: float, height: float, bottom: float, width: float, method: str, look: int) -> None:
    alpha, hatch = LOOKS[look]
    axes.bar(x, height, width, bottom, color=style(method)[0], alpha=alpha, hatch=hatch, edgecolor="w", linewidth=0.3)
