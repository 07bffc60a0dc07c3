"""The effect of the temperature T of the entropy term: over all settings of a crossed search, and at the best setting
of each T."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from eflops.analysis.cells import Row, difference, number, probability, rows_by, spread
from eflops.analysis.figure import Axes, Drawing, Figure, canvas, letter, sentence
from eflops.analysis.paper import OVERLAP
from eflops.analysis.search import WORST
from eflops.analysis.source import Source
from eflops.analysis.stats.paired import compare
from eflops.analysis.stats.summary import summarise, units_in_words, with_metric
from eflops.analysis.stats.temperature import EFFECT, LIMITED, effects, twins
from eflops.analysis.stats.trials import TEMPERATURE
from eflops.analysis.style import METRIC_AXES, METRIC_STYLES
from eflops.analysis.table import Table
from eflops.analysis.text import MINUS, short

NAMES = {"r2": "test R²", "support_recovery": "recovery", "accuracy": "accuracy", "auc": "AUC"}
NAMES[LIMITED] = f"test R², at least {WORST['r2']:g}".replace("-", MINUS)
METRICS = ("support_recovery", "r2")
PROFILE = ["case", "temperature", "metric", "mean", "sd", "n", "diverged", "difference", "low", "high", "p", "units"]
LIMIT = "a lower R² counts as this, as that of a diverged run does in the search, so that no single setting decides."
NOTHING = "No run of the search has a counterpart at T = 0."


def search_effects(source: Source, search: str, metrics: Sequence[str], splits: bool = False) -> pd.DataFrame:
    """The effects of T over all settings of a search; splits: whether the draws are splits of the same samples."""
    runs = source.search_runs(search)
    if LIMITED in metrics:
        runs = runs.assign(**{LIMITED: runs["r2"].clip(lower=WORST["r2"])})
    return effects(twins(runs, metrics), OVERLAP if splits else 0.0)


def table(source: Source, search: str, metrics: Sequence[str], splits: bool = False) -> Table:
    """One row per group of settings and metric, one column per T: the mean difference from T = 0 with its interval."""
    data = search_effects(source, search, metrics, splits)
    rows = []
    for (group, metric), part in data.groupby(["group", "metric"], sort=False):
        cells = rows_by(part, "temperature")
        row: Row = {"settings": str(group), "metric": NAMES[str(metric)]}
        row["n"] = number(next(iter(cells.values())), "settings", "{:.0f}")
        for temperature, cell in cells.items():
            row[f"T = {temperature:g}"] = difference(cell, "mean")
        rows.append(row)
    unit = "split" if splits else "draw"
    draws = int(data["draws"].max()) if len(data) else 0
    left_out = int(data["missing"].max()) if len(data) else 0
    note = (
        f"Differences from T = 0 at the same setting, {unit} and run seed. Mean and 95 % interval over "
        f"n settings and {draws} {unit}s, both as random effects. All settings that the search "
        "drew are included, admitted or not."
        + (" Rows without N/d show the mean over all N/d of the search." if "N/d" in set(data["by"]) else "")
        + (f" Settings with a diverged run are left out, at most {left_out}." if left_out else "")
        + (f" {NAMES[LIMITED][0].upper()}{NAMES[LIMITED][1:]}: {LIMIT}" if LIMITED in metrics else "")
    )
    return Table(data, rows, note if rows else NOTHING, columns=() if rows else ["settings"])


def profile_cells(source: Source, experiment: str, zero: str) -> pd.DataFrame:
    """One row per metric and case: its mean over draws and N/d, and its difference from the case `zero`, paired.

    A draw counts with the mean over all N/d; a pair is one draw.
    """
    runs = source.runs(experiment)
    for metric in METRICS:
        runs = with_metric(runs, metric)
    by_case = runs.groupby("variant", sort=False)[TEMPERATURE].first()
    rows = []
    for metric in METRICS:
        means = runs.groupby(["variant", "draw"])[metric].mean().unstack("variant")
        over_draws = summarise(_draws(runs, metric), metric, ["variant"]).set_index("variant")
        for case, temperature in by_case.items():
            test = compare(means[case], means[zero], ranks=False)
            test = dict.fromkeys(test, float("nan")) if case == zero else test
            cell = over_draws.loc[case]
            values = {"case": case, "temperature": temperature, "metric": metric, **cell, **test}
            rows.append({name: values[name] for name in PROFILE})
    return pd.DataFrame(rows, columns=PROFILE)


def _draws(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One row per case and draw: the metric's mean over N/d, diverged if any of its runs did."""
    groups = runs.groupby(["variant", "draw"], as_index=False)
    means = groups.agg(**{metric: (metric, "mean"), "lost": ("status", lambda each: (each == "diverged").any())})
    return means.assign(status=means["lost"].map({True: "diverged", False: "finished"}), seed=0)


