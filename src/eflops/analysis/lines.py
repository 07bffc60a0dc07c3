"""Lines with bands of a standard deviation or an interval: over rounds, and over a number with diverged runs."""

from typing import Any

import pandas as pd

from eflops.analysis.figure import Axes
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import INTERVAL, unit_values, with_metric
from eflops.analysis.style import style

MARKERS = 5
# The lowest R2 that is drawn to scale.
FLOOR = -0.25
CROSS = "\N{MULTIPLICATION SIGN}"
# matplotlib.markers.CARETDOWNBASE, an arrow whose foot is at the point.
ARROW = 11


def band(curves: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean and standard deviation of a metric over draws, or over the runs of one draw, by method and round; n runs."""
    by, curves = ["method", "phase", "round"], with_metric(curves, metric)
    units = unit_values(curves, metric, by).groupby(by, as_index=False, sort=True)[metric].agg(mean="mean", sd="std")
    counts = curves.groupby(by, as_index=False, sort=True)[metric].agg(n="count")
    return units.merge(counts, on=by).sort_values(["method", "round"], ignore_index=True)


def draw_bands(axes: Axes, data: pd.DataFrame, source: Source, mark_end: bool = True) -> None:
    """A line and a band of one standard deviation per method; a dotted line where the first finetuning phase starts.

    A few markers distinguish the lines without colour. Methods have them at different rounds, so no marker hides
    another.
    """
    methods = source.order(data["method"])
    for index, method in enumerate(methods):
        part = data[data["method"] == method]
        colour, marker = style(method)
        every = max(len(part) // MARKERS, 1)
        first = index * every // len(methods)
        marks: dict[str, Any] = {"marker": marker, "markersize": 3.5, "markevery": (first, every)}
        axes.plot(part["round"], part["mean"], color=colour, linewidth=1.2, **marks)
        low, high = part["mean"] - part["sd"], part["mean"] + part["sd"]
        axes.fill_between(part["round"], low, high, color=colour, alpha=0.12, linewidth=0)
    training = data.loc[data["phase"] == "training", "round"]
    if mark_end and len(training):
        axes.axvline(training.max(), color="0.4", linestyle=":", linewidth=1)


def draw_points(axes: Axes, data: pd.DataFrame, x: str, source: Source) -> None:
    """`data` has one row per method and x, with mean, sd, n and diverged, and the band's ends if it is an interval.

    A mean far below 0 (a fit worse than none) is drawn as an arrow at the lower edge. A cross with a number marks
    diverged runs; the mean is that of the others.
    """
    low, high = limits(data)
    for method in source.order(data["method"]):
        part = data[data["method"] == method]
        colour, marker = style(method)
        near = part[part["mean"] >= FLOOR]
        axes.plot(near[x], near["mean"], color=colour, marker=marker, markersize=3.5, linewidth=1.2)
        axes.fill_between(near[x], *edges(near), color=colour, alpha=0.15, linewidth=0)
        far = part[part["mean"] < FLOOR]
        # An empty line that is not clipped would claim the figure's corner.
        if len(far):
            axes.plot(far[x], [low] * len(far), color=colour, marker=ARROW, linestyle="", clip_on=False)
    for _, row in data[data["diverged"] > 0].groupby(x, as_index=False)[["diverged", "n"]].sum().iterrows():
        words = f"{CROSS}\n{row['diverged']:.0f}/{row['n']:.0f}"
        look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 6, "color": "0.35"}
        axes.annotate(words, (row[x], 0.01), xycoords=("data", "axes fraction"), **look)
    keys = [f"{CROSS} diverged / all runs"] if data["diverged"].any() else []
    keys += ["\N{BLACK DOWN-POINTING TRIANGLE} mean below the axis"] if (data["mean"] < FLOOR).any() else []
    # The keys stand above all lines.
    axes.set_ylim(low, high + 0.06 * len(keys) * (high - low))
    axes.text(1, 1, "\n".join(keys), transform=axes.transAxes, ha="right", va="top", fontsize=6, color="0.35")


def limits(data: pd.DataFrame) -> tuple[float, float]:
    """The y axis: covers all means with their bands, but nothing far below 0 (a fit worse than none)."""
    near = data[data["mean"] >= FLOOR]
    lows, highs = (end.fillna(near["mean"]) for end in edges(near))
    if near.empty:
        return FLOOR, 1.0
    low, high = max(min(lows), FLOOR), min(max(highs), 1.0)
    margin = max(0.06 * (high - low), 0.005)
    return low - margin, high + margin


def edges(data: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The lower and upper edge of a band: the interval of the mean if known, else one standard deviation."""
    if set(INTERVAL) <= set(data.columns):
        return data["mean_low"], data["mean_high"]
    return data["mean"] - data["sd"], data["mean"] + data["sd"]
