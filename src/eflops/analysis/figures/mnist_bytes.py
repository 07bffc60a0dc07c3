"""Accuracy against all bytes sent, for every method and way to cut."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from eflops.analysis.figure import Figure, canvas, style
from eflops.analysis.paper import DENSE
from eflops.analysis.source import Source
from eflops.analysis.stats.costs import federated, with_costs
from eflops.analysis.stats.summary import summarise_units

METRICS = ["accuracy", "bytes_total"]
ALLOWANCE = 0.1
MARKERS = "v<^>so*DPX"
# Of the main experiment: as the search chose to cut, and dense messages until the end.
SEARCHED, LAST = "searched", "end"


def make(source: Source, cases: Mapping[str, str]) -> Figure:
    """One point per method and way to cut; the main experiment has the way that was searched, and dense FedAvg.

    cases: each variant of `mnist_cut` in words, then what was searched, then what cuts at the end.
    """
    main = federated(with_costs(source.runs("mnist")), source)
    dense = main[main["method"] == DENSE]
    cut = with_costs(source.runs("mnist_cut"))
    runs = pd.concat([main, cut], ignore_index=True)
    parts = [summarise_units(part, METRICS, ["experiment", "method", "variant"]) for part in (main, cut)]
    data = pd.concat(parts, ignore_index=True)
    looks = {name: (words, marker) for (name, words), marker in zip(cases.items(), MARKERS, strict=False)}

    def paint() -> Drawing:
        drawing, axes = canvas(size=(7.0, 3.6))
        _draw(axes, data, looks, source)
        if len(dense):
            _mark_tenth(axes, ALLOWANCE * dense["bytes_training"].mean())
        _legends(drawing, data, looks, source)
        return drawing

    return Figure(data, runs, paint)


def _draw(axes: Axes, data: pd.DataFrame, looks: Mapping[str, tuple[str, str]], source: Source) -> None:
    points = data.set_index(["experiment", "method", "variant", "metric"]).unstack("metric")
    means, sds = points["mean"], points["spread"]
    # Methods come in pairs that send the same bytes, so the second of each is a ring around the first.
    rings = source.order(data["method"])[1::2]
    for key, row in means.iterrows():
        _, method, variant = key
        colour, ring = style(method)[0], method in rings
        axes.errorbar(
            row["bytes_total"],
            row["accuracy"],
            sds.loc[key, "accuracy"],
            color=colour,
            marker=looks[_way(method, variant, looks)][1],
            markersize=8 if ring else 4,
            markerfacecolor="none" if ring else colour,
            linewidth=0.8,
            capsize=2,
        )
    axes.set_ylim(0, 1.02)
    axes.set(xscale="log", xlabel="megabytes between server and clients, both phases", ylabel="test accuracy")
    axes.xaxis.set_major_formatter(lambda sent, _: f"{sent / 1e6:g}")
    axes.xaxis.set_minor_formatter(lambda sent, _: f"{sent / 1e6:g}" if f"{sent:.0e}"[0] in "25" else "")


def _way(method: str, variant: str, looks: Mapping[str, tuple[str, str]]) -> str:
    """Which of the cases a point is."""
    return variant if variant in looks else LAST if method == DENSE else SEARCHED


def _mark_tenth(axes: Axes, tenth: float) -> None:
    axes.axvline(tenth, color="0.4", linestyle=":", linewidth=1)
    axes.annotate(" 10 % of dense", (tenth, 0.02), xycoords=("data", "axes fraction"), fontsize=6.5, color="0.3")


def _legends(drawing: Drawing, data: pd.DataFrame, looks: Mapping[str, tuple[str, str]], source: Source) -> None:
    """What colours and markers stand for, beside the axes."""
    methods = [
        Line2D([], [], color=style(method)[0], linewidth=3 if place % 2 == 0 else 1, label=source.labels[method])
        for place, method in enumerate(source.order(data["method"]))
    ]
    present = {_way(row.method, row.variant, looks) for row in data.itertuples()}
    ways = [
        Line2D([], [], color="0.3", marker=marker, linewidth=0, markersize=5, label=words)
        for name, (words, marker) in looks.items()
        if name in present
    ]
    drawing.legend(handles=[*methods, *ways], loc="outside right center", labelspacing=0.7)
