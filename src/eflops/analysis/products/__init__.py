"""Make a table or figure: find its function, read its sources, write its files."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from eflops import trust
from eflops.analysis.source import Source

if TYPE_CHECKING:
    from eflops.analysis.figure import Figure
    from eflops.analysis.table import Table
    from eflops.config.products import ProductJob


def make(job: "ProductJob", results: Path, out: Iterable[Path]) -> None:
    """Make a product and write each file in the form that its suffix names."""
    made = made_from(job, Source(results).limited(job))
    for path in out:
        made.write(Path(path))


def made_from(job: "ProductJob", source: Source) -> "Table | Figure":
    """A product made from a source."""
    made = trust.load("product", job["make"])(source, **job["parameters"])
    return replace(made, title=job["title"]) if hasattr(made, "title") and not made.title else made
