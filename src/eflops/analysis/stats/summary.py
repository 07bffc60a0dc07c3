"""Mean, spread, interval and number of runs over independent units: data draws, or splits of real data.

Seeds of one draw share its data, so they are averaged first. If there is only one draw, its run seeds are the units,
and a spread or interval says nothing about other data.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from eflops.analysis.text import pluralise

CELL = ["mean", "sd", "n", "diverged"]
SUMMARY = [*CELL, "units"]
INTERVAL = ["mean_low", "mean_high"]
# The same under the names that the tables and figures of MNIST have.
OVER_UNITS = {"mean": "mean", "mean_low": "lower", "mean_high": "upper", "sd": "spread"}
OVER_UNITS |= {name: name for name in ("units", "n", "diverged")}
METRIC_LABELS = {"support_recovery": "Support recovery", "r2": "Test R²"}
LEVEL = 0.95
# Below this many units a 95 % interval says nothing: over two it is 12.7 standard errors wide each way.
FEWEST = 3


def t_quantile(level: float, df: float) -> float:
    """The quantile of Student's t at `level`, from scipy.special, because scipy.stats is slow to import."""
    from scipy.special import stdtrit

    return float(stdtrit(df, level))


def t_tail(t: float, df: float) -> float:
    """The upper tail probability of Student's t."""
    from scipy.special import stdtr

    return float(stdtr(df, -t))


