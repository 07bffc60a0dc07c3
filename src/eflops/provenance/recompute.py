"""Making gathered files, tables and figures again from the records alone, beside the results and not in them."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from eflops.analysis.catalogue import products
from eflops.analysis.catalogue.product import Product
from eflops.analysis.gather import gather
from eflops.analysis.source import Source
from eflops.analysis.supports import gather as gather_supports
from eflops.config import cells
from eflops.config.models import Config
from eflops.provenance.store import RUNS, Store

if TYPE_CHECKING:
    from eflops.analysis.figure import Figure
    from eflops.analysis.table import Table

GATHERED = "gathered"
SUFFIXES = ("csv", "curves.csv")
SUPPORTS = ".supports.csv"


def context(config: Config) -> dict[str, Any]:
    """What tables and figures must know of the config: how methods are called, and which train on pooled data."""
    return {
        "labels": {name: entry.label for name, entry in config.methods.items()},
        "pooled": [name for name, entry in config.methods.items() if entry.pooled],
    }


def gathered_files(config: Config) -> dict[str, str]:
    """The files that are gathered from records, below a results folder, and the experiment or search of each."""
    files = {f"{GATHERED}/{plan.name}.{suffix}": plan.name for plan in cells.plans(config) for suffix in SUFFIXES}
    further = {path for product in products(config) for path in product.inputs if path.endswith(SUPPORTS)}
    return files | {path: path.removeprefix(f"{GATHERED}/").removesuffix(SUPPORTS) for path in sorted(further)}


@dataclass(frozen=True)
class Remembering(Source):
    """A source that reads each file once, because many tables and figures are made from it in turn."""

    read: dict[str, pd.DataFrame] = field(default_factory=dict)

    def runs(self, experiment: str) -> pd.DataFrame:
        return self._once(f"runs of {experiment}", lambda: Source.runs(self, experiment))

    def curves(self, experiment: str) -> pd.DataFrame:
        return self._once(f"curves of {experiment}", lambda: Source.curves(self, experiment))

    def _once(self, name: str, read: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        if name not in self.read:
            self.read[name] = read()
        return self.read[name].copy(deep=False)


@contextmanager
def regathered(store: Store, config: Config, experiments: Iterable[str]) -> Iterator[Source]:
    """A source whose gathered files are made anew from the records of these experiments; all else is linked."""
    with tempfile.TemporaryDirectory(prefix="eflops-") as temporary:
        view = Path(temporary)
        made = gathered_files(config)
        (view / GATHERED).mkdir()
        for entry in [*store.folder.iterdir(), *(store.folder / GATHERED).glob("*")]:
            path = entry.relative_to(store.folder).as_posix()
            if path != GATHERED and path not in made:
                (view / path).symlink_to(entry.resolve())
        for name in experiments:
            gather_again(store, config, name, view)
        yield Remembering(view, context(config))


def gather_again(store: Store, config: Config, experiment: str, view: Path) -> None:
    """Gather the records of one experiment into the folder `view`."""
    plan, runs = cells.plan(config, experiment).as_json(), store.folder / RUNS / experiment
    out, curves = (view / GATHERED / f"{experiment}.{suffix}" for suffix in SUFFIXES)
    gather(plan, runs, out, curves)
    kept = f"{GATHERED}/{experiment}{SUPPORTS}"
    if kept in gathered_files(config):
        gather_supports(plan, runs, view / kept)


def remake(product: Product, source: Source) -> "Table | Figure":
    """A table or figure as the present code makes it."""
    made: Table | Figure = import_module(product.module).make(source)
    return made


def find_product(config: Config, file: Path) -> Product | None:
    """The table or figure that a file belongs to, by its name and folder."""
    place = f"{file.parent.name}/{file.name}"
    return next((product for product in products(config) if place in product.files), None)
