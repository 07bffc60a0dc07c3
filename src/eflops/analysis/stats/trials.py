"""The trials of a search: which may be chosen, which are nearest the paper, and the distribution of their settings."""

import numpy as np
import pandas as pd

SETTING, TEMPERATURE = "set_", "set_temperature"
WITHOUT_ENTROPY = "flops"
# So many different values have a bin each; more are spread over so many bins.
FEW, BINS = 6, 8


def settings_of(trials: pd.DataFrame) -> list[str]:
    """The settings in which some trials differ."""
    return [column for column in trials if column.startswith(SETTING) and trials[column].nunique(dropna=False) > 1]


def drawn(trials: pd.DataFrame) -> pd.DataFrame:
    """The trials that each method may choose from, equally many for every method (`config.searches.budget_of`)."""
    return trials[trials["drawn"]] if "drawn" in trials else trials


def admitted(trials: pd.DataFrame) -> pd.Series:
    """Which trials a search may choose from."""
    return trials["excluded"].fillna("") == "" if "excluded" in trials else pd.Series(True, trials.index)


def nearest(trials: pd.DataFrame, how_many: float) -> pd.DataFrame:
    """The trials nearest the paper's column: `how_many` of them, or below 1, that share of those with a distance."""
    if "distance" not in trials:
        return trials.iloc[:0]
    known = trials.dropna(subset="distance")
    count = how_many if how_many >= 1 else max(round(how_many * len(known)), 1)
    # Stable: of equally near trials the first drawn counts, on every machine.
    return known.sort_values("distance", kind="stable").head(int(count))


def binned(values: pd.Series) -> tuple[pd.Series, list[str]]:
    """The index of each value's bin, and the names of the bins.

    Few different values get one bin each; many get bins of equal width, on a log scale if they span a factor of
    ten.
    """
    different = sorted(values.dropna().unique(), key=lambda value: (isinstance(value, str), value))
    if len(different) <= FEW or not pd.api.types.is_numeric_dtype(values) or values.dtype == bool:
        return values.map({value: index for index, value in enumerate(different)}), list(map(_word, different))
    log = min(different) > 0 and max(different) >= 10 * min(different)
    scaled = np.log(values.astype(float)) if log else values.astype(float)
    edges = np.linspace(scaled.min(), scaled.max(), BINS + 1)
    # The largest value lies on the last edge, where `digitize` would open one more bin.
    indices = pd.Series(np.clip(np.digitize(scaled, edges) - 1, 0, BINS - 1), values.index)
    centres = (edges[:-1] + edges[1:]) / 2
    return indices, [f"{centre:.2g}" for centre in (np.exp(centres) if log else centres)]


def _word(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
