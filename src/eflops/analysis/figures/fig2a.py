"""Figure 2a: test accuracy over rounds."""

import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.curves import band, draw_bands
from eflops.analysis.figure import Figure
from eflops.analysis.panels import alone
from eflops.analysis.source import Source

METRIC = "accuracy"


def make(source: Source) -> Figure:
    """The panel on its own."""
    return alone(draw, source)


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel; the plotted numbers."""
    data = band(source.curves("mnist"), METRIC)
    draw_bands(axes, data, source)
    axes.set(xlabel="round", ylabel="test accuracy", ylim=(0, 1), title="mean ± sd of run seeds, dotted: tuning")
    return data
