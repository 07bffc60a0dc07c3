"""Figure 2b: how many times fewer bytes a method sends than dense training, as sent and by the paper's formula."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis import costs
from eflops.analysis.bars import draw_bars
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source
from eflops.analysis.summary import summarise_all

EXPERIMENTS = ("mnist",)
PARTS = {
    "compression_round": "a round after the cut, as sent",
    "compression_training": "all of training, as sent",
    "compression_formula": "all of training, paper's formula",
}


def make(source: Source) -> Figure:
    """The panel on its own."""
    drawing, axes = plt.subplots(figsize=(3.5, 2.8))
    return Figure(drawing, draw(axes, source))


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel; the plotted numbers."""
    runs = _compressed(costs.federated(costs.with_costs(source.runs("mnist")), source))
    data = summarise_all(runs, list(PARTS), ["method"])
    axes.set_yscale("log")
    draw_bars(axes, data, PARTS, source, bottom=1.0)
    axes.axhline(1, color="0.4", linewidth=0.8)
    axes.set(ylabel="compression, times dense", title="bytes of dense messages / bytes")
    axes.set_ylim(top=axes.get_ylim()[1] * 4)
    return data


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a bar."""
    share = str(keys["metric"]).replace("compression", "share")
    runs = costs.trace(source, EXPERIMENTS, keys, share)
    return runs.assign(value=1 / runs["value"])


def _compressed(runs: pd.DataFrame) -> pd.DataFrame:
    return runs.assign(**{part: 1 / runs[part.replace("compression", "share")] for part in PARTS})
