"""The ablations of single settings side by side."""

import matplotlib.pyplot as plt
import pandas as pd

from eflops.analysis.ablations import GATE, LITERAL, PRUNE, RECOVERY, STEPS
from eflops.analysis.figure import Figure
from eflops.analysis.panels import letter
from eflops.analysis.source import Source


def make(source: Source) -> Figure:
    """One panel a setting, on one scale."""
    panels = (RECOVERY, PRUNE, GATE, STEPS, LITERAL)
    widths = [len(panel.summary(source)) / 2 + 0.6 for panel in panels]
    drawing, axes = plt.subplots(1, len(panels), figsize=(10.0, 2.6), sharey=True, width_ratios=widths)
    parts = []
    for name, panel, place in zip("abcde", panels, axes, strict=True):
        data = panel.draw(place, source).rename(columns={panel.column: "value"})
        parts.append(data.assign(setting=panel.column.removeprefix("set_")))
        letter(place, name)
    drawing.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    data = pd.concat(parts, ignore_index=True)
    return Figure(drawing, data[["setting", "value", *data.columns.drop(["setting", "value"])]])
