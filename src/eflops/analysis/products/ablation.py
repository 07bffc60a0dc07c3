"""Ablations: one method with one setting varied and all others as chosen, as a table and as a panel."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict, Unpack

import pandas as pd

from eflops.analysis.cells import Row, bold, difference, rows_by, spread
from eflops.analysis.figure import Axes, Drawing, Figure, Panel, canvas, letter
from eflops.analysis.lines import CROSS
from eflops.analysis.source import Source
from eflops.analysis.stats.paired import differences_from
from eflops.analysis.stats.summary import (
    METRIC_LABELS,
    best,
    seeds_and_draws,
    summarise_all,
    too_few,
    unit_column,
    units_named,
)
from eflops.analysis.style import METRIC_AXES, METRIC_STYLES
from eflops.analysis.table import Table
from eflops.analysis.text import short

METRICS = list(METRIC_STYLES)
GAIN = {"difference": "gain", "low": "gain_low", "high": "gain_high"}


class Setting(TypedDict):
    """The setting that an experiment varies: its gathered column, its label, and the labels of its values."""

    column: str
    label: str
    words: NotRequired[Mapping[str, str]]


@dataclass(frozen=True)
class Ablation:
    """The runs of an experiment that varies one setting (`Setting`)."""

    runs: pd.DataFrame
    column: str
    label: str
    words: Mapping[str, str] = field(default_factory=dict)

    def summary(self) -> pd.DataFrame:
        """Support recovery and R2 of every value, in the experiment's order.

        Each row also has the difference from the first value, paired by draw, with its 95 % interval.
        """
        order = {value: rank for rank, value in enumerate(self.runs[self.column].unique())}
        data = summarise_all(self.runs, METRICS, ["ratio", "method", self.column])
        gains = differences_from(next(iter(order)), self.runs, METRICS, [], self.column).rename(columns=GAIN)
        data = data.merge(gains, on=["metric", self.column], how="left")
        return data.sort_values(self.column, key=lambda values: values.map(order), kind="stable", ignore_index=True)

    def name(self, value: object) -> str:
        """The label of a value."""
        return self.words.get(str(value), short(value))

    def panel(self) -> Panel:
        """Means with one standard deviation."""
        data = self.summary()
        return Panel(data, self.runs, lambda axes: self._draw(axes, data))

    def _draw(self, axes: Axes, data: pd.DataFrame) -> None:
        values = list(data[self.column].unique())
        for shift, (metric, (colour, marker)) in zip((-0.1, 0.1), METRIC_STYLES.items(), strict=True):
            cells = data[data["metric"] == metric]
            x = [values.index(value) + shift for value in cells[self.column]]
            look: dict[str, Any] = {"color": colour, "markersize": 4, "capsize": 2, "linewidth": 1}
            axes.errorbar(x, cells["mean"], yerr=cells["sd"], fmt=marker, label=METRIC_AXES[metric], **look)
        for index, value in enumerate(values):
            cell = data[data[self.column] == value].iloc[0]
            if cell["diverged"]:
                words = f"{CROSS}\n{cell['diverged']}/{cell['n']}\ndiverged"
                look = {"ha": "center", "va": "top", "fontsize": 6, "color": "0.35"}
                axes.annotate(words, (index, 0.98), xycoords=("data", "axes fraction"), **look)
        axes.set(xlabel=self.label, xlim=(-0.5, len(values) - 0.5), ylim=(min(0.0, axes.get_ylim()[0]), 1.0))
        axes.set_xticks(range(len(values)), [self.name(value) for value in values])


def one_method(source: Source, experiment: str) -> tuple[pd.DataFrame, str]:
    """The runs of the paper's method (or the config's first) at the first N/d, and a note on what is left out."""
    runs = source.runs(experiment)
    method, *others = source.from_reference(runs["method"])
    ratio, *further = sorted(runs["ratio"].unique())
    left = [*(source.labels[name] for name in others), *(f"N/d {value:g}" for value in further)]
    words = f" Not shown: {', '.join(left)}." if left else ""
    return runs[(runs["method"] == method) & (runs["ratio"] == ratio)], words


def table(source: Source, **setting: Unpack[Setting]) -> Table:
    """One row per value of a setting: support recovery and test R2; the best is bold."""
    runs, left_out = one_method(source, source.experiment)
    ablation = Ablation(runs, **setting)
    data = ablation.summary()
    of, rows = rows_by(data, "metric", ablation.column), []
    first = {name: best(cells.set_index(ablation.column)) for name, cells in data.groupby("metric")}
    for value in data[ablation.column].unique():
        row: Row = {ablation.label: ablation.name(value).replace("\n", " ")}
        for metric in data["metric"].unique():
            label, cell = METRIC_LABELS[metric], of[metric, value]
            row[label] = bold(spread(cell), value in first[metric])
            row[f"{label}, difference"] = difference(cell, *GAIN.values())
        rows.append(row)
    note = (
        f"{source.labels[data['method'].iloc[0]]} at N/d {data['ratio'].iloc[0]:g}, all other settings as chosen. "
        f"Mean ± standard deviation over {seeds_and_draws(runs)}; the best is bold. Differences are from the first "
        f"row, paired by {'draw' if unit_column(runs) == 'draw' else 'run seed'}, with their 95 % interval."
        f"{too_few(data['units'])}{left_out}"
    )
    return Table(data, rows, note, runs)


def figure(source: Source, **setting: Unpack[Setting]) -> Figure:
    """Support recovery and test R2 of every value of a setting."""
    panel = Ablation(one_method(source, source.experiment)[0], **setting).panel()

    def paint() -> Drawing:
        drawing, axes = canvas(size=(3.0, 2.6))
        panel.draw(axes)
        axes.set_ylabel(f"mean ± sd over {units_named(panel.runs)}")
        drawing.legend(loc="outside lower center", ncols=2)
        return drawing

    return Figure(panel.data, panel.runs, paint)


def together(source: Source, settings: Mapping[str, Setting]) -> Figure:
    """The ablations of single settings side by side on one scale; `settings` maps each experiment to its setting."""
    ablations = [Ablation(one_method(source, experiment)[0], **setting) for experiment, setting in settings.items()]
    panels = [ablation.panel() for ablation in ablations]
    parts, runs = [], []
    for ablation, panel in zip(ablations, panels, strict=True):
        name = ablation.column.removeprefix("set_")
        parts.append(panel.data.rename(columns={ablation.column: "value"}).assign(setting=name))
        runs.append(panel.runs.assign(setting=name, value=panel.runs[ablation.column]))
    data = pd.concat(parts, ignore_index=True)

    def paint() -> Drawing:
        rows = -(-(len(panels) + 1) // 3)
        drawing, axes = canvas(rows, 3, size=(7.0, 2.2 * rows), sharey=True, squeeze=False)
        panel_axes = list(axes.flat)
        for name, panel, axis in zip("abcdefghijkl", panels, panel_axes, strict=False):
            panel.draw(axis)
            letter(axis, name)
        for axis in axes[:, 0]:
            axis.set_ylabel(f"mean ± sd over {units_named(panels[0].runs)}")
        for free in panel_axes[len(panels) :]:
            free.set_axis_off()
        panel_axes[len(panels)].legend(*panel_axes[0].get_legend_handles_labels(), loc="center")
        return drawing

    columns = ["setting", "value", *data.columns.drop(["setting", "value"])]
    return Figure(data[columns], pd.concat(runs, ignore_index=True), paint)
