"""Making a table or figure: find its function, read its sources, write its files."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eflops import trust
from eflops.analysis.source import Source

if TYPE_CHECKING:
    from eflops.analysis.figure import Figure
    from eflops.analysis.table import Table


def make(job: Mapping[str, Any], results: Path, out: Iterable[Path]) -> None:
    """Make a product, as `eflops.config.products.product_job` describes it, and write each file by its ending."""
    made = made_from(job, Source.of(job, results))
    for path in out:
        made.write(Path(path))


def made_from(job: Mapping[str, Any], source: Source) -> "Table | Figure":
    """A product made from a source."""
    made: Table | Figure = trust.load("product", job["make"])(source, **job["parameters"])
    return replace(made, title=job["title"]) if hasattr(made, "title") and not made.title else made
