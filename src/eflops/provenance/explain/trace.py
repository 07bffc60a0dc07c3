"""From a cell to its runs, and the formula of the cell.

A table or figure provides the rows that it summarises (`runs`). A key of a cell that these rows have too (ratio,
method, variant, phase, round, set_rate, panel ...) selects the rows with its value; `reference` and `other` name
methods. The metric shown for each run is the one that the cell's key `metric`, its column or the product names.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from eflops.analysis.stats.summary import unit_values
from eflops.analysis.text import Scalar
from eflops.config.products import Product
from eflops.provenance.explain.address import DataCell, same_value

if TYPE_CHECKING:
    from eflops.analysis.figure import Figure
    from eflops.analysis.table import Table

METHOD_KEYS = ("method", "reference", "other")
OVER = "data draws (splits), after averaging the finished runs of each, or over the finished runs if there is one draw"
# Of the values of the runs behind a cell; a run that diverged has none.
STATISTICS: dict[str, tuple[str, Callable[[pd.Series], float]]] = {
    "mean": (f"the mean of {{metric}} over {OVER}", lambda values: values.mean()),
    "sd": (f"the standard deviation, with n - 1, of {{metric}} over {OVER}", lambda values: values.std()),
    "median": ("the median of {metric} over the runs that finished", lambda values: values.median()),
    "frequency": ("the share of the runs that have it", lambda values: values.mean()),
    "min": ("the smallest {metric} of the runs that finished", lambda values: values.min()),
    "max": ("the largest {metric} of the runs that finished", lambda values: values.max()),
}

# The statistics of which the draw is the unit.
OVER_UNITS = ("mean", "sd")

# What all other columns that several products have are; of paired comparisons, reference minus other.
MEANINGS = {
    "n": "the number of runs",
    "runs": "the number of runs",
    "diverged": "the number of runs that diverged",
    "pairs": "the number of pairs of runs that were planned",
    "missing": "the number of pairs in which a run diverged",
    "mean_reference": "the mean of {metric} of the reference over the pairs",
    "mean_other": "the mean of {metric} of the other method over the pairs",
    "difference": "the mean over pairs of {metric}, reference minus other",
    "low": "the lower end of the 95 % interval of the mean difference of {metric}",
    "high": "the upper end of the 95 % interval of the mean difference of {metric}",
    "t": "the mean difference of {metric} over its standard error",
    "df": "the number of pairs minus one",
    "p": "the two-sided p of the paired t-test of {metric}",
    "p_holm": "that p adjusted by Holm's rule over the tests of its family",
    "d_z": "the mean difference of {metric} over the standard deviation of the differences",
    "wilcoxon": "the statistic of the signed-rank test of the differences of {metric}",
    "p_wilcoxon": "the p of the signed-rank test of the differences of {metric}",
    "lower": "the lower end of the 95 % interval of the mean of {metric} over data draws",
    "upper": "the upper end of the 95 % interval of the mean of {metric} over data draws",
    "spread": "the standard deviation of the means of data draws of {metric}, with n - 1",
    "units": "the number of data draws, or of run seeds where there is one draw",
}


# Keys of rows that stand for trials of a search; the runs of trials are not in the folder.
OF_TRIALS = {"group", "temperature"}


@dataclass(frozen=True)
class Trace:
    """The runs behind a cell (gathered rows, with `value` if a run contributes one number), and its formula."""

    cell: DataCell
    runs: pd.DataFrame
    metric: str
    formula: str

    @property
    def recomputed(self) -> float | None:
        """A plain statistic recomputed from the runs' values; None if the cell is not one."""
        name = statistic(self.cell.column, self.metric)
        if not name or "value" not in self.runs or self.runs.empty:
            return None
        values = unit_values(self.runs, "value")["value"] if name in OVER_UNITS else self.runs["value"]
        return float(STATISTICS[name][1](values))


def trace(product: Product, made: "Table | Figure", cell: DataCell) -> Trace:
    """The runs behind a cell of a rebuilt product."""
    tracer = Tracer(product, made)
    metric = tracer.metric(cell)
    runs = made.runs.iloc[tracer.rows(cell.keys, metric)]
    runs = runs.assign(value=runs[metric]) if metric in runs else runs.drop(columns="value", errors="ignore")
    return Trace(cell, runs, metric, tracer.formula(cell.column, metric, bool(len(runs))))


