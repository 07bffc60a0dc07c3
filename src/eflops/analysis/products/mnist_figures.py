"""MNIST: accuracy, communication and operations (Figure 2), and accuracy over total bytes for every time of the cut."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from eflops.analysis.figure import (
    Axes,
    Drawing,
    Figure,
    Panel,
    canvas,
    four_panels,
    line_key,
    log_scale,
    name_bars,
    patch_key,
)
from eflops.analysis.lines import draw_bands
from eflops.analysis.paper import DENSE
from eflops.analysis.source import Source
from eflops.analysis.stats.costs import with_costs
from eflops.analysis.stats.summary import OVER_UNITS, summarise_units, unit_means
from eflops.analysis.style import style

# The parts of a method's bars differ by their order, the strength of the colour, and the hatching.
# No dots: each is a circle in the SVG, and a bar's pattern of them weighs as much as all the rest of a figure.
LOOKS = ((1.0, ""), (0.35, "////"), (0.6, "xx"))
COMPRESSION = {
    "compression_round": "a round after the cut, as sent",
    "compression_training": "all of training, as sent",
    "compression_formula": "all of training, paper's formula",
}
BYTES = {"bytes_training": "training", "bytes_finetuning": "finetuning"}
MARKERS = "v<^>so*DPX"
# Of the main experiment: as the search chose to cut, and dense messages until the end.
SEARCHED, LAST = "searched", "end"


def accuracy(source: Source) -> Panel:
    """Test accuracy over rounds."""
    curves = source.curves("mnist")
    data = summarise_units(curves, ["accuracy"], ["method", "phase", "round"]).drop(columns="metric")
    data = data.sort_values(["method", "round"], ignore_index=True)

    def draw(axes: Axes) -> None:
        draw_bands(axes, data.rename(columns={"spread": "sd"}), source)
        axes.set(xlabel="round", ylabel="test accuracy", ylim=(0, 1), title="mean ± sd of draws, dotted: finetuning")

    return Panel(data, curves, draw, "accuracy")


def compression(source: Source) -> Panel:
    """How many times fewer bytes a method sends than dense training, as sent and by the paper's formula."""
    runs = source.sending(with_costs(source.runs("mnist")))
    runs = runs.assign(**{part: 1 / runs[part.replace("compression", "share")] for part in COMPRESSION})
    data = summarise_units(runs, list(COMPRESSION), ["method"])
    methods, cells = source.order(data["method"]), data.set_index(["metric", "method"])
    width = 0.8 / len(COMPRESSION)

    def draw(axes: Axes) -> None:
        log_scale(axes, "y")
        for part, metric in enumerate(COMPRESSION):
            for index, method in enumerate(methods):
                x = index + (part - (len(COMPRESSION) - 1) / 2) * width
                mean, sd = cells.loc[(metric, method), ["mean", "spread"]]
                _bar(axes, x, mean - 1.0, 1.0, 0.92 * width, method, part)
                if sd > 0:
                    axes.errorbar(x, mean, sd, color="0.2", linewidth=0.8, capsize=1.5)
        _name_bars(axes, source, methods, COMPRESSION)
        axes.axhline(1, color="0.4", linewidth=0.8)
        axes.set(ylabel="compression, times dense", title="bytes of dense messages / bytes")
        # The key stands above all bars; a method without compression stands on the line at 1.
        axes.set_ylim(0.8, axes.get_ylim()[1] * 4)

    return Panel(data, runs, draw)


def sent(source: Source) -> Panel:
    """All bytes between server and clients, in training and in finetuning."""
    runs = source.sending(with_costs(source.runs("mnist")))
    data = summarise_units(runs, list(BYTES), ["method"])
    methods, means = source.order(data["method"]), data.pivot(index="method", columns="metric", values="mean")

    def draw(axes: Axes) -> None:
        for index, method in enumerate(methods):
            below = 0.0
            for part, metric in enumerate(BYTES):
                _bar(axes, index, means.loc[method, metric], below, 0.7, method, part)
                below += means.loc[method, metric]
        _name_bars(axes, source, methods, BYTES)
        axes.yaxis.set_major_formatter(lambda sent, _: f"{sent / 1e6:g}")
        # The key stands above all bars.
        axes.set(ylabel="megabytes, both ways", title="bytes of one run", ylim=(0, 1.2 * axes.get_ylim()[1]))

    return Panel(data, runs, draw)


