"""Figure 3b: test accuracy over rounds at one run seed, over splits."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis import accuracy_panel
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source

METRIC = accuracy_panel.METRIC
EXPERIMENT = "golub_splits"


def make(source: Source) -> Figure:
    """The panel on its own."""
    return accuracy_panel.alone(draw, source)


def draw(curve: Axes, final: Axes, source: Source) -> pd.DataFrame:
    """Draw the curves and, beside them, the final accuracies; the plotted numbers."""
    return accuracy_panel.draw_accuracy(curve, final, source, EXPERIMENT, "one run seed, mean ± sd of splits")


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a plotted number."""
    return accuracy_panel.trace(source, EXPERIMENT, keys)
