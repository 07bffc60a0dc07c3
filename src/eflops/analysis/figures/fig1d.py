"""Figure 1d: test R2 over the learning rate of the gates."""

import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.figure import Figure
from eflops.analysis.figures.fig1c import described, draw_rates
from eflops.analysis.panels import alone
from eflops.analysis.source import Source

METRIC = "r2"


def make(source: Source) -> Figure:
    """The panel on its own."""
    return alone(draw, source, columns=2)


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel; the plotted numbers."""
    runs = source.runs("rates_phi")
    data = draw_rates(axes, runs, "set_gate_rate", source)
    fixed = runs["set_rate"].iloc[0]
    axes.set(xlabel=r"$\eta_\phi$", title=rf"$\eta_\theta = {fixed:g}$, {described(runs)}")
    return data
