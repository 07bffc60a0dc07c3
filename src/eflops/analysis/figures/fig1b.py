"""Figure 1b: test R2 over N/d."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.figure import Figure
from eflops.analysis.points import draw_points, method_legend
from eflops.analysis.source import Source
from eflops.analysis.summary import summarise

METRIC = "r2"


def make(source: Source) -> Figure:
    """The panel on its own."""
    drawing, axes = plt.subplots(figsize=(3.5, 3.0))
    data = draw(axes, source)
    method_legend(drawing, data["method"], source, columns=3)
    return Figure(drawing, data)


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel; the plotted numbers."""
    data = summarise(source.runs("support_recovery"), METRIC, ["method", "ratio"])
    draw_points(axes, data, "ratio", source)
    axes.set(xlabel="$N/d$", ylabel="test $R^2$", title=f"after tuning, mean ± sd of {data['n'].max()} run seeds")
    return data
