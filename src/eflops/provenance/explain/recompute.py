"""Rebuild gathered files, tables and figures from the records, without writing to the results."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from eflops.analysis.gather import Entries, curves_table, runs_table, supports_table
from eflops.analysis.products import made_from
from eflops.analysis.source import Source
from eflops.config.models import Config
from eflops.config.plan import all_plans, plan_of
from eflops.config.products import Product, product_job
from eflops.results.paths import GATHERED_FOLDER
from eflops.results.record import Record
from eflops.results.store import Store

if TYPE_CHECKING:
    from eflops.analysis.figure import Figure
    from eflops.analysis.table import Table

# The gathered files of an experiment by their endings.
TABLES: Mapping[str, Callable[[Entries], pd.DataFrame]] = {
    "csv": runs_table,
    "curves.csv": curves_table,
    "supports.csv": supports_table,
}


def method_labels(config: Config) -> dict[str, str]:
    """What each method is called in print, in the config's order."""
    return {name: entry.label for name, entry in config.methods.items()}


def gathered_files(config: Config) -> dict[str, str]:
    """The gathered files of a results folder, with the experiment or search of each."""
    return {f"{GATHERED_FOLDER}/{plan.name}.{suffix}": plan.name for plan in all_plans(config) for suffix in TABLES}


@dataclass(frozen=True)
class FromRecords(Source):
    """A source whose gathered files are rebuilt from the records on first use; other files are read from disk.

    The hashes of records are not checked here: the audit checks all, and `explain` those behind its number.
    """

    store: Store | None = None
    config: Config | None = None
    texts: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    _entries: dict[str, Entries] = field(default_factory=dict, compare=False, repr=False)

    def has(self, name: str) -> bool:
        """Whether a file exists or can be rebuilt."""
        experiment, suffix = _parts(name)
        assert self.store
        return self.store.has_runs(experiment) if suffix in TABLES else super().has(name)

    def text(self, name: str) -> str:
        """A gathered file, rebuilt from the records."""
        if name not in self.texts:
            experiment, suffix = _parts(name)
            self.texts[name] = TABLES[suffix](self._records(experiment)).to_csv(index=False)
        return self.texts[name]

    def _opened(self, name: str, path: Path) -> Path | io.StringIO:
        return io.StringIO(self.text(name)) if _parts(name)[1] in TABLES else path

    def _records(self, experiment: str) -> Entries:
        if experiment not in self._entries:
            assert self.store
            assert self.config
            paths = plan_of(self.config, experiment).record_paths
            self._entries[experiment] = [(path, self.store.record(f"{experiment}/{path}", False)) for path in paths]
        return self._entries[experiment]


def from_records(store: Store, config: Config) -> FromRecords:
    """The source of tables and figures, rebuilt from the records of a store."""
    return FromRecords(store.folder, method_labels(config), store=store, config=config)


def gathered_texts(config: Config, experiment: str, records: Mapping[str, Record]) -> dict[str, str]:
    """The gathered files of an experiment, from its records by path below the runs."""
    paths = plan_of(config, experiment).record_paths
    entries = [(path, records[f"{experiment}/{path}"]) for path in paths]
    wanted = [name for name, owner in gathered_files(config).items() if owner == experiment]
    return {name: TABLES[_parts(name)[1]](entries).to_csv(index=False) for name in wanted}


def _parts(name: str) -> tuple[str, str]:
    """The experiment and the suffix of a gathered file; empty for other files."""
    folder, _, file = name.partition("/")
    experiment, _, suffix = file.partition(".")
    return (experiment, suffix) if folder == GATHERED_FOLDER else ("", "")


def remake(product: Product, source: Source, config: Config) -> "Table | Figure":
    """A table or figure, rebuilt by the present code."""
    job = product_job(config, product)
    return made_from(job, source.limited(job))
