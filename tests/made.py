"""Tables and figures as the workflow makes them, and the runs behind their rows as `eflops explain` finds them."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from eflops.analysis.figure import Figure
from eflops.analysis.products import made_from
from eflops.analysis.source import Source
from eflops.analysis.table import Table
from eflops.config.models import Config
from eflops.config.products import Product, product_job, products
from eflops.provenance.explain.address import DataCell, key_columns
from eflops.provenance.explain.trace import Trace, trace


def texts(table: Table) -> pd.DataFrame:
    """The cells of a table as text, bold ones between stars."""
    cells = [[f"**{cell.text}**" if cell.bold else cell.text for cell in row] for row in table.cells]
    return pd.DataFrame(cells, columns=list(table.columns))


def product_of(config: Config, name: str) -> Product:
    return next(product for product in products(config) if product.name == name)


def made(config: Config, name: str, source: Source) -> Table | Figure:
    job = product_job(config, product_of(config, name))
    return made_from(job, source.limited(job))


def traced(config: Config, name: str, made: Table | Figure, row: Mapping[str, Any], column: str) -> Trace:
    keys = {key: row[key] for key in key_columns(made.data)}
    return trace(product_of(config, name), made, DataCell(keys, column, row[column], 0))
