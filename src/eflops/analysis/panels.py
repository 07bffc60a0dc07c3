"""What the panels of one figure share, and a panel on its own."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.figure import Figure
from eflops.analysis.points import method_legend
from eflops.analysis.source import Source


def letter(axes: Axes, name: str) -> None:
    """The panel's letter, above its upper left corner."""
    axes.set_title(f"({name})", loc="left", fontweight="bold")


def alone(draw: Callable[[Axes, Source], pd.DataFrame], source: Source, columns: int = 3) -> Figure:
    """A panel with a curve a method as a figure of its own, with the methods below it."""
    drawing, axes = plt.subplots(figsize=(3.5, 3.0))
    data = draw(axes, source)
    method_legend(drawing, data["method"], source, columns)
    return Figure(drawing, data)
