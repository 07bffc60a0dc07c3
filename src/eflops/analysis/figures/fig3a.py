"""Figure 3a: test accuracy over rounds at one split, over run seeds."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis import accuracy_panel
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source

METRIC = accuracy_panel.METRIC
EXPERIMENT = "golub_runs"


def make(source: Source) -> Figure:
    """The panel on its own."""
    return accuracy_panel.alone(draw, source)


def draw(curve: Axes, final: Axes, source: Source) -> pd.DataFrame:
    """Draw the curves and, beside them, the final accuracies; the plotted numbers."""
    return accuracy_panel.draw_accuracy(curve, final, source, EXPERIMENT, "one split, mean ± sd of run seeds")


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a plotted number."""
    return accuracy_panel.trace(source, EXPERIMENT, keys)
