"""The ablations of single settings side by side."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from eflops.analysis.ablations import GATE, LITERAL, PRUNE, RECOVERY, STEPS
from eflops.analysis.figure import Figure
from eflops.analysis.panels import letter
from eflops.analysis.source import Source

PANELS = (RECOVERY, PRUNE, GATE, STEPS, LITERAL)


def make(source: Source) -> Figure:
    """One panel a setting, on one scale."""
    widths = [len(panel.summary(source)) / 2 + 0.6 for panel in PANELS]
    drawing, axes = plt.subplots(1, len(PANELS), figsize=(10.0, 2.6), sharey=True, width_ratios=widths)
    parts = []
    for name, panel, place in zip("abcde", PANELS, axes, strict=True):
        data = panel.draw(place, source).rename(columns={panel.column: "value"})
        parts.append(data.assign(setting=panel.column.removeprefix("set_")))
        letter(place, name)
    axes[0].set_ylabel(f"mean ± sd of {parts[0]['n'].max()} run seeds")
    drawing.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    data = pd.concat(parts, ignore_index=True)
    return Figure(drawing, data[["setting", "value", *data.columns.drop(["setting", "value"])]])


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a plotted number: those of the panel that varies its setting."""
    panel = next(panel for panel in PANELS if panel.column.removeprefix("set_") == keys["setting"])
    runs = source.runs(panel.experiment)
    chosen = runs[runs[panel.column].map(str) == str(keys["value"])]
    return chosen.assign(value=chosen[keys["metric"]])