def with_metric(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The runs with a column for the metric, even if every run diverged before it was measured."""
    return runs if metric in runs else runs.assign(**{metric: math.nan})


def unit_column(runs: pd.DataFrame) -> str:
    """The column that identifies units: the draw, or the run seed if there is only one draw."""
    # Seeds of one draw are no sample of data, so they are units only where nothing else varies.
    return "draw" if runs["draw"].nunique() > 1 else "seed"


def unit_means(runs: pd.DataFrame, metric: str, by: Sequence[str]) -> pd.DataFrame:
    """One row per group of `by` and unit: the mean of the metric over the unit's finished runs."""
    return with_metric(runs, metric).groupby([*by, unit_column(runs)], as_index=False, sort=True)[metric].mean()


def unit_values(runs: pd.DataFrame, metric: str, by: Sequence[str] = ()) -> pd.DataFrame:
    """One row per group of `by` and unit, with the metric: for a draw, the mean of its finished runs.

    If a group has one draw, or `runs` has no column `draw`, its runs are the units.
    """
    runs, keys = with_metric(runs, metric), list(by)
    if "draw" not in runs or "draw" in keys:
        return runs[[*keys, metric]]
    draws = runs.groupby(keys)["draw"].transform("nunique") if keys else pd.Series(runs["draw"].nunique(), runs.index)
    several = (draws > 1).to_numpy()
    # Averaged first: counted one by one, the seeds of a draw would make an interval of draws too narrow.
    means = runs[several].groupby([*keys, "draw"], as_index=False)[metric].mean()
    return pd.concat([runs.loc[~several, [*keys, "draw", metric]], means], ignore_index=True)


def summarise(runs: pd.DataFrame, metric: str, by: Sequence[str]) -> pd.DataFrame:
    """One row per group of `by`: mean and sd over units, n of all runs, how many diverged, and how many units count.

    A unit is a data draw, or a run if all are of one draw (`unit_values`).
    """
    runs, keys = with_metric(runs, metric), list(by)
    units = unit_values(runs, metric, keys).groupby(keys, as_index=False, sort=True)[metric]
    # "count" and not "size": a unit whose runs all diverged has no mean and is no unit of the interval.
    cells = units.agg(mean="mean", sd="std", units="count")
    return cells.merge(_counts(runs, keys), on=keys)[[*keys, *SUMMARY]]


def _counts(runs: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """One row per group of `by`: how many runs it has, and how many of them diverged."""
    lost = ("status", lambda status: int((status == "diverged").sum()))
    return runs.groupby(list(by), as_index=False, sort=True).agg(n=("status", "size"), diverged=lost)


def summarise_all(runs: pd.DataFrame, metrics: Sequence[str], by: Sequence[str]) -> pd.DataFrame:
    """The summaries of several metrics below each other, with a column `metric` after the groups."""
    columns = [*by, "metric", *SUMMARY]
    parts = [summarise(runs, metric, by).assign(metric=metric) for metric in metrics]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def summarise_units(runs: pd.DataFrame, metrics: Sequence[str], by: Sequence[str]) -> pd.DataFrame:
    """Summaries with intervals, under the names of `OVER_UNITS`."""
    cells = with_interval(summarise_all(runs, metrics, by)).rename(columns=OVER_UNITS)
    return cells[[*by, "metric", *OVER_UNITS.values()]]


def with_interval(cells: pd.DataFrame) -> pd.DataFrame:
    """Summaries with the 95 % interval of their means, by t over units; NaN below three units."""
    half = [half_width(sd, units) for sd, units in zip(cells["sd"], cells["units"], strict=True)]
    return cells.assign(mean_low=cells["mean"] - half, mean_high=cells["mean"] + half)


def too_few(units: pd.Series) -> str:
    """The sentence for a table's note if some of its means or differences have too few units."""
    return " Means over fewer than three have no interval." if units.between(1, FEWEST - 1).any() else ""


def half_width(sd: float, units: int) -> float:
    """Half the width of the 95 % interval of a mean over `n` units; NaN below three."""
    return float(t_quantile((1 + LEVEL) / 2, units - 1) * sd / math.sqrt(units)) if units >= FEWEST else math.nan


def spread_over_draws(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One row per N/d and method: the mean of the draws' means, the sd between them and the pooled sd within a draw."""
    by = ["ratio", "method"]
    runs = with_metric(runs, metric)
    draws = runs.groupby([*by, "draw"], as_index=False).agg(mean=(metric, "mean"), variance=(metric, "var"))
    cells = draws.groupby(by, as_index=False).agg(
        mean=("mean", "mean"),
        sd_between=("mean", "std"),
        # The root of the mean variance: deviations themselves are biased downwards, the more the fewer seeds a draw
        # has.
        sd_within=("variance", lambda variances: np.sqrt(variances.mean())),
        draws=("mean", "size"),
    )
    return cells.merge(_counts(runs, by), on=by)


def seeds_and_draws(runs: pd.DataFrame, noun: str = "data draw") -> str:
    """The number of run seeds and the draws: `30 run seeds of data draw 0`, `20 data draws (0 to 19), 3 run seeds
    each`."""
    draws, seeds = sorted(runs["draw"].unique()), runs["seed"].nunique()
    if len(draws) == 1:
        return f"{pluralise(seeds, 'run seed')} of {noun} {draws[0]}"
    return f"{len(draws)} {noun}s ({_list(draws)}), {'one run seed' if seeds == 1 else f'{seeds} run seeds'} each"


def units_in_words(runs: pd.DataFrame) -> str:
    """`6 data draws, the 2 run seeds of each averaged first`, or `10 run seeds of one data draw`."""
    draws, seeds = runs["draw"].nunique(), runs["seed"].nunique()
    if draws == 1:
        return f"{pluralise(seeds, 'run seed')} of one data draw"
    each = f"the {seeds} run seeds of each averaged first" if seeds > 1 else "one run seed each"
    return f"{draws} data draws, {each}"


def units_named(runs: pd.DataFrame) -> str:
    """The units of a spread, in a few words: `20 draws`, `30 run seeds`."""
    draws = runs["draw"].nunique()
    return f"{draws} draws" if draws > 1 else pluralise(runs["seed"].nunique(), "run seed")


def _list(draws: Sequence[int]) -> str:
    """Numbers as a list in words; consecutive ones as a range."""
    if len(draws) > 2 and draws[-1] - draws[0] == len(draws) - 1:
        return f"{draws[0]} to {draws[-1]}"
    return ", ".join(map(str, draws))


def best(cells: pd.DataFrame) -> list[object]:
    """The index entries with the highest printed mean, including ties, among those without diverged runs."""
    sound = cells.loc[cells["diverged"] == 0, "mean"].dropna().round(3)
    return sound.index[sound == sound.max()].tolist()
