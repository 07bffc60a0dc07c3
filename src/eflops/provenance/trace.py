"""From a cell to its runs.

The rule that serves most tables and figures: a key of a row that gathered runs have too (ratio, method, variant, phase,
round, set_rate ...) chooses the runs that agree with it; `reference` and `other` name methods. What is shown of each
run is the metric that the row's `metric` column, the cell's own column or the module's METRIC names. A row with a panel
is traced as that panel's own figure (panel a of fig1 as fig1a). A product whose cells come from runs in another way has
a function `trace(source, keys) -> DataFrame` in its module: the gathered rows behind a row, with what each contributes
in a column `value`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pandas as pd

from eflops.analysis.catalogue import PRODUCTS
from eflops.analysis.catalogue.product import Product
from eflops.analysis.source import Source
from eflops.provenance.address import Cell, same
from eflops.provenance.formulas import STATISTICS, formula, statistic

METHOD_KEYS = ("method", "reference", "other")


@dataclass(frozen=True)
class Trace:
    """The runs behind a cell (gathered rows, with `value` where a run contributes one number), and how they make it."""

    runs: pd.DataFrame
    metric: str
    formula: str
    recomputed: float | None


def trace(product: Product, source: Source, cell: Cell) -> Trace:
    """The runs behind a cell."""
    module = import_module(product.module)
    panel = _panel(product, cell)
    if panel and not hasattr(module, "trace"):
        return trace(panel, source, cell)
    metric = _metric(module, cell, source, product)
    if hasattr(module, "trace"):
        runs = module.trace(source, cell.keys)
    else:
        runs = _matching(product, source, cell.keys, metric)
        runs = runs.assign(value=runs[metric]) if metric in runs else runs
    if runs.empty:
        return Trace(runs, metric, f"no run: it is read from {' and '.join(product.inputs) or 'no file'}", None)
    return Trace(runs, metric, _formula(module, cell, metric), _recomputed(cell, metric, runs))


def _panel(product: Product, cell: Cell) -> Product | None:
    """The product that a panel of a figure is on its own: panel a of fig1 is fig1a."""
    name = f"{product.name}{cell.keys.get('panel')}"
    return next((other for other in PRODUCTS if other.name == name), None)


def _metric(module: Any, cell: Cell, source: Source, product: Product) -> str:
    """The metric that a cell is about."""
    if isinstance(cell.keys.get("metric"), str):
        return str(cell.keys["metric"])
    columns = {column for name in product.experiments for column in source.runs(name).columns}
    fitting = [column for column in columns if statistic(cell.column, column) and column not in STATISTICS]
    named = [column for column in fitting if cell.column.startswith(column) or cell.column.endswith(column)]
    return max(named, key=len) if named else str(getattr(module, "METRIC", ""))


def _matching(product: Product, source: Source, keys: Mapping[str, Any], metric: str) -> pd.DataFrame:
    """The gathered rows that agree with every key they have."""
    by_round = not pd.isna(keys.get("round", math.nan))
    frames = [source.curves(name) if by_round else source.runs(name) for name in product.experiments]
    runs = pd.concat(frames, ignore_index=True)
    for key, value in keys.items():
        # A key that is empty says nothing: the panels of a figure need not all have the same keys.
        if key in runs and key not in METHOD_KEYS and key != metric and not pd.isna(value):
            runs = runs[runs[key].map(lambda cell, word=str(value): same(cell, word))]
    methods = {keys[key] for key in METHOD_KEYS if key in keys}
    return runs[runs["method"].isin(methods)] if methods else runs


def _formula(module: Any, cell: Cell, metric: str) -> str:
    words = formula(cell.column, metric or "the metric")
    return words or f"{cell.column}, as {module.__name__} makes it: {(module.__doc__ or '').strip().splitlines()[0]}"


def _recomputed(cell: Cell, metric: str, runs: pd.DataFrame) -> float | None:
    """A plain statistic computed anew from the runs' values; None where the cell is not one."""
    name = statistic(cell.column, metric)
    if not name or "value" not in runs:
        return None
    return float(STATISTICS[name][1](runs["value"]))
