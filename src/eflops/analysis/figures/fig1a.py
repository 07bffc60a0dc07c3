"""Figure 1a: test R2 over rounds at one N/d."""

import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.curves import band, draw_bands
from eflops.analysis.figure import Figure
from eflops.analysis.panels import alone
from eflops.analysis.points import limits
from eflops.analysis.source import Source

METRIC = "r2"
RATIO = 0.64


def make(source: Source) -> Figure:
    """The panel on its own."""
    return alone(draw, source)


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel; the plotted numbers."""
    curves = source.curves("support_recovery")
    nearest = min(curves["ratio"].unique(), key=lambda ratio: abs(ratio - RATIO))
    data = band(curves[curves["ratio"] == nearest], METRIC)
    draw_bands(axes, data, source)
    # The first rounds of a method may be far worse than no fit; what counts is above.
    axes.set_ylim(*limits(data))
    axes.set(
        xlabel="round", ylabel="test $R^2$", title=f"$N/d = {nearest:g}$, mean ± sd of {data['n'].max()} run seeds"
    )
    data.insert(0, "ratio", nearest)
    return data
