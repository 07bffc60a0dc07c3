"""Figure 2: accuracy, communication and operations on MNIST."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from eflops.analysis.figure import Figure
from eflops.analysis.figures import fig2a, fig2b, fig2c, fig2d
from eflops.analysis.panels import letter
from eflops.analysis.points import method_legend
from eflops.analysis.source import Source

PANELS = {"a": fig2a, "b": fig2b, "c": fig2c, "d": fig2d}
COLUMNS = ["panel", "method", "metric", "phase", "round", "mean", "sd", "n", "diverged"]


def make(source: Source) -> Figure:
    """The four panels with their letters and one legend."""
    drawing, axes = plt.subplots(2, 2, figsize=(7.0, 5.4))
    parts = []
    for (name, panel), place in zip(PANELS.items(), axes.flat, strict=True):
        metric = getattr(panel, "METRIC", None)
        part = panel.draw(place, source).assign(panel=name)
        parts.append(part if metric is None else part.assign(metric=metric))
        letter(place, name)
    data = pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)
    method_legend(drawing, data["method"].unique(), source, columns=6)
    return Figure(drawing, data)


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a plotted number: those that its panel names."""
    if keys["panel"] != "a":
        return PANELS[keys["panel"]].trace(source, keys)
    curves = source.curves("mnist")
    chosen = (curves["method"] == keys["method"]) & (curves["phase"] == keys["phase"])
    chosen &= curves["round"] == keys["round"]
    return curves[chosen].assign(value=curves.loc[chosen, fig2a.METRIC])
