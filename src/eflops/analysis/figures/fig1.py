"""Figure 1: test R2 over rounds, N/d and learning rates."""

import matplotlib.pyplot as plt
import pandas as pd

from eflops.analysis.figure import Figure
from eflops.analysis.figures import fig1a, fig1b, fig1c, fig1d
from eflops.analysis.panels import letter
from eflops.analysis.points import method_legend
from eflops.analysis.source import Source

METRIC = "r2"
KEYS = ["panel", "method", "ratio", "phase", "round", "set_rate", "set_gate_rate"]


def make(source: Source) -> Figure:
    """The four panels with their letters and one legend."""
    drawing, axes = plt.subplots(2, 2, figsize=(7.0, 5.4))
    parts = []
    for name, panel, place in zip("abcd", (fig1a, fig1b, fig1c, fig1d), axes.flat, strict=True):
        parts.append(panel.draw(place, source).assign(panel=name))
        letter(place, name)
    data = pd.concat(parts, ignore_index=True)
    method_legend(drawing, data["method"].unique(), source, columns=6)
    return Figure(drawing, data[[*KEYS, "mean", "sd", "n", "diverged"]])
