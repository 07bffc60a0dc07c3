"""Making a table or figure: find its module, read its sources, write its files."""

from importlib import import_module
from pathlib import Path
from typing import Any

from eflops.analysis.catalogue import PRODUCTS
from eflops.analysis.source import Source


def make(name: str, results: Path, context: dict[str, Any], out: list[Path]) -> None:
    """Make the product `name` and write each of the files `out` by its ending."""
    product = next(product for product in PRODUCTS if product.name == name)
    made = import_module(product.module).make(Source(results, context))
    for path in out:
        made.write(path)
