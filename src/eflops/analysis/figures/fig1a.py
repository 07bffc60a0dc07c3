"""Figure 1a: test R2 over rounds at one N/d."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.curves import band, draw_bands
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source

RATIO = 0.64


def make(source: Source) -> Figure:
    """The panel on its own."""
    drawing, axes = plt.subplots(figsize=(3.5, 2.6))
    return Figure(drawing, draw(axes, source))


def draw(axes: Axes, source: Source) -> pd.DataFrame:
    """Draw the panel; the plotted numbers."""
    curves = source.curves("support_recovery")
    nearest = min(curves["ratio"].unique(), key=lambda ratio: abs(ratio - RATIO))
    data = band(curves[curves["ratio"] == nearest], "r2")
    draw_bands(axes, data, source)
    axes.set(xlabel="round", ylabel="test $R^2$", title=f"$N/d = {nearest:g}$")
    return data
