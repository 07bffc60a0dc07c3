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
    drawing, axes = plt.subplots(2, 3, figsize=(7.0, 4.4), sharey=True)
    *places, free = axes.flat
    free.set_axis_off()
    parts = []
    for name, panel, place in zip("abcde", PANELS, places, strict=True):
        data = panel.draw(place, source).rename(columns={panel.column: "value"})
        parts.append(data.assign(setting=panel.column.removeprefix("set_")))
        letter(place, name)
    for place in axes[:, 0]:
        place.set_ylabel(f"mean ± sd of {parts[0]['n'].max()} run seeds")
    free.legend(*places[0].get_legend_handles_labels(), loc="center")
    data = pd.concat(parts, ignore_index=True)
    return Figure(drawing, data[["setting", "value", *data.columns.drop(["setting", "value"])]])


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a plotted number: those of the panel that varies its setting."""
    panel = next(panel for panel in PANELS if panel.column.removeprefix("set_") == keys["setting"])
    runs = source.runs(panel.experiment)
    chosen = runs[runs[panel.column].map(str) == str(keys["value"])]
    return chosen.assign(value=chosen[keys["metric"]])