class Tracer:
    """Finds the runs behind the cells of a product.

    The runs are indexed by key columns, so the time for a large table is proportional to its rows.
    """

    def __init__(self, product: Product, made: "Table | Figure") -> None:
        self.product, self.made = product, made
        self._indices: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = {}
        self._metrics: dict[str, str] = {}

    def metric(self, cell: DataCell) -> str:
        """The metric of a cell: from its key, its column's name, or the product."""
        if isinstance(cell.keys.get("metric"), str):
            return str(cell.keys["metric"])
        column = cell.column
        if column not in self._metrics:
            fitting = [name for name in self.made.runs if statistic(column, name) and name not in STATISTICS]
            named = [name for name in fitting if column.startswith(name) or column.endswith(name)]
            self._metrics[column] = max(named, key=len) if named else self.made.metric
        return self._metrics[column]

    def formula(self, column: str, metric: str, has_runs: bool) -> str:
        """The formula of a column in terms of its runs, in words."""
        if not has_runs:
            return (
                f"no runs: it is read from {' and '.join([*self.product.inputs, *self.product.resources]) or 'no file'}"
            )
        return formula(column, metric or "the metric") or f"{column}, as {self.product.make} computes it"

    def rows(self, keys: Mapping[str, Scalar], metric: str) -> list[int]:
        """Which rows of the product's runs match all keys."""
        # A key that is empty says nothing: the panels of a figure need not all have the same keys.
        keys = {key: value for key, value in keys.items() if not pd.isna(value)}
        runs = self.made.runs
        if OF_TRIALS & keys.keys() - set(runs) and "case" not in keys:
            return []
        methods = dict.fromkeys(keys[key] for key in METHOD_KEYS if key in keys)
        wanted = [{key: keys[key] for key in keys if key in runs and key != metric and key not in METHOD_KEYS}]
        # What searches saw has no runs behind it.
        if methods and "method" in runs and metric != "method":
            wanted = [{**wanted[0], "method": method} for method in methods]
        if "other_variant" in keys:
            wanted += [{**each, "variant": keys["other_variant"]} for each in wanted]
        rows = [row for each in wanted for row in self._index(tuple(each)).get(_canonical(each.values()), ())]
        return sorted(rows) or _agreeing(runs, keys, metric)

    def _index(self, columns: tuple[str, ...]) -> dict[tuple[str, ...], list[int]]:
        """The positions of the runs with each combination of values of some columns."""
        if columns not in self._indices:
            index: dict[tuple[str, ...], list[int]] = {}
            values = zip(*(self.made.runs[name] for name in columns), strict=True) if columns else ()
            for row, each in enumerate(values):
                index.setdefault(_canonical(each), []).append(row)
            self._indices[columns] = index if columns else {(): list(range(len(self.made.runs)))}
        return self._indices[columns]


def _canonical(values: Iterable[Scalar]) -> tuple[str, ...]:
    """Values by which runs are looked up; numbers that differ only in their last digits are equal."""
    return tuple(f"{value:.12g}" if pd.api.types.is_number(value) else str(value) for value in values)


def _agreeing(runs: pd.DataFrame, keys: Mapping[str, Scalar], metric: str) -> list[int]:
    """The rows that match keys whose spelling differs from the runs, such as in upper case."""
    # Only the columns that keys name: taking rows of all columns is slow.
    names = [key for key in (*keys, "method") if key in runs and key != metric]
    left = runs[list(dict.fromkeys(names))].reset_index(drop=True)
    for key in left.columns:
        if key in keys and key not in METHOD_KEYS:
            left = left[_agrees(left[key], keys[key])]
    methods = {keys[key] for key in METHOD_KEYS if key in keys}
    left = left[left["method"].isin(methods)] if methods and "method" in left else left
    return left.index.tolist()


def _agrees(column: pd.Series, value: Scalar) -> pd.Series:
    """Which rows of a column hold a key's value, numbers compared as numbers."""
    if pd.api.types.is_numeric_dtype(column) and pd.api.types.is_number(value):
        return (column - value).abs() < 1e-9
    equal = column == value
    return equal if equal.any() else column.map(lambda cell: same_value(cell, str(value)))


def formula(column: str, metric: str) -> str:
    """The formula of a column in words; empty if only the product's code defines it."""
    name = statistic(column, metric)
    return (STATISTICS[name][0] if name else MEANINGS.get(column, "")).format(metric=metric)


def statistic(column: str, metric: str) -> str:
    """The plain statistic of a column, such as mean, accuracy_mean or the metric's name (its mean)."""
    bare = column.removeprefix(f"{metric}_").removesuffix(f"_{metric}")
    return "mean" if column == metric else bare if bare in STATISTICS else ""
