"""Accuracy against all bytes sent, for every method and way to cut."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from eflops.analysis import costs
from eflops.analysis.cut_cases import CASES
from eflops.analysis.figure import Figure, style
from eflops.analysis.source import Source
from eflops.analysis.summary import summarise_all

EXPERIMENTS = ("mnist", "mnist_cut")
METRICS = ["accuracy", "bytes_total"]
ALLOWANCE = 0.1


def make(source: Source) -> Figure:
    """The figure."""
    drawing, axes = plt.subplots(figsize=(7.0, 3.6))
    data = draw(axes, source)
    _legends(drawing, data, source)
    return Figure(drawing, data)


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """One point a method and way to cut; dense FedAvg, which cuts at the end, comes from the main experiment."""
    main = costs.with_costs(source.runs("mnist"))
    dense = main[main["method"] == "fedavg"]
    runs = pd.concat([dense, costs.with_costs(source.runs("mnist_cut"))], ignore_index=True)
    data = summarise_all(runs, METRICS, ["experiment", "method", "variant"])
    points = data.set_index(["experiment", "method", "variant", "metric"]).unstack("metric")
    means, sds = points["mean"], points["sd"]
    # Methods come in pairs that send the same bytes, so the second of each is a ring around the first.
    rings = source.order(data["method"])[1::2]
    for key, row in means.iterrows():
        _, method, variant = key
        axes.errorbar(
            row["bytes_total"],
            row["accuracy"],
            sds.loc[key, "accuracy"],
            color=style(method)[0],
            marker=CASES.get(variant, CASES["end"]).marker,
            markersize=8 if method in rings else 4,
            markerfacecolor="none" if method in rings else style(method)[0],
            linewidth=0.8,
            capsize=2,
        )
    if len(dense):
        tenth = ALLOWANCE * dense["bytes_training"].mean()
        axes.axvline(tenth, color="0.4", linestyle=":", linewidth=1)
        axes.annotate(" 10 % of dense", (tenth, 0.02), xycoords=("data", "axes fraction"), fontsize=6.5, color="0.3")
    axes.set_ylim(0, 1.02)
    axes.set(xscale="log", xlabel="megabytes between server and clients, training and tuning", ylabel="test accuracy")
    axes.xaxis.set_major_formatter(lambda sent, _: f"{sent / 1e6:g}")
    axes.xaxis.set_minor_formatter(lambda sent, _: f"{sent / 1e6:g}" if f"{sent:.0e}"[0] in "25" else "")
    return data


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a point."""
    return costs.trace(source, EXPERIMENTS, keys, keys["metric"])


def _legends(drawing: Any, data: pd.DataFrame, source: Source) -> None:
    """What colours and markers stand for, beside the axes."""
    methods = [
        Line2D([], [], color=style(method)[0], linewidth=3 if place % 2 == 0 else 1, label=source.labels[method])
        for place, method in enumerate(source.order(data["method"]))
    ]
    present = {variant if variant in CASES else "end" for variant in data["variant"]}
    cases = [
        Line2D([], [], color="0.3", marker=case.marker, linewidth=0, markersize=5, label=case.words)
        for name, case in CASES.items()
        if name in present
    ]
    drawing.legend(handles=[*methods, *cases], loc="outside right center", labelspacing=0.7)
