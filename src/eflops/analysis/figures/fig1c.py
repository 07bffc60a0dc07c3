"""Figure 1c: test R2 over the learning rate of the weights."""

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
    return alone(draw, source, columns=2)


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel; the plotted numbers."""
    runs = source.runs("rates_theta")
    data = draw_rates(axes, runs, "set_rate", source)
    fixed = runs["set_gate_rate"].iloc[0]
    axes.set(xlabel=r"$\eta_\theta$", title=rf"$\eta_\phi = {fixed:g}$, {described(runs)}")
    return data


def described(runs: pd.DataFrame) -> str:
    """What the runs of a panel share, and what its bands are."""
    return f"$N/d = {runs['ratio'].iloc[0]:g}$, ± sd of {runs['seed'].nunique()} seeds"


def draw_rates(axes: Axes, runs: pd.DataFrame, rate: str, source: Source) -> pd.DataFrame:
    """R2 over a rate, a line a method."""
    data = summarise(runs, METRIC, ["method", rate])
    draw_points(axes, data, rate, source)
    values = data[rate].unique()
    margin = 0.06 * (values.max() - values.min())
    axes.set(ylabel="test $R^2$", xlim=(values.min() - margin, values.max() + margin))
    return data
