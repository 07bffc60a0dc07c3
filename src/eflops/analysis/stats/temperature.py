"""The effect of the temperature T: runs of a crossed search that differ only in T, compared with T = 0.

A crossed search trains every drawn setting at several T and, as another method, at T = 0, on the same draws. So each
run with T > 0 has a twin at T = 0 with the same setting, N/d, draw and seed, and their difference is due to T.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.stats.mixed import two_way
from eflops.analysis.stats.trials import TEMPERATURE, WITHOUT_ENTROPY
from eflops.analysis.text import pluralise

KEYS = ["setting", "ratio", "draw", "seed"]
# Test R2 limited below: at the smallest N/d single settings have an R2 of -10, which would decide the mean over all.
LIMITED = "r2_limited"
STEPS, GATE_RATE = "set_local_steps", "set_gate_rate"
EFFECT = ["metric", "by", "group", "ratio", "temperature", "mean", "low", "high", "df", "p", "sd_settings", "sd_draws"]
EFFECT += ["sd_residual", "settings", "draws", "missing", "helps", "hurts"]
# Differences that are this small are equal up to the digits that the tracked runs have.
SAME = 1e-6


def twins(runs: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """One row per metric, T > 0, setting, N/d and draw: `difference`, the metric minus that of the twin at T = 0.

    Args:
        runs: the tracked runs of a crossed search (`analysis.search.run_rows`).
        metrics: columns of `runs`.

    Returns: `metric`, `temperature`, `setting`, `ratio` (0 for data of a fixed size), `draw`, `difference` (the
        mean over run seeds; NaN if one of the runs diverged), local steps and gate rate.
    """
    rows = runs[runs["method"].isin([METHOD, WITHOUT_ENTROPY])]
    rows = rows.assign(setting=rows["variant"].str.partition(",")[0], ratio=rows["ratio"].fillna(0.0))
    with_entropy, without = rows[rows["method"] == METHOD], rows[rows["method"] == WITHOUT_ENTROPY].set_index(KEYS)
    kept = [name for name in (STEPS, GATE_RATE) if name in rows]
    parts = []
    for metric in metrics:
        finished = [each[metric].where(each["status"] == "finished") for each in (with_entropy, without)]
        # A missing twin gives NaN, so that its setting is left out and counted as missing.
        twin = finished[1].reindex(pd.MultiIndex.from_frame(with_entropy[KEYS])).to_numpy()
        part = with_entropy[["setting", "ratio", "draw", *kept]].assign(
            metric=metric, temperature=with_entropy[TEMPERATURE], difference=finished[0].to_numpy() - twin
        )
        parts.append(_mean_over(part, ["metric", "temperature", "setting", "ratio", "draw", *kept]))
    return pd.concat(parts, ignore_index=True)


def _mean_over(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """The mean difference of each group; NaN if one of its rows is NaN."""
    groups = rows.groupby(list(keys), as_index=False, sort=True)["difference"]
    means = groups.agg(difference="mean", known="count", rows="size")
    # A mean over what is left would compare settings on different draws or seeds.
    return means.assign(difference=means["difference"].where(means["known"] == means["rows"]))[[*keys, "difference"]]


def effects(differences: pd.DataFrame, overlap: float = 0.0) -> pd.DataFrame:
    """One row per metric, group of settings and T: the mean difference with its interval (`stats.mixed`).

    Args:
        differences: as returned by `twins`.
        overlap: test samples per training sample if draws are overlapping splits.

    Returns: the columns `EFFECT`. Groups (`by`, `group`): all settings, each N/d, the smallest N/d minus the largest,
        each number of local steps, and thirds of the gate rate; the last two are about the mean over N/d.
        missing: settings left out because one of their runs diverged; helps, hurts: settings whose mean
        difference is above and below 0.
    """
    rows = [
        {
            "metric": metric,
            "by": by,
            "group": group,
            "ratio": ratio,
            "temperature": temperature,
            **_effect(part, overlap),
        }
        for by, group, ratio, chosen in _groups(differences)
        for (metric, temperature), part in chosen.groupby(["metric", "temperature"], sort=False)
    ]
    return pd.DataFrame(rows, columns=EFFECT)


def _effect(part: pd.DataFrame, overlap: float) -> dict[str, float]:
    over_ratios = _mean_over(part, ["setting", "draw"])
    table = over_ratios.pivot(index="setting", columns="draw", values="difference")
    # Whole settings are left out, because the closed form of the variance needs a balanced table.
    complete = table.dropna()
    means = complete.mean(axis=1)
    return {
        **asdict(two_way(complete.to_numpy(float), overlap)),
        "missing": len(table) - len(complete),
        "helps": int((means > SAME).sum()),
        "hurts": int((means < -SAME).sum()),
    }


def _groups(rows: pd.DataFrame) -> Iterator[tuple[str, str, float, pd.DataFrame]]:
    """The kind of grouping, the group's name, its N/d if it has one, and its rows."""
    yield "all", "all settings", math.nan, rows
    ratios = sorted(rows["ratio"].unique())
    if len(ratios) > 1:
        for ratio in ratios:
            yield "N/d", f"N/d {ratio:.2f}", float(ratio), rows[rows["ratio"] == ratio]
        yield (
            "contrast",
            f"N/d {ratios[0]:.2f} minus {ratios[-1]:.2f}",
            math.nan,
            _contrast(rows, ratios[0], ratios[-1]),
        )
    if STEPS in rows and rows[STEPS].nunique() > 1:
        for steps in sorted(rows[STEPS].unique()):
            yield "local steps", pluralise(int(steps), "local step"), math.nan, rows[rows[STEPS] == steps]
    if GATE_RATE in rows and rows[GATE_RATE].nunique() > 2:
        # Each setting counts once, although it has a row for every draw, N/d and T.
        low, high = rows.drop_duplicates("setting")[GATE_RATE].quantile([1 / 3, 2 / 3])
        names = (f"gate rate up to {low:.2g}", f"gate rate {low:.2g} to {high:.2g}", f"gate rate above {high:.2g}")
        thirds = np.digitize(rows[GATE_RATE], [low, high], right=True)
        for third, name in enumerate(names):
            yield "gate rate", name, math.nan, rows[thirds == third]


def _contrast(rows: pd.DataFrame, one: float, other: float) -> pd.DataFrame:
    """The differences at one N/d minus those at another, for equal setting and draw."""
    keys = ["metric", "temperature", "setting", "draw"]
    # Within setting and draw, so that what a setting or a draw does to both N/d cancels.
    first, second = (rows[rows["ratio"] == ratio].set_index(keys)["difference"] for ratio in (one, other))
    return (first - second).reset_index()


def best_at_each(trials: pd.DataFrame) -> pd.DataFrame:
    """The best admitted trial at each T, T = 0 first: the profile of a search, over all crossed trials."""
    mine = trials[trials["method"].isin([METHOD, WITHOUT_ENTROPY]) & (trials["excluded"].fillna("") == "")]
    best = mine.sort_values("score", ascending=False, kind="stable").drop_duplicates(TEMPERATURE)
    return best.sort_values(TEMPERATURE, ignore_index=True)
