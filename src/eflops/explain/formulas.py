"""What the columns of tables and figures mean, and how those that are plain statistics are computed."""

from collections.abc import Callable

import pandas as pd

OVER = "data draws (splits), each the mean of its runs that finished, or over the finished runs where there is one draw"
# Of the values of the runs behind a cell; a run that diverged has none.
STATISTICS: dict[str, tuple[str, Callable[[pd.Series], float]]] = {
    "mean": (f"the mean of {{metric}} over {OVER}", lambda values: values.mean()),
    "sd": (f"the standard deviation, with n - 1, of {{metric}} over {OVER}", lambda values: values.std()),
    "median": ("the median of {metric} over the runs that finished", lambda values: values.median()),
    "frequency": ("the share of the runs that have it, of which each counts as 1", lambda values: values.mean()),
    "min": ("the smallest {metric} of the runs that finished", lambda values: values.min()),
    "max": ("the largest {metric} of the runs that finished", lambda values: values.max()),
}

# The statistics of which the draw is the unit.
OVER_UNITS = ("mean", "sd")

# Of paired comparisons, reference minus other.
COMPARISONS = {
    "pairs": "the number of pairs of runs that were planned",
    "missing": "the number of pairs in which a run diverged",
    "mean_reference": "the mean of {metric} of the reference over the pairs",
    "mean_other": "the mean of {metric} of the other method over the pairs",
    "difference": "the mean over pairs of {metric}, reference minus other",
    "low": "the lower end of the 95 % interval of the mean difference of {metric}",
    "high": "the upper end of the 95 % interval of the mean difference of {metric}",
    "t": "the mean difference of {metric} over its standard error",
    "df": "the number of pairs less one",
    "p": "the two-sided p of the paired t-test of {metric}",
    "p_holm": "that p adjusted by Holm's rule over the tests of its family",
    "d_z": "the mean difference of {metric} over the standard deviation of the differences",
    "wilcoxon": "the statistic of the signed-rank test of the differences of {metric}",
    "p_wilcoxon": "the p of the signed-rank test of the differences of {metric}",
}

# Of means over data draws, or over the run seeds of a single draw.
UNITS = {
    "lower": "the lower end of the 95 % interval of the mean of {metric} over data draws",
    "upper": "the upper end of the 95 % interval of the mean of {metric} over data draws",
    "spread": "the standard deviation of the means of data draws of {metric}, with n - 1",
    "units": "the number of data draws, or of run seeds where there is one draw",
}


def formula(column: str, metric: str) -> str:
    """What a column is, in words; empty where only the product's own code says it."""
    name = statistic(column, metric)
    if name:
        return STATISTICS[name][0].format(metric=metric)
    if column in ("n", "runs"):
        return "the number of runs"
    if column == "diverged":
        return "the number of runs that diverged"
    return {**COMPARISONS, **UNITS}.get(column, "").format(metric=metric)


def statistic(column: str, metric: str) -> str:
    """Which plain statistic a column holds, such as mean, accuracy_mean or the metric by its own name (its mean)."""
    bare = column.removeprefix(f"{metric}_").removesuffix(f"_{metric}")
    return "mean" if column == metric else bare if bare in STATISTICS else ""