def profile(source: Source, zero: str, names: Mapping[str, str]) -> Table:
    """The results of the best setting at each T on draws that no search used; zero: the case at T = 0; names: labels of
    the cases."""
    data = profile_cells(source, source.experiment, zero)
    rows = []
    by_case = dict(iter(data.groupby("case", sort=False)))
    for case in sorted(by_case, key=[*names, *by_case].index):
        cells = rows_by(by_case[case], "metric")
        first = next(iter(cells.values()))
        row: Row = {"settings": names.get(str(case), str(case)), "T": number(first, "temperature", short)}
        for metric, cell in cells.items():
            row[NAMES[metric]] = spread(cell)
            row[f"{NAMES[metric]}, minus the best at T = 0"] = difference(cell)
            row[f"{NAMES[metric]}, p"] = probability(cell, "p")
        rows.append(row)
    runs = source.runs(source.experiment)
    runs = runs.assign(case=runs["variant"], temperature=runs[TEMPERATURE])
    note = (
        f"Mean ± standard deviation over {units_in_words(runs)}, each the mean over all N/d; differences are paired by "
        "draw, with 95 % intervals. The settings were chosen on the draws of the search, not on these."
    )
    return Table(data, rows, note, runs)


def figure(source: Source, search: str, zero: str) -> Figure:
    """The change from T = 0 over T by N/d, in recovery and R2, and the results of the best setting at each T."""
    metrics = ("support_recovery", LIMITED)
    over_settings = search_effects(source, search, metrics)
    over_settings = over_settings[over_settings["by"].isin(["all", "N/d"])]
    cells = profile_cells(source, source.experiment, zero)
    at_best = cells[cells["case"].str.fullmatch(r"t[0-9_]+")]
    data = pd.concat([over_settings.assign(panel="settings"), at_best.assign(panel="profile")], ignore_index=True)

    def paint() -> Drawing:
        if over_settings.empty:
            return sentence(NOTHING)
        drawing, axes = canvas(1, 3, size=(7.0, 2.7))
        for axis, metric in zip(axes, metrics, strict=False):
            _draw_effects(axis, over_settings[over_settings["metric"] == metric], metric)
        _draw_profile(axes[2], at_best)
        for axis, name in zip(axes, "abc", strict=True):
            letter(axis, name)
        handles, labels = axes[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=6)
        return drawing

    return Figure(
        data.reindex(columns=["panel", *dict.fromkeys([*EFFECT, *PROFILE])]), source.runs(source.experiment), paint
    )


def _draw_effects(axes: Axes, cells: pd.DataFrame, metric: str) -> None:
    """One line per N/d, from scarce (dark) to ample (light), and the mean over all N/d in black and dashed."""
    from matplotlib import colormaps

    groups = list(cells.groupby("group", sort=False))
    colours = colormaps["viridis"]
    for index, (group, part) in enumerate(groups):
        all_ratios = part["by"].iloc[0] == "all"
        colour = "k" if all_ratios else colours((index - 1) / max(len(groups) - 1, 1))
        label, line = ("all N/d", "--") if all_ratios else (str(group), "-")
        look = {"color": colour, "label": label, "linestyle": line, "marker": "o"}
        _draw_line(axes, part, "mean", index - len(groups) / 2, look)
    axes.set(ylabel="change from $T = 0$, all settings", title=METRIC_AXES.get(metric, "test $R^2$, at least $-1$"))


def _draw_profile(axes: Axes, cells: pd.DataFrame) -> None:
    for index, (metric, part) in enumerate(cells[cells["temperature"] > 0].groupby("metric", sort=False)):
        colour, marker = METRIC_STYLES[str(metric)]
        look = {"color": colour, "label": METRIC_AXES[str(metric)], "marker": marker}
        _draw_line(axes, part, "difference", index - 0.5, look)
    axes.set(ylabel="change from the best at $T = 0$", title="best setting at each $T$")
    axes.legend(loc="best")


def _draw_line(axes: Axes, part: pd.DataFrame, value: str, shift: float, look: Mapping[str, Any]) -> None:
    """Draw values over T on a log scale with their intervals, shifted slightly so that intervals do not overlap."""
    part = part.sort_values("temperature")
    spans = [part[value] - part["low"], part["high"] - part[value]]
    axes.errorbar(part["temperature"] * 1.06**shift, part[value], yerr=spans, markersize=3, linewidth=1, **look)
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks(part["temperature"], [f"{each:g}" for each in part["temperature"]], fontsize=6.5)
    axes.minorticks_off()
    axes.set_xlabel("temperature $T$")
