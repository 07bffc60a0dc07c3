"""Ablations of one setting: E-FLoPS with all else as chosen, as a small table and a panel."""

from dataclasses import dataclass, field

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from eflops.analysis.figure import Figure
from eflops.analysis.points import CROSS
from eflops.analysis.source import Source
from eflops.analysis.summary import METRIC_LABELS, best, bold, seeds_and_draws, spread, summarise_all
from eflops.analysis.table import Table

# Dark and light, so that the two are told apart without colour as well; neither is the colour of a method.
STYLES = {"support_recovery": ("#4D4D4D", "o"), "r2": ("#CC79A7", "s")}


@dataclass(frozen=True)
class Ablation:
    """An experiment that varies one setting: the gathered column that holds it, and what its values are called."""

    experiment: str
    column: str
    label: str
    words: dict[str, str] = field(default_factory=dict)

    def summary(self, source: Source) -> pd.DataFrame:
        """Support recovery and R2 of every value, the values in the experiment's order."""
        runs = source.runs(self.experiment)
        order = {value: place for place, value in enumerate(runs[self.column].unique())}
        data = summarise_all(runs, list(STYLES), ["ratio", "method", self.column])
        return data.sort_values(self.column, key=lambda values: values.map(order), kind="stable", ignore_index=True)

    def name(self, value: object) -> str:
        """What a value is called in print."""
        return self.words.get(str(value), f"{value:g}" if isinstance(value, float) else str(value))

    def table(self, source: Source) -> Table:
        """One row a value; the best in bold."""
        data = self.summary(source)
        shown = {self.label: [self.name(value).replace("\n", " ") for value in data[self.column].unique()]}
        for metric, cells in data.groupby("metric", sort=False):
            cells = cells.set_index(self.column)
            first = best(cells)
            shown[METRIC_LABELS[str(metric)]] = [
                bold(spread(*row[["mean", "sd", "n", "diverged"]]), value in first) for value, row in cells.iterrows()
            ]
        note = (
            f"{source.labels[data['method'].iloc[0]]} at N/d {data['ratio'].iloc[0]:g}, all other settings as chosen. "
            f"Mean ± standard deviation over {seeds_and_draws(source.runs(self.experiment))}; the best is bold."
        )
        return Table(data, pd.DataFrame(shown), f"Ablation: {self.label}", note)

    def figure(self, source: Source) -> Figure:
        """The panel on its own."""
        drawing, axes = plt.subplots(figsize=(3.0, 2.6))
        data = self.draw(axes, source)
        axes.set_ylabel(f"mean ± sd of {data['n'].max()} run seeds")
        drawing.legend(loc="outside lower center", ncols=2)
        return Figure(drawing, data)

    def draw(self, axes: Axes, source: Source) -> pd.DataFrame:
        """Means with one standard deviation; a value whose every run diverged is said to have done so."""
        data = self.summary(source)
        values = list(data[self.column].unique())
        for shift, (metric, (colour, marker)) in zip((-0.1, 0.1), STYLES.items(), strict=True):
            cells = data[data["metric"] == metric]
            places = [values.index(value) + shift for value in cells[self.column]]
            axes.errorbar(
                places,
                cells["mean"],
                yerr=cells["sd"],
                fmt=marker,
                color=colour,
                markersize=4,
                capsize=2,
                linewidth=1,
                label={"support_recovery": "support recovery", "r2": "test $R^2$"}[metric],
            )
        for place, value in enumerate(values):
            _mark_diverged(axes, place, data[data[self.column] == value].iloc[0])
        axes.set(xlabel=self.label, xlim=(-0.5, len(values) - 0.5), ylim=(min(0.0, axes.get_ylim()[0]), 1.0))
        axes.set_xticks(range(len(values)), [self.name(value) for value in values])
        return data


def _mark_diverged(axes: Axes, place: int, cell: pd.Series) -> None:
    if cell["diverged"]:
        words = f"{CROSS}\n{cell['diverged']}/{cell['n']}\ndiverged"
        axes.annotate(
            words, (place, 0.98), xycoords=("data", "axes fraction"), ha="center", va="top", fontsize=6, color="0.35"
        )
