"""Means and their intervals over units that are independent: data draws, whose run seeds are averaged first.

Seeds of one draw share its data. Where there is one draw alone, its run seeds are the units, and the interval says
nothing of other data.
"""

from collections.abc import Sequence

import pandas as pd

from eflops.analysis.stats.summary import half_width, with_metric
from eflops.analysis.text import counted

# The mean over units, its 95 % interval, their standard deviation and number; runs, and those that diverged.
OVER_UNITS = ["mean", "lower", "upper", "spread", "units", "n", "diverged"]


def unit_means(runs: pd.DataFrame, metric: str, by: Sequence[str]) -> pd.DataFrame:
    """One row per group of `by` and unit: the mean of the metric over the unit's runs that finished."""
    unit = "draw" if runs["draw"].nunique() > 1 else "seed"
    return with_metric(runs, metric).groupby([*by, unit], as_index=False, sort=True)[metric].mean()


def summarise_units(runs: pd.DataFrame, metric: str, by: Sequence[str]) -> pd.DataFrame:
    """One row per group of `by`, with the columns of `OVER_UNITS`."""
    grouped = unit_means(runs, metric, by).groupby(list(by), as_index=False, sort=True)
    cells = grouped.agg(mean=(metric, "mean"), spread=(metric, "std"), units=(metric, "count"))
    half = [half_width(spread, units) for spread, units in zip(cells["spread"], cells["units"], strict=True)]
    cells = cells.assign(lower=cells["mean"] - half, upper=cells["mean"] + half)
    counts = runs.groupby(list(by), as_index=False).agg(
        n=("status", "size"), diverged=("status", lambda status: int((status == "diverged").sum()))
    )
    return cells.merge(counts, on=list(by))[[*by, *OVER_UNITS]]


def summarise_all_units(runs: pd.DataFrame, metrics: Sequence[str], by: Sequence[str]) -> pd.DataFrame:
    """The same for several metrics below each other, with a column `metric` behind the groups."""
    parts = [summarise_units(runs, metric, by).assign(metric=metric) for metric in metrics]
    return pd.concat(parts, ignore_index=True)[[*by, "metric", *OVER_UNITS]]


def units_in_words(runs: pd.DataFrame) -> str:
    """`6 data draws, the 2 run seeds of each averaged first`, or `10 run seeds of one data draw`."""
    draws, seeds = runs["draw"].nunique(), runs["seed"].nunique()
    if draws == 1:
        return f"{counted(seeds, 'run seed')} of one data draw"
    each = f"the {seeds} run seeds of each averaged first" if seeds > 1 else "one run seed each"
    return f"{draws} data draws, {each}"
