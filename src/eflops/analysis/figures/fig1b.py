"""Figure 1b: test R2 over N/d."""

import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.figure import Figure
from eflops.analysis.panels import alone
from eflops.analysis.points import draw_points
from eflops.analysis.source import Source
from eflops.analysis.summary import summarise

METRIC = "r2"


def make(source: Source) -> Figure:
    """The panel on its own."""
    return alone(draw, source)


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel; the plotted numbers."""
    data = summarise(source.runs("support_recovery"), METRIC, ["method", "ratio"])
    draw_points(axes, data, "ratio", source)
    axes.set(xlabel="$N/d$", ylabel="test $R^2$", title=f"after tuning, mean ± sd of {data['n'].max()} run seeds")
    return data
