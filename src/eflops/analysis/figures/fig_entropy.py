"""Ablation: the temperature of the entropy term, crossed with the rate of the gates, as heat maps."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from eflops.analysis.entropy import GATE_RATE, METRICS, TEMPERATURE, entropy_grid, is_clear
from eflops.analysis.figure import Figure
from eflops.analysis.panels import letter
from eflops.analysis.source import Source

NAMES = {"support_recovery": "support recovery", "r2": "test $R^2$"}
# Differences below this are as pale as their noise.
LEAST_BOUND = 0.05


def make(source: Source) -> Figure:
    """A map a metric and N/d: the number is the mean, the colour its difference from T = 0 at the same gate rate."""
    cells = entropy_grid(source)
    ratios = sorted(cells["ratio"].unique())
    size = (0.9 + 2.75 * len(ratios), 0.9 + 2.2 * len(METRICS))
    drawing, axes = plt.subplots(len(METRICS), len(ratios), figsize=size, squeeze=False)
    panels = [(metric, ratio) for metric in METRICS for ratio in ratios]
    for name, (metric, ratio), place in zip("abcdefgh", panels, axes.flat, strict=False):
        image = draw_map(place, cells[(cells["metric"] == metric) & (cells["ratio"] == ratio)], _bound(cells, metric))
        place.set_title(f"{NAMES[metric]}, $N/d = {ratio:g}$")
        letter(place, name)
        if ratio == ratios[-1]:
            drawing.colorbar(image, ax=place, label="difference from $T = 0$")
    drawing.supxlabel(f"mean of {cells['n'].max()} run seeds; †: 95 % interval of the difference without 0", fontsize=7)
    return Figure(drawing, cells)


def draw_map(axes: Axes, cells: pd.DataFrame, bound: float) -> AxesImage:
    """One map; a cell in which runs diverged says how many, and is grey where all did."""
    temperatures, rates = (sorted(cells[column].unique()) for column in (TEMPERATURE, GATE_RATE))
    gains = np.full((len(temperatures), len(rates)), np.nan)
    for _, cell in cells.iterrows():
        row, column = temperatures.index(cell[TEMPERATURE]), rates.index(cell[GATE_RATE])
        gains[row, column] = 0.0 if cell[TEMPERATURE] == 0 and pd.notna(cell["mean"]) else cell["gain"]
        strong = abs(gains[row, column]) > 0.5 * bound
        axes.text(
            column, row, _words(cell), ha="center", va="center", fontsize=6.5, color="white" if strong else "black"
        )
    image = axes.imshow(gains, cmap="PuOr_r", vmin=-bound, vmax=bound, aspect="auto", origin="lower")
    axes.set_facecolor("0.85")
    axes.set_xticks(range(len(rates)), [f"{value:g}" for value in rates])
    axes.set_yticks(range(len(temperatures)), [f"{value:g}" for value in temperatures])
    axes.set(xlabel=r"gate rate $\eta_\phi$", ylabel="temperature $T$")
    axes.spines[["top", "right"]].set_visible(True)
    return image


def _words(cell: pd.Series) -> str:
    if cell["diverged"] == cell["n"]:
        return "diverged"
    lost = f"\n{cell['diverged']}/{cell['n']} div." if cell["diverged"] else ""
    return f"{cell['mean']:.3f}{'†' if is_clear(cell) else ''}{lost}"


def _bound(cells: pd.DataFrame, metric: str) -> float:
    """The largest difference of a metric, so that its maps share one colour scale."""
    largest = cells.loc[cells["metric"] == metric, "gain"].abs().max()
    return max(LEAST_BOUND, float(np.nan_to_num(largest)))
