"""What each search drew, excluded and chose."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from eflops.analysis.source import Source, no_runs
from eflops.analysis.stats.trials import SETTING, admitted, settings_of
from eflops.analysis.table import Table
from eflops.analysis.text import decimals, short

GATES, BYTES = "open gates", "bytes"


def make(source: Source, names: Mapping[str, str]) -> Table:
    """One row per search and method; names: what each search is called, of which those that were made are shown."""
    rows = [
        {"search": search, "method": method, **outcome(own)}
        for search in names
        if source.was_searched(search)
        for trials in [source.trials(search)]
        for method in source.named(trials["method"])
        for own in [trials[trials["method"] == method]]
    ]
    data = pd.DataFrame(rows)
    shown = pd.DataFrame([_shown(row, source, names) for row in rows])
    note = (
        "Every method of a search has the same number of trials, drawn at random. Diverged: trials with a run that "
        "diverged. A trial is excluded for its open gates, or for its bytes; one may be both. Best score: of the "
        "admitted trials, by the search's metric. Nearest: root mean square distance from the paper's column, admitted "
        "or not. Settings that all trials share are left out."
    )
    return Table(data, shown, note, no_runs())


def outcome(trials: pd.DataFrame) -> dict[str, Any]:
    """What became of one method's trials; the file has those admitted first, the best in front."""
    sound = admitted(trials)
    why = trials["excluded"].fillna("") if "excluded" in trials else pd.Series("", trials.index)
    first = trials[sound].head(1)
    distances = trials["distance"].dropna() if "distance" in trials else pd.Series(dtype=float)
    return {
        "trials": len(trials),
        "diverged": int((trials["diverged"] > 0).sum()),
        "excluded_gates": int(why.str.contains(GATES).sum()),
        "excluded_bytes": int(why.str.contains(BYTES).sum()),
        "admitted": int(sound.sum()),
        "best_score": float(first["score"].iloc[0]) if len(first) else float("nan"),
        "nearest_distance": float(distances.min()) if len(distances) else float("nan"),
        "chosen": first["variant"].iloc[0] if len(first) else "",
        "settings": _settings(first, settings_of(trials)),
    }


def _settings(trial: pd.DataFrame, columns: list[str]) -> str:
    """The settings of a trial in words; empty where there is none."""
    values = [(name.removeprefix(SETTING), trial[name].iloc[0]) for name in columns if len(trial)]
    return ", ".join(f"{name} {'none' if pd.isna(value) else short(value)}" for name, value in values)


def _shown(row: Mapping[str, Any], source: Source, names: Mapping[str, str]) -> dict[str, str]:
    return {
        "Search": names[row["search"]],
        "Method": source.called(row["method"]),
        "trials": f"{row['trials']}",
        "diverged": f"{row['diverged']}",
        "too many open gates": f"{row['excluded_gates']}",
        "too many bytes": f"{row['excluded_bytes']}",
        "admitted": f"{row['admitted']}",
        "best score": "-" if pd.isna(row["best_score"]) else decimals(row["best_score"]),
        "nearest": "-" if pd.isna(row["nearest_distance"]) else decimals(row["nearest_distance"]),
        "chosen settings": row["settings"] or "none admitted",
    }
