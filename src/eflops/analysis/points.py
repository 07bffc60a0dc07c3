"""Means with standard deviation bands over a number on the x axis, a line a method, diverged runs marked."""

from collections.abc import Iterable

import matplotlib.figure
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.markers import CARETDOWNBASE

from eflops.analysis.figure import style
from eflops.analysis.source import Source

# The lowest R2 that is drawn to scale.
FLOOR = -0.25
CROSS = "\N{MULTIPLICATION SIGN}"


def draw_points(axes: Axes, data: pd.DataFrame, x: str, source: Source) -> None:
    """`data` has a row a method and x, with mean, sd, n and diverged.

    A mean far below 0, where a fit is worse than none, is an arrow at the lower edge. Where runs diverged, a cross
    stands there with their number; the mean is that of the others.
    """
    low, high = limits(data)
    for method in source.order(data["method"]):
        part = data[data["method"] == method]
        colour, marker = style(method)
        near = part[part["mean"] >= FLOOR]
        axes.plot(near[x], near["mean"], color=colour, marker=marker, markersize=3.5, linewidth=1.2)
        axes.fill_between(
            near[x], near["mean"] - near["sd"], near["mean"] + near["sd"], color=colour, alpha=0.15, linewidth=0
        )
        far = part[part["mean"] < FLOOR]
        # An empty line that is not clipped would claim the figure's corner.
        if len(far):
            axes.plot(far[x], [low] * len(far), color=colour, marker=CARETDOWNBASE, linestyle="", clip_on=False)
    _mark_diverged(axes, data, x)
    keys = [f"{CROSS} diverged / all runs"] if data["diverged"].any() else []
    keys += ["\N{BLACK DOWN-POINTING TRIANGLE} mean below the axis"] if (data["mean"] < FLOOR).any() else []
    # The keys stand above all lines.
    axes.set_ylim(low, high + 0.06 * len(keys) * (high - low))
    axes.text(1, 1, "\n".join(keys), transform=axes.transAxes, ha="right", va="top", fontsize=6, color="0.35")


def _mark_diverged(axes: Axes, data: pd.DataFrame, x: str) -> None:
    lost = data[data["diverged"] > 0].groupby(x, as_index=False)[["diverged", "n"]].sum()
    for _, row in lost.iterrows():
        axes.annotate(
            f"{CROSS}\n{row['diverged']:.0f}/{row['n']:.0f}",
            (row[x], 0.01),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            fontsize=6,
            color="0.35",
        )


def limits(data: pd.DataFrame) -> tuple[float, float]:
    """The y axis: zero and all means with their bands, but nothing far below 0, where a fit is worse than none."""
    near = data[data["mean"] >= FLOOR]
    sd = near["sd"].fillna(0)
    low = min([0.0, *(near["mean"] - sd)])
    high = max([0.1, *(near["mean"] + sd)])
    return max(low, FLOOR) - 0.03, min(high, 1.0) + 0.03


def method_legend(drawing: matplotlib.figure.Figure, methods: Iterable[str], source: Source, columns: int) -> None:
    """One legend below the whole figure: a line, its colour and its marker stand for a method in every panel."""
    lines = [_line(method, source.labels[method]) for method in source.order(methods)]
    drawing.legend(handles=lines, loc="outside lower center", ncols=columns)


def _line(method: str, label: str) -> Line2D:
    colour, marker = style(method)
    return Line2D([], [], color=colour, marker=marker, markersize=3.5, linewidth=1.2, label=label)