def operations(source: Source) -> Panel:
    """The share of the dense network's multiply-accumulate operations that is removed: every draw, with mean and sd."""
    runs = with_costs(source.runs("mnist"))
    data = summarise_units(runs, ["macs_removed"], ["method"]).drop(columns="metric")
    draws = unit_means(runs, "macs_removed", ["method"])
    methods = source.order(data["method"])

    def draw(axes: Axes) -> None:
        for index, method in enumerate(methods):
            colour, marker = style(method)
            removed = draws.loc[draws["method"] == method, "macs_removed"]
            spots = index - 0.15 + np.linspace(-0.12, 0.12, len(removed))
            axes.plot(spots, removed, marker, color=colour, markersize=2.5, alpha=0.6, linewidth=0)
            mean, sd = data.set_index("method").loc[method, ["mean", "spread"]]
            axes.errorbar(index + 0.2, mean, sd, color=colour, marker=marker, markersize=4.5, capsize=2.5)
        _name_bars(axes, source, methods, {})
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        axes.set(ylabel="operations removed", title="draws, and their mean ± sd")

    return Panel(data, runs, draw, "macs_removed")


def _bar(axes: Axes, x: float, height: float, bottom: float, width: float, method: str, look: int) -> None:
    alpha, hatch = LOOKS[look]
    axes.bar(x, height, width, bottom, color=style(method)[0], alpha=alpha, hatch=hatch, edgecolor="w", linewidth=0.3)


def _name_bars(axes: Axes, source: Source, methods: list[str], parts: Mapping[str, str]) -> None:
    """Name the methods below the bars, and the parts in a legend."""
    name_bars(axes, [source.labels[method] for method in methods])
    if parts:
        keys = [patch_key(facecolor="0.3", alpha=alpha, hatch=hatch, edgecolor="w") for alpha, hatch in LOOKS]
        axes.legend(keys[: len(parts)], list(parts.values()), loc="upper right")


PANELS: dict[str, Callable[[Source], Panel]] = {"a": accuracy, "b": compression, "c": sent, "d": operations}


def fig2_panel(source: Source, panel: str) -> Figure:
    """One panel of Figure 2."""
    part = PANELS[panel](source)
    return part.alone(source) if panel == "a" else part.alone(source, columns=0, size=(3.5, 2.8))


def fig2(source: Source) -> Figure:
    """The four panels with their letters and one legend."""
    columns = ["panel", "method", "metric", "phase", "round", *OVER_UNITS.values()]
    return four_panels({name: made(source) for name, made in PANELS.items()}, source, columns)


def over_bytes(source: Source, cases: Mapping[str, str]) -> Figure:
    """One point per method and time of the cut; the main experiment has the searched time, and dense FedAvg.

    cases: the label of each variant of `mnist_cut`, then of the searched one, then of the cut at the end.
    """
    main, cut = source.sending(with_costs(source.runs("mnist"))), with_costs(source.runs("mnist_cut"))
    dense = main[main["method"] == DENSE]
    by = ["experiment", "method", "variant"]
    data = pd.concat(
        [summarise_units(part, ["accuracy", "bytes_total"], by) for part in (main, cut)], ignore_index=True
    )
    markers = dict(zip(cases, MARKERS, strict=False))
    methods = source.order(data["method"])

    def way(method: str, variant: str) -> str:
        """The case of a point."""
        return variant if variant in markers else LAST if method == DENSE else SEARCHED

    def paint() -> Drawing:
        drawing, axes = canvas(size=(7.0, 3.6))
        points = data.set_index([*by, "metric"]).unstack("metric")
        for key, row in points["mean"].iterrows():
            _, method, variant = key
            colour = style(method)[0]
            # Methods come in pairs that send the same bytes, so the second of each is a ring around the first.
            ring = method in methods[1::2]
            look: dict[str, Any] = {"color": colour, "marker": markers[way(method, variant)], "linewidth": 0.8}
            look |= {"markersize": 8 if ring else 4, "markerfacecolor": "none" if ring else colour, "capsize": 2}
            axes.errorbar(row["bytes_total"] / 1e6, row["accuracy"], points["spread"].loc[key, "accuracy"], **look)
        axes.set_ylim(0, 1.02)
        log_scale(axes, "x")
        axes.set(xlabel="megabytes between server and clients, both phases", ylabel="test accuracy, mean ± sd of draws")
        _mark_tenth(axes, dense)
        present = {way(row.method, row.variant) for row in data.itertuples()}
        keys = [
            *(
                line_key(source.labels[method], color=style(method)[0], linewidth=3 if index % 2 == 0 else 1)
                for index, method in enumerate(methods)
            ),
            *(
                line_key(words, color="0.3", marker=markers[name], linewidth=0, markersize=5)
                for name, words in cases.items()
                if name in present
            ),
        ]
        drawing.legend(handles=keys, loc="outside right center", labelspacing=0.7)
        return drawing

    return Figure(data, pd.concat([main, cut], ignore_index=True), paint)


def _mark_tenth(axes: Axes, dense: pd.DataFrame) -> None:
    """A line at a tenth of the bytes of dense training, where that ran."""
    if len(dense):
        tenth = 0.1 * dense["bytes_training"].mean() / 1e6
        axes.axvline(tenth, color="0.4", linestyle=":", linewidth=1)
        look: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "fontsize": 6.5, "color": "0.3"}
        axes.annotate(" 10 % of dense", (tenth, 0.02), **look)
