"""Figure 2c: all bytes between server and clients, in training and in tuning."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from eflops.analysis import costs
from eflops.analysis.bars import draw_stacks
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source
from eflops.analysis.summary import summarise_all

EXPERIMENTS = ("mnist",)
PARTS = {"bytes_training": "training", "bytes_tuning": "tuning"}


def make(source: Source) -> Figure:
    """The panel on its own."""
    drawing, axes = plt.subplots(figsize=(3.5, 2.8))
    return Figure(drawing, draw(axes, source))


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel; the plotted numbers."""
    runs = costs.federated(costs.with_costs(source.runs("mnist")), source)
    data = summarise_all(runs, list(PARTS), ["method"])
    draw_stacks(axes, data, PARTS, source)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda sent, _: f"{sent / 1e6:g}"))
    # The key stands above all bars.
    axes.set(ylabel="megabytes, both ways", title="bytes of one run", ylim=(0, 1.2 * axes.get_ylim()[1]))
    return data


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a bar."""
    return costs.trace(source, EXPERIMENTS, keys, keys["metric"])
