"""The runs behind every cell, point and line, by the very functions that `eflops explain` asks.

This is the one module that knows how numbers are traced.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from eflops.analysis.source import Source
from eflops.config.models import Config
from eflops.config.products import Product, products
from eflops.explain.address import Cell, key_columns
from eflops.explain.trace import trace_row
from eflops.explain.verdicts import reads_of, runs_behind
from eflops.explorer.references import References

if TYPE_CHECKING:
    from eflops.analysis.figure import Figure
    from eflops.analysis.table import Table


def product_cells(
    product: Product, made: "Table | Figure", frame: pd.DataFrame, references: References
) -> list[list[int | None]]:
    """For each row of a table or figure and each column that is no key, the place of its reference."""
    keys = key_columns(frame)
    columns = [column for column in frame.columns if column not in keys]
    behind = []
    for place, row in enumerate(frame.to_dict("records")):
        cells = [Cell({key: row[key] for key in keys}, column, row[column], place) for column in columns]
        traced = trace_row(product, made, cells) if cells else []
        behind.append([references.add(each.runs, each.metric, each.formula) for each in traced])
    return behind


def line_reference(source: Source, config: Config, line: dict[str, Any], references: References) -> int | None:
    """The place of the reference to the runs that a line of the scorecard rests on."""
    reads = reads_of(source, config, line["id"])
    metric = next((read.metric for read in reads if read.metric), "")
    return references.add(runs_behind(source, line, reads), metric, line["reason"])


def made_products(config: Config, folder: Path) -> Iterator[tuple[Product, Path]]:
    """The tables and figures that a results folder holds, each with the file of its numbers."""
    for product in products(config):
        if (folder / product.csv).exists():
            yield product, folder / product.csv
