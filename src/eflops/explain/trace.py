"""From a cell to its runs.

A table or figure hands over the rows that it sums up (`runs`). A key of a cell that these rows have too (ratio, method,
variant, phase, round, set_rate, panel ...) chooses the rows that agree with it; `reference` and `other` name methods.
What is shown of each run is the metric that the cell's key `metric`, its own column or the product names.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from eflops.analysis.stats.summary import unit_values
from eflops.config.products import Product
from eflops.explain.address import Cell, same
from eflops.explain.formulas import OVER_UNITS, STATISTICS, formula, statistic

if TYPE_CHECKING:
    from eflops.analysis.figure import Figure
    from eflops.analysis.table import Table

METHOD_KEYS = ("method", "reference", "other")


@dataclass(frozen=True)
class Trace:
    """The runs behind a cell (gathered rows, with `value` where a run contributes one number), and how they make it."""

    cell: Cell
    runs: pd.DataFrame
    metric: str
    formula: str

    @property
    def recomputed(self) -> float | None:
        """A plain statistic computed again from the runs' values; None where the cell is not one."""
        name = statistic(self.cell.column, self.metric)
        if not name or "value" not in self.runs or self.runs.empty:
            return None
        values = unit_values(self.runs, "value")["value"] if name in OVER_UNITS else self.runs["value"]
        return float(STATISTICS[name][1](values))


def trace(product: Product, made: "Table | Figure", cell: Cell) -> Trace:
    """The runs behind a cell of a product as it was made."""
    return next(trace_row(product, made, [cell]))


def trace_row(product: Product, made: "Table | Figure", cells: Sequence[Cell]) -> Iterator[Trace]:
    """The runs behind the cells of one row, which are looked up once for each metric."""
    found: dict[str, pd.DataFrame] = {}
    for cell in cells:
        metric = _metric(made, cell)
        if metric not in found:
            found[metric] = _with_values(_matching(made.runs, cell, metric), metric)
        yield Trace(cell, found[metric], metric, _formula(product, cell, metric, found[metric]))


def _with_values(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    return runs.assign(value=runs[metric]) if metric in runs else runs.drop(columns="value", errors="ignore")


def _formula(product: Product, cell: Cell, metric: str, runs: pd.DataFrame) -> str:
    if runs.empty:
        return f"no run: it is read from {' and '.join([*product.inputs, *product.resources]) or 'no file'}"
    return formula(cell.column, metric or "the metric") or f"{cell.column}, as {product.make} makes it"


def _metric(made: "Table | Figure", cell: Cell) -> str:
    """The metric that a cell is about."""
    if isinstance(cell.keys.get("metric"), str):
        return str(cell.keys["metric"])
    fitting = [name for name in made.runs if statistic(cell.column, name) and name not in STATISTICS]
    named = [name for name in fitting if cell.column.startswith(name) or cell.column.endswith(name)]
    return max(named, key=len) if named else made.metric


def _matching(runs: pd.DataFrame, cell: Cell, metric: str) -> pd.DataFrame:
    """The rows that agree with every key they have."""
    keys = {key: value for key, value in cell.keys.items() if not pd.isna(value)}
    for key, value in keys.items():
        # A key that is empty says nothing: the panels of a figure need not all have the same keys.
        if key in runs and key not in METHOD_KEYS and key != metric:
            runs = runs[_agrees(runs[key], value)]
    methods = {keys[key] for key in METHOD_KEYS if key in keys}
    # What searches saw has no runs behind it.
    return runs[runs["method"].isin(methods)] if methods and "method" in runs else runs


def _agrees(column: pd.Series, value: Any) -> pd.Series:
    """Which rows of a column hold a key's value, numbers compared as numbers."""
    if pd.api.types.is_numeric_dtype(column) and pd.api.types.is_number(value):
        return (column - value).abs() < 1e-9
    equal = column == value
    return equal if equal.any() else column.map(lambda cell: same(cell, str(value)))
