"""Figure 2: accuracy, communication and operations on MNIST."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from eflops.analysis.figure import Figure, Panel, four_panels, style
from eflops.analysis.lines import draw_bands
from eflops.analysis.source import Source
from eflops.analysis.stats.costs import federated, with_costs
from eflops.analysis.stats.summary import OVER_UNITS, summarise_units, unit_means

# How the parts of a method's bars are told apart besides their order: how strong the colour is, and the hatching.
# No dots: each is a circle in the SVG, and a bar's pattern of them weighs as much as all the rest of a figure.
LOOKS = ((1.0, ""), (0.35, "////"), (0.6, "xx"))
COLUMNS = ["panel", "method", "metric", "phase", "round", *OVER_UNITS.values()]
COMPRESSION = {
    "compression_round": "a round after the cut, as sent",
    "compression_training": "all of training, as sent",
    "compression_formula": "all of training, paper's formula",
}
BYTES = {"bytes_training": "training", "bytes_finetuning": "finetuning"}


def accuracy(source: Source) -> Panel:
    """Test accuracy over rounds."""
    curves = source.curves("mnist")
    data = summarise_units(curves, ["accuracy"], ["method", "phase", "round"]).drop(columns="metric")
    data = data.sort_values(["method", "round"], ignore_index=True)

    def draw(axes: Axes) -> None:
        draw_bands(axes, _drawn(data), source)
        axes.set(xlabel="round", ylabel="test accuracy", ylim=(0, 1), title="mean ± sd of draws, dotted: finetuning")

    return Panel(data, curves, draw, "accuracy")


def compression(source: Source) -> Panel:
    """How many times fewer bytes a method sends than dense training, as sent and by the paper's formula."""
    runs = federated(with_costs(source.runs("mnist")), source)
    runs = runs.assign(**{part: 1 / runs[part.replace("compression", "share")] for part in COMPRESSION})
    data = summarise_units(runs, list(COMPRESSION), ["method"])

    def draw(axes: Axes) -> None:
        axes.set_yscale("log")
        _draw_bars(axes, _drawn(data), COMPRESSION, source, bottom=1.0)
        axes.axhline(1, color="0.4", linewidth=0.8)
        axes.set(ylabel="compression, times dense", title="bytes of dense messages / bytes")
        axes.set_ylim(top=axes.get_ylim()[1] * 4)

    return Panel(data, runs, draw)


def sent(source: Source) -> Panel:
    """All bytes between server and clients, in training and in finetuning."""
    runs = federated(with_costs(source.runs("mnist")), source)
    data = summarise_units(runs, list(BYTES), ["method"])

    def draw(axes: Axes) -> None:
        _draw_stacks(axes, data, BYTES, source)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda sent, _: f"{sent / 1e6:g}"))
        # The key stands above all bars.
        axes.set(ylabel="megabytes, both ways", title="bytes of one run", ylim=(0, 1.2 * axes.get_ylim()[1]))

    return Panel(data, runs, draw)


def operations(source: Source) -> Panel:
    """The share of the dense network's multiply-accumulate operations that is removed: every draw, mean and sd."""
    runs = with_costs(source.runs("mnist"))
    data = summarise_units(runs, ["macs_removed"], ["method"]).drop(columns="metric")
    draws = unit_means(runs, "macs_removed", ["method"])
    methods = source.order(data["method"])

    def draw(axes: Axes) -> None:
        for place, method in enumerate(methods):
            colour, marker = style(method)
            removed = draws.loc[draws["method"] == method, "macs_removed"]
            spots = place - 0.15 + np.linspace(-0.12, 0.12, len(removed))
            axes.plot(spots, removed, marker, color=colour, markersize=2.5, alpha=0.6, linewidth=0)
            mean, sd = data.set_index("method").loc[method, ["mean", "spread"]]
            axes.errorbar(place + 0.2, mean, sd, color=colour, marker=marker, markersize=4.5, capsize=2.5)
        _name_bars(axes, methods, [], source)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
        axes.set(ylabel="operations removed", title="draws, and their mean ± sd")

    return Panel(data, runs, draw, "macs_removed")


def _drawn(data: pd.DataFrame) -> pd.DataFrame:
    """The data with the spread of units under the name that drawings know."""
    return data.rename(columns={"spread": "sd"})


PANELS = {"a": accuracy, "b": compression, "c": sent, "d": operations}


def panel(source: Source, panel: str) -> Figure:
    """A panel of Figure 2 on its own."""
    part = PANELS[panel](source)
    return part.alone(source) if panel == "a" else part.alone(source, columns=0, size=(3.5, 2.8))


def make(source: Source) -> Figure:
    """The four panels with their letters and one legend."""
    return four_panels({name: made(source) for name, made in PANELS.items()}, source, COLUMNS)


def _draw_bars(axes: Axes, data: pd.DataFrame, parts: Mapping[str, str], source: Source, bottom: float = 0.0) -> None:
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
    _name_bars(axes, methods, list(parts.values()), source)


def _draw_stacks(axes: Axes, data: pd.DataFrame, parts: Mapping[str, str], source: Source) -> None:
    """One bar per method, of the means of all `parts` on top of each other."""
    methods = source.order(data["method"])
    means = data.pivot(index="method", columns="metric", values="mean")
    for place, method in enumerate(methods):
        below = 0.0
        for index, metric in enumerate(parts):
            _bar(axes, place, means.loc[method, metric], below, 0.7, method, index)
            below += means.loc[method, metric]
    _name_bars(axes, methods, list(parts.values()), source)


def _name_bars(axes: Axes, methods: Sequence[str], parts: Sequence[str], source: Source) -> None:
    """Name the methods below the bars, and the parts in a legend where there are several."""
    axes.set_xticks(range(len(methods)), [source.labels[method].replace(" ", "\n", 1) for method in methods])
    axes.tick_params(axis="x", length=0, labelsize=6.5)
    if len(parts) > 1:
        looks = [Patch(facecolor="0.3", alpha=LOOKS[i][0], hatch=LOOKS[i][1], edgecolor="w") for i in range(len(parts))]
        axes.legend(looks, parts, loc="upper right")


def _bar(axes: Axes, x: float, height: float, bottom: float, width: float, method: str, look: int) -> None:
    alpha, hatch = LOOKS[look]
    axes.bar(x, height, width, bottom, color=style(method)[0], alpha=alpha, hatch=hatch, edgecolor="w", linewidth=0.3)
