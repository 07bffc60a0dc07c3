"""The trials of searches: the chosen settings, and the settings nearest the paper."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from eflops.analysis.cells import Row, number
from eflops.analysis.figure import Axes, Drawing, Figure, canvas, patch_key, sentence
from eflops.analysis.source import Source, no_runs
from eflops.analysis.stats.trials import SETTING, admitted, binned, drawn, nearest, settings_of
from eflops.analysis.style import style
from eflops.analysis.table import Table
from eflops.analysis.text import MISSING, decimals, short

# In the order of the paper's own parameters, then those that it leaves open.
FIRST = [
    *("rate", "gate_rate", "multiplier_rate", "temperature"),
    *("rho_init", "prune_from", "sparse_upload", "local_steps"),
]
BINS = ["method", "setting", "place", "value", "prior", "posterior", "trials", "near"]


def searches(source: Source, names: Mapping[str, str]) -> Table:
    """One row per search and method; names: the label of each search; searches without trials are skipped."""
    outcomes = []
    for search in filter(source.was_searched, names):
        trials = drawn(source.trials(search))
        for method in source.named(trials["method"]):
            outcomes.append({"search": search, "method": method, **outcome(trials[trials["method"] == method])})
    data = pd.DataFrame(outcomes)
    rows = [
        {"Search": names[row["search"]], "Method": source.called(row["method"]), **_outcome(row)}
        for _, row in data.iterrows()
    ]
    note = (
        "Every method of a search has the same number of random trials. Where settings are crossed with several T, a "
        "trial is a setting with one T, drawn at random too. Diverged: trials with a diverged run. A trial is excluded "
        "for its open gates, its bytes, or both. Best score: the best admitted trial, in the search's metric. "
        "Nearest: root mean square distance from the paper's column, admitted "
        "or not. Settings shared by all trials are left out."
    )
    return Table(data, rows, note)


def outcome(trials: pd.DataFrame) -> dict[str, Any]:
    """The outcome of one method's trials; the file lists admitted trials first, best first."""
    sound = admitted(trials)
    why = trials["excluded"].fillna("") if "excluded" in trials else pd.Series("", trials.index)
    first = trials[sound].head(1)
    values = [(name.removeprefix(SETTING), first[name].iloc[0]) for name in settings_of(trials) if len(first)]
    return {
        "trials": len(trials),
        "diverged": int((trials["diverged"] > 0).sum()),
        "excluded_gates": int(why.str.contains("open gates").sum()),
        "excluded_bytes": int(why.str.contains("bytes").sum()),
        "admitted": int(sound.sum()),
        "best_score": float(first["score"].iloc[0]) if len(first) else float("nan"),
        "nearest_distance": float(trials["distance"].min()) if "distance" in trials else float("nan"),
        "chosen": first["variant"].iloc[0] if len(first) else "",
        "settings": ", ".join(f"{name} {'none' if pd.isna(value) else short(value)}" for name, value in values),
    }


def _outcome(row: pd.Series) -> Row:
    counts = {
        "trials": "trials",
        "diverged": "diverged",
        "too many open gates": "excluded_gates",
        "too many bytes": "excluded_bytes",
        "admitted": "admitted",
    }
    scores = {"best score": "best_score", "nearest": "nearest_distance"}
    return {
        **{words: number(row, column, "{:.0f}") for words, column in counts.items()},
        **{words: MISSING if pd.isna(row[name]) else number(row, name, decimals) for words, name in scores.items()},
        "chosen settings": row["settings"] or "none admitted",
    }


def settings_figure(source: Source, search: str, how_many: float) -> Figure:
    """What the paper's numbers reveal about its settings: the settings of all trials, and of those nearest its column.

    One row of panels per method that the paper has numbers of, one panel per searched setting. search: the search
    whose trials are shown; how_many: how many trials count as near; below 1, a share of all.
    """
    trials = drawn(source.trials(search))
    known = trials.dropna(subset="distance")["method"] if "distance" in trials else trials["method"].iloc[:0]
    methods = source.named(known)
    parts = [_bins(trials[trials["method"] == method], how_many) for method in methods]
    data = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=BINS)
    settings = sorted(
        data["setting"].unique(), key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name)
    )

    def paint() -> Drawing:
        if data.empty:
            return sentence("no trial can be compared with the paper's numbers")
        size = (0.7 + 0.72 * len(settings), 0.75 + 0.85 * len(methods))
        drawing, axes = canvas(len(methods), len(settings), size=size, squeeze=False)
        for line, method in zip(axes, methods, strict=True):
            for axis, setting in zip(line, settings, strict=True):
                _draw_bins(axis, data[(data["method"] == method) & (data["setting"] == setting)], style(method)[0])
            line[0].set_ylabel(source.called(method).replace(" ", "\n", 1), fontsize=6.5)
            line[0].get_yaxis().set_visible(True)
        for axis, setting in zip(axes[0], settings, strict=True):
            axis.set_title(setting.replace("_", "\n", 1), fontsize=6.5)
        words = f"nearest {data['near'].max()} of {data['trials'].max()} trials"
        keys = [patch_key("all trials", color="0.8"), patch_key(words, facecolor="none", edgecolor="0.2")]
        drawing.legend(handles=keys, loc="outside lower center", ncols=2)
        return drawing

    return Figure(data, no_runs(), paint)


def _bins(trials: pd.DataFrame, how_many: float) -> pd.DataFrame:
    """The share of all and of the near trials of a method in each bin of each setting."""
    near = nearest(trials, how_many)
    parts = [pd.DataFrame(columns=BINS)]
    for column in settings_of(trials):
        indices, names = binned(trials[column])
        shares = pd.DataFrame({"place": range(len(names)), "value": names, "setting": column.removeprefix(SETTING)})
        for name, bins in (("prior", indices), ("posterior", indices.loc[near.index])):
            shares[name] = shares["place"].map(bins.value_counts(normalize=True)).fillna(0.0)
        parts.append(shares)
    bins = pd.concat(parts[1:] or parts, ignore_index=True)
    return bins.assign(method=trials["method"].iloc[0], trials=len(trials), near=len(near))[BINS]


def _draw_bins(axes: Axes, bins: pd.DataFrame, colour: str) -> None:
    if bins.empty:
        axes.set_axis_off()
        return
    axes.bar(bins["place"], bins["prior"], 0.95, color="0.8")
    axes.bar(bins["place"], bins["posterior"], 0.95, facecolor="none", edgecolor=colour, linewidth=1.1)
    few = len(bins) <= 5 and bins["value"].str.len().sum() <= 10
    shown = bins if few else bins.iloc[[0, -1]]
    axes.set_xticks(shown["place"], shown["value"], fontsize=5)
    axes.set_yticks([])
    axes.tick_params(axis="x", length=1.5, pad=1)
    axes.spines["left"].set_visible(False)
