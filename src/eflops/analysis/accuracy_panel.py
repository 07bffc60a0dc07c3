"""Accuracy over rounds, and beside it how the final accuracies are distributed.

With 15 test samples accuracy moves in steps of 1/15: a mean and a band hide that, so each step has a disc whose area is
the number of runs that end there.
"""

from collections.abc import Callable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.curves import band, draw_bands
from eflops.analysis.figure import Figure, style
from eflops.analysis.points import method_legend
from eflops.analysis.source import Source

METRIC = "accuracy"
FINAL = "final"
COLUMNS = ["method", "phase", "round", "value", "mean", "sd", "n"]
LARGEST = 90.0


def alone(draw: Callable[[Axes, Axes, Source], pd.DataFrame], source: Source) -> Figure:
    """Both parts as a figure of their own, with the methods below."""
    drawing, (curve, final) = plt.subplots(1, 2, figsize=(4.6, 3.0), width_ratios=[2.6, 1])
    data = draw(curve, final, source)
    method_legend(drawing, data["method"], source, columns=3)
    return Figure(drawing, data)


def draw_accuracy(curve: Axes, final: Axes, source: Source, experiment: str, title: str) -> pd.DataFrame:
    """Draw both parts side by side on one scale; the plotted numbers, those of the discs in phase `final`."""
    lines = band(source.curves(experiment), METRIC)
    draw_bands(curve, lines, source)
    discs = distribution(source.runs(experiment))
    _draw_discs(final, discs, source)
    lowest = min(float((lines["mean"] - lines["sd"].fillna(0)).min()), float(discs["value"].min()))
    for axes in (curve, final):
        axes.set_ylim(max(lowest, 0.0) - 0.04, 1.04)
    curve.set(xlabel="round", ylabel="test accuracy", title=title)
    final.set(xticks=[], xlabel="final", title="runs by area")
    final.tick_params(labelleft=False)
    return pd.concat([lines, discs], ignore_index=True).reindex(columns=COLUMNS)


def distribution(runs: pd.DataFrame) -> pd.DataFrame:
    """How many runs of a method end at each accuracy; diverged runs end nowhere."""
    rounded = runs.assign(value=runs[METRIC].round(6)).dropna(subset="value")
    counts = rounded.groupby(["method", "value"], as_index=False).size()
    return counts.rename(columns={"size": "n"}).assign(phase=FINAL)


def trace(source: Source, experiment: str, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a plotted number: those of a round, or those that end at a disc's accuracy."""
    if keys["phase"] == FINAL:
        runs = source.runs(experiment)
        chosen = runs[METRIC].round(6) == keys["value"]
    else:
        runs = source.curves(experiment)
        chosen = (runs["phase"] == keys["phase"]) & (runs["round"] == keys["round"])
    chosen &= runs["method"] == keys["method"]
    return runs[chosen].assign(value=runs.loc[chosen, METRIC])


def _draw_discs(axes: Axes, discs: pd.DataFrame, source: Source) -> None:
    methods = source.order(discs["method"])
    most = discs["n"].max()
    for place, method in enumerate(methods):
        part = discs[discs["method"] == method]
        colour, _ = style(method)
        area = part["n"] / most * LARGEST
        axes.scatter([place] * len(part), part["value"], s=area, color=colour, alpha=0.75, linewidth=0)
        mean = (part["value"] * part["n"]).sum() / part["n"].sum()
        axes.plot([place - 0.42, place + 0.42], [mean, mean], color=colour, linewidth=1.4)
    axes.set_xlim(-0.7, len(methods) - 0.3)
