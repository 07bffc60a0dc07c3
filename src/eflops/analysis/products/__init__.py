"""Making a table or figure: find its function, read its sources, write its files."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eflops.analysis.source import Source
from eflops.errors import UserError

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
    made: Table | Figure = load_object(job["make"])(source, **job["parameters"])
    return replace(made, title=job["title"]) if hasattr(made, "title") and not made.title else made


def load_object(place: str) -> Callable[..., Any]:
    """The function at `module:function`."""
    module, _, name = place.partition(":")
    try:
        found: Callable[..., Any] = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name and not module.startswith(error.name):
            raise
        raise UserError(f"{place}: there is no module {module}; put {module}.py beside the Snakefile.") from None
    except AttributeError:
        raise UserError(f"{place}: the module {module} has no function {name}.") from None
    return found
