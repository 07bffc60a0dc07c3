"""What entropy changes over all settings of a search, tuned or not: E-FLoPS and T = 0, twin by twin."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from eflops.analysis.figure import Figure, canvas, say
from eflops.analysis.source import Source, no_runs
from eflops.analysis.stats.trials import METRICS, TEMPERATURE, entropy_groups, entropy_pairs, over_ratios
from eflops.analysis.table import Table
from eflops.analysis.text import difference, share, with_minus

NAMES = {"r2": "R²", "support_recovery": "recovery"}
COLOURS = {"r2": "#CC79A7", "support_recovery": "#4D4D4D"}
NOTHING = "No trial of E-FLoPS has a twin at T = 0."


def table(source: Source, search: str) -> Table:
    """One row per group of settings: mean and median difference, and in how many settings entropy helps."""
    data = entropy_groups(entropy_pairs(source.trials(search)))
    rows = []
    for group, found in data.groupby("group", sort=False):
        row = {"settings": group, "n": f"{found['settings'].max():.0f}"}
        for _, cell in found.iterrows():
            name = NAMES[cell["metric"]]
            row[f"{name}: mean [95 % interval]"] = difference(cell["mean"], cell["mean_low"], cell["mean_high"])
            row[f"{name}: median"] = with_minus("{:+.3f}", cell["median"])
            row[f"{name}: helps / hurts"] = f"{cell['helps']:.0f} / {cell['hurts']:.0f}"
            row[f"{name}: share helped"] = _share(cell)
        rows.append(row)
    shown = pd.DataFrame(rows) if rows else pd.DataFrame(columns=["settings", "n"])
    note = (
        "Differences of twins: a trial of E-FLoPS less the trial of T = 0 with the same settings but for T, each the "
        "mean over the search's draws and N/d. Nobody tuned any of them. n settings; share helped: of the settings in "
        "which entropy changes anything, with Wilson's 95 % interval. Admitted: with few enough open gates for the "
        "search, with and without entropy."
    )
    return Table(data, shown.fillna("-"), note if rows else NOTHING, no_runs())


def figure(source: Source, search: str) -> Figure:
    """Every setting's difference over T, and below it means and shares by groups of settings."""
    pairs = entropy_pairs(source.trials(search))
    groups, settings = entropy_groups(pairs), over_ratios(pairs)
    data = pd.concat([groups.assign(panel="groups"), settings.assign(panel="settings")], ignore_index=True)

    def paint() -> Drawing:
        if groups.empty:
            drawing, axes = canvas()
            say(axes, NOTHING)
            return drawing
        drawing, _ = canvas(size=(7.4, 6.0))
        drawing.clear()
        left, right = METRICS
        mosaic = [[left, left, right, right], [f"{name}, {kind}" for name in METRICS for kind in ("mean", "share")]]
        axes = drawing.subplot_mosaic(mosaic, height_ratios=[1, 1.7])
        for metric in METRICS:
            _draw_settings(axes[metric], settings[settings["metric"] == metric], metric)
            own = groups[groups["metric"] == metric]
            _draw_means(axes[f"{metric}, mean"], own, metric, labels=metric == left)
            _draw_shares(axes[f"{metric}, share"], own, metric)
        return drawing

    return Figure(data, no_runs(), paint)


def _share(cell: pd.Series) -> str:
    if pd.isna(cell["share"]):
        return "-"
    return f"{share(cell['share'])} [{share(cell['share_low'])}, {share(cell['share_high'])}]"


def _draw_settings(axes: Axes, settings: pd.DataFrame, metric: str) -> None:
    """One point per setting, hollow where it is not admitted."""
    for chosen, face in ((True, COLOURS[metric]), (False, "none")):
        own = settings[settings["admitted"] == chosen]
        look: dict[str, Any] = {
            "s": 11,
            "facecolors": face,
            "edgecolors": COLOURS[metric],
            "linewidths": 0.7,
            "alpha": 0.8,
        }
        axes.scatter(own[TEMPERATURE], own["difference"], label="admitted" if chosen else "not admitted", **look)
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set(xscale="log", xlabel="temperature $T$", ylabel=f"{NAMES[metric]}, less that at $T = 0$")
    axes.legend(loc="lower left", handletextpad=0.2)


def _draw_means(axes: Axes, groups: pd.DataFrame, metric: str, labels: bool) -> None:
    """Means with their intervals, and medians as upright dashes."""
    places = range(len(groups))
    spans = [groups["mean"] - groups["mean_low"], groups["mean_high"] - groups["mean"]]
    axes.errorbar(groups["mean"], places, xerr=spans, fmt="o", color=COLOURS[metric], markersize=3.5, linewidth=1)
    axes.plot(groups["median"], places, "|", color="k", markersize=7)
    axes.axvline(0, color="0.4", linewidth=0.8)
    axes.set(xlabel="mean, median (|)", title=NAMES[metric])
    _rows(axes, groups["group"] if labels else None, len(groups))


def _draw_shares(axes: Axes, groups: pd.DataFrame, metric: str) -> None:
    """The share of settings in which entropy helps, with its interval."""
    spans = [groups["share"] - groups["share_low"], groups["share_high"] - groups["share"]]
    look: dict[str, Any] = {"fmt": "s", "color": COLOURS[metric], "markersize": 3.5, "linewidth": 1}
    axes.errorbar(groups["share"], range(len(groups)), xerr=spans, **look)
    axes.axvline(0.5, color="0.4", linewidth=0.8)
    axes.set(xlabel="share helped", title=NAMES[metric], xlim=(0, 1))
    _rows(axes, None, len(groups))


def _rows(axes: Axes, names: pd.Series | None, count: int) -> None:
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_yticks(range(count), [] if names is None else list(names), fontsize=6.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color="0.93", linewidth=0.6)
    axes.set_axisbelow(True)
