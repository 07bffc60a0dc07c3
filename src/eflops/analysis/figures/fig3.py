"""Figure 3: test accuracy on the leukaemia data over rounds, and beside it how final accuracies are distributed.

With 15 test samples accuracy moves in steps of 1/15: a mean and a band hide that, so each step has a disc whose area is
the number of runs that end there. Panel a is over run seeds of one split, panel b over splits, each the mean of its
seeds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from eflops.analysis.figure import Figure, canvas, letter, method_legend, style
from eflops.analysis.lines import band, draw_bands
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import with_metric

METRIC = "accuracy"
FINAL = "final"
COLUMNS = ["method", "phase", "round", "value", "mean", "sd", "n"]
LARGEST = 90.0
PANELS = {
    "a": ("golub_runs", "one split, ± sd of run seeds"),
    "b": ("golub_splits", "mean ± sd of splits"),
}


@dataclass(frozen=True)
class Pair:
    """Curves and discs: the plotted numbers (discs in phase `final`), their runs, and how both are drawn."""

    data: pd.DataFrame
    runs: pd.DataFrame
    draw: Callable[[Axes, Axes], None]


def over_rounds(source: Source, experiment: str, title: str) -> Pair:
    """Both parts side by side on one scale."""
    curves, runs = source.curves(experiment), with_metric(source.runs(experiment), METRIC)
    lines, discs = band(curves, METRIC), distribution(runs)
    lows = [*(lines["mean"] - lines["sd"].fillna(0)).dropna(), *discs["value"], 1.0]

    def draw(curve: Axes, final: Axes) -> None:
        draw_bands(curve, lines, source)
        _draw_discs(final, discs, source)
        for axes in (curve, final):
            axes.set_ylim(max(min(lows), 0.0) - 0.04, 1.04)
        curve.set(xlabel="round", ylabel="test accuracy", title=title)
        final.set(xticks=[], xlabel="final", title="runs by area")
        final.tick_params(labelleft=False)

    ends = runs.assign(phase=FINAL, value=runs[METRIC].round(6))
    data = pd.concat([lines, discs], ignore_index=True).reindex(columns=COLUMNS)
    return Pair(data, pd.concat([curves, ends], ignore_index=True), draw)


def distribution(runs: pd.DataFrame) -> pd.DataFrame:
    """How many runs of a method end at each accuracy; diverged runs end nowhere."""
    rounded = runs.assign(value=runs[METRIC].round(6)).dropna(subset="value")
    counts = rounded.groupby(["method", "value"], as_index=False).size()
    return counts.rename(columns={"size": "n"}).assign(phase=FINAL)


def panel(source: Source, panel: str) -> Figure:
    """A panel of Figure 3 on its own: test accuracy over rounds, and where runs end."""
    pair = over_rounds(source, *PANELS[panel])

    def paint() -> Drawing:
        drawing, (curve, final) = canvas(1, 2, size=(4.6, 3.0), width_ratios=[2.6, 1])
        pair.draw(curve, final)
        method_legend(drawing, pair.data["method"], source, columns=3)
        return drawing

    return Figure(pair.data, pair.runs, paint, METRIC)


def make(source: Source) -> Figure:
    """Both panels with their letters and one legend."""
    pairs = {name: over_rounds(source, *place) for name, place in PANELS.items()}
    data, runs = (
        pd.concat([getattr(pair, part).assign(panel=name) for name, pair in pairs.items()], ignore_index=True)
        for part in ("data", "runs")
    )

    def paint() -> Drawing:
        drawing, axes = canvas(1, 4, size=(7.6, 3.0), width_ratios=[2.6, 1, 2.6, 1])
        for (name, pair), curve, final in zip(pairs.items(), axes[::2], axes[1::2], strict=True):
            pair.draw(curve, final)
            letter(curve, name)
        method_legend(drawing, data["method"], source, columns=6)
        return drawing

    return Figure(data[["panel", *COLUMNS]], runs, paint, METRIC)


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
