"""What the trials of a search say besides the best one: entropy paired by setting, settings nearest the paper."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.stats.summary import LEVEL, half_width

SETTING, TEMPERATURE = "set_", "set_temperature"
WITHOUT = "flops"
METRICS = ("r2", "support_recovery")
# The edges between small, middle and large temperatures.
EDGES = (0.01, 0.1)
TERCILES = {"set_gate_rate": "gate rate", "set_rho_init": "initial density"}
STATISTICS = [
    *("settings", "missing", "mean", "mean_low", "mean_high", "median", "helps", "equal", "hurts"),
    *("share", "share_low", "share_high"),
]
SAME = 1e-12


def settings_of(trials: pd.DataFrame) -> list[str]:
    """The settings in which some trials differ."""
    return [column for column in trials if column.startswith(SETTING) and trials[column].nunique(dropna=False) > 1]


def admitted(trials: pd.DataFrame) -> pd.Series:
    """Which trials a search may choose from."""
    return trials["excluded"].fillna("") == "" if "excluded" in trials else pd.Series(True, trials.index)


def by_ratio(trials: pd.DataFrame, metric: str) -> dict[float, str]:
    """The columns that hold a metric, by N/d; none where every run diverged."""
    columns = [name for name in trials if name.startswith(f"{metric}@")]
    return {float(name.partition("@")[2]): name for name in columns}


def entropy_pairs(trials: pd.DataFrame) -> pd.DataFrame:
    """One row per metric, N/d and setting that E-FLoPS and T = 0 share but for T: `difference`, with less without.

    Both draw the same numbers for the settings that both have, so a trial of one has its twin in the other.
    """
    shared = [name for name in trials if name.startswith(SETTING) and name != TEMPERATURE]
    key = ["|".join(map(str, row)) for row in trials[["variant", *shared]].itertuples(index=False, name=None)]
    told = trials.assign(key=key, admitted=admitted(trials))
    pairs = told[told["method"] == METHOD].merge(told[told["method"] == WITHOUT], on="key", suffixes=("", "_without"))
    kept = ["variant", TEMPERATURE, *(name for name in TERCILES if name in pairs)]
    parts = [
        pairs[kept].assign(
            metric=metric,
            ratio=ratio,
            admitted=pairs["admitted"] & pairs["admitted_without"],
            difference=pairs[column] - pairs[f"{column}_without"],
        )
        for metric in METRICS
        for ratio, column in by_ratio(trials, metric).items()
    ]
    columns = ["metric", "ratio", *kept, "admitted", "difference"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def over_ratios(pairs: pd.DataFrame) -> pd.DataFrame:
    """The same with one row per metric and setting: the mean over N/d, none where one of them has none."""
    keys = [name for name in pairs if name not in ("ratio", "difference")]
    means = pairs.groupby(keys, as_index=False, sort=False)["difference"].agg(lambda found: found.mean(skipna=False))
    return means.astype({"difference": float})


def entropy_groups(pairs: pd.DataFrame) -> pd.DataFrame:
    """One row per metric and group of settings: how much entropy changes the metric there, and how often it helps.

    share: of the settings in which it changes anything, those in which it helps, with Wilson's 95 % interval.
    """
    rows = [
        {"metric": metric, "by": by, "group": group, **effect(found["difference"])}
        for by, group, chosen in _groups(pairs)
        for metric in METRICS
        if len(found := chosen[chosen["metric"] == metric])
    ]
    return pd.DataFrame(rows, columns=["metric", "by", "group", *STATISTICS])


def effect(differences: pd.Series) -> dict[str, float]:
    """Mean with its interval, median, and in how many settings a difference is above, at and below 0."""
    known = differences.dropna()
    helps, hurts = int((known > SAME).sum()), int((known < -SAME).sum())
    mean = float(known.mean()) if len(known) else math.nan
    half = half_width(float(known.std()), len(known))
    low, high = _wilson(helps, helps + hurts)
    return {
        "settings": len(differences),
        "missing": len(differences) - len(known),
        "mean": mean,
        "mean_low": mean - half,
        "mean_high": mean + half,
        "median": float(known.median()) if len(known) else math.nan,
        "helps": helps,
        "equal": len(known) - helps - hurts,
        "hurts": hurts,
        "share": helps / (helps + hurts) if helps + hurts else math.nan,
        "share_low": low,
        "share_high": high,
    }


def nearest(trials: pd.DataFrame, how_many: float) -> pd.DataFrame:
    """The trials nearest the paper's column: so many of them, or below 1 that share of those with a distance."""
    if "distance" not in trials:
        return trials.iloc[:0]
    known = trials.dropna(subset="distance")
    count = how_many if how_many >= 1 else max(round(how_many * len(known)), 1)
    return known.sort_values("distance", kind="stable").head(int(count))


def binned(values: pd.Series, bins: int = 8, most: int = 6) -> tuple[pd.Series, list[str], bool]:
    """The place of each value among bins, what the bins are called, and whether their width grows with the value.

    Few different values are bins of their own; many become bins of one width, on a log scale where they span tenfold.
    """
    different = sorted(values.dropna().unique(), key=lambda value: (isinstance(value, str), value))
    if len(different) <= most or not pd.api.types.is_numeric_dtype(values) or values.dtype == bool:
        return values.map({value: place for place, value in enumerate(different)}), list(map(_word, different)), False
    log = min(different) > 0 and max(different) >= 10 * min(different)
    scaled = np.log(values.astype(float)) if log else values.astype(float)
    edges = np.linspace(scaled.min(), scaled.max(), bins + 1)
    places = pd.Series(np.clip(np.digitize(scaled, edges) - 1, 0, bins - 1), values.index)
    centres = (edges[:-1] + edges[1:]) / 2
    return places, [f"{centre:.2g}" for centre in (np.exp(centres) if log else centres)], bool(log)


def _groups(pairs: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """All settings, and parts of them: what they are parted by, what the part is called, and its rows."""
    means = over_ratios(pairs)
    yield "all", "all settings", means
    for chosen, words in ((True, "admitted"), (False, "not admitted")):
        yield "admitted", words, means[means["admitted"] == chosen]
    yield from _parts(means, TEMPERATURE, "T", EDGES)
    for column, words in TERCILES.items():
        if column in means and means[column].notna().any():
            values = means.drop_duplicates("variant")[column]
            yield from _parts(means, column, words, tuple(values.quantile([1 / 3, 2 / 3])))
    for ratio, rows in pairs.groupby("ratio"):
        yield "N/d", f"N/d {ratio:g}", rows


def _parts(
    rows: pd.DataFrame, column: str, words: str, edges: Sequence[float]
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    low, high = edges
    values = rows[column]
    yield words, f"{words} up to {low:.2g}", rows[values <= low]
    yield words, f"{words} {low:.2g} to {high:.2g}", rows[(values > low) & (values <= high)]
    yield words, f"{words} above {high:.2g}", rows[values > high]


def _wilson(count: int, of: int) -> tuple[float, float]:
    """Wilson's interval of a share: (2np + z^2 +- z sqrt(4npq + z^2)) / (2 (n + z^2)), as scipy.stats has it."""
    if not of:
        return math.nan, math.nan
    from scipy.special import ndtri

    p, z = count / of, float(ndtri((1 + LEVEL) / 2))
    scale = 2 * (of + z**2)
    centre, half = (2 * of * p + z**2) / scale, z / scale * math.sqrt(4 * of * p * (1 - p) + z**2)
    return (centre - half if count else 0.0), (centre + half if count < of else 1.0)


def _word(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
