"""Figure 3: test accuracy on the leukaemia data, over run seeds and over splits."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from eflops.analysis import accuracy_panel
from eflops.analysis.figure import Figure
from eflops.analysis.figures import fig3a, fig3b
from eflops.analysis.panels import letter
from eflops.analysis.points import method_legend
from eflops.analysis.source import Source

METRIC = accuracy_panel.METRIC
PANELS = {"a": fig3a, "b": fig3b}


def make(source: Source) -> Figure:
    """Both panels with their letters and one legend."""
    drawing, axes = plt.subplots(1, 4, figsize=(7.6, 3.0), width_ratios=[2.6, 1, 2.6, 1])
    parts = []
    for name, panel, curve, final in zip(PANELS, PANELS.values(), axes[::2], axes[1::2], strict=True):
        parts.append(panel.draw(curve, final, source).assign(panel=name))
        letter(curve, name)
    data = pd.concat(parts, ignore_index=True)
    method_legend(drawing, data["method"], source, columns=6)
    return Figure(drawing, data[["panel", *accuracy_panel.COLUMNS]])


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a plotted number."""
    return PANELS[keys["panel"]].trace(source, keys)
