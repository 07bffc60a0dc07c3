"""Tables and figures for the page: plain numbers with their runs, the printed table, the picture.

Only this module of the explorer traces numbers to runs, with the functions of `eflops explain`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pandas as pd

from eflops.analysis.cells import Number
from eflops.analysis.scorecard.card import LineJson
from eflops.analysis.source import Source
from eflops.analysis.table import Table
from eflops.config.models import Config
from eflops.config.products import Product, products
from eflops.explorer.page import rounded
from eflops.provenance.explain.address import DataCell, key_columns
from eflops.provenance.explain.recompute import remake
from eflops.provenance.explain.text import plain
from eflops.provenance.explain.trace import Tracer
from eflops.provenance.explain.verdicts import reads_of, runs_behind

Item = TypeVar("Item")


@dataclass
class References:
    """What stands behind numbers; `positions` is where each record, by its path below the runs, stands on the page.

    A reference is [set of runs, metric, values, formula], each set and list of values written once: the index of the
    values among `values`, or None where each run contributes its final metric; the metric is empty where no run
    contributes one number.
    """

    positions: Mapping[str, int]
    metrics: Mapping[str, list[float | None]]
    sets: list[list[int]] = field(default_factory=list)
    values: list[list[float | int | None]] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    entries: list[list[int | str | None]] = field(default_factory=list)
    _known: dict[tuple[int, str], int] = field(default_factory=dict)

    def add(self, runs: "RunColumns", rows: Sequence[int], metric: str, formula: str) -> int | None:
        """The index of a reference to these rows of gathered runs; None if there are none."""
        if not rows:
            return None
        members = [runs.positions[row] for row in rows]
        run_set, words = self._index(self.sets, members), self._index(self.formulas, formula)
        values, final = runs.values(metric), self.metrics.get(metric)
        if values is None:
            return self._index(self.entries, [run_set, "", None, words])
        contributed = [values[row] for row in rows]
        same = final is not None and contributed == [rounded(final[member]) for member in members]
        return self._index(
            self.entries, [run_set, metric, None if same else self._index(self.values, contributed), words]
        )

    def as_json(self) -> dict[str, object]:
        """All references as JSON values."""
        return {"sets": self.sets, "values": self.values, "formulas": self.formulas, "entries": self.entries}

    def _index(self, values: list[Item], value: Item) -> int:
        """The index of a value in a list; a new value is appended."""
        # By its text, because a list has no hash, and 1 and 1.0 are written differently.
        name = (id(values), repr(value))
        if name not in self._known:
            self._known[name] = len(values)
            values.append(value)
        return self._known[name]


class RunColumns:
    """Gathered runs as columns: the index of each on the page, and its contribution to a metric."""

    def __init__(self, frame: pd.DataFrame, positions: Mapping[str, int]) -> None:
        self.positions = [positions[path] for path in frame["experiment"] + "/" + frame["record"]] if len(frame) else []
        self._frame, self._values = frame, dict[str, list[float | int | None] | None]()

    def values(self, metric: str) -> list[float | int | None] | None:
        """Each run's contribution to a metric, in few digits; None if it is not one number per run."""
        if metric not in self._values:
            column = self._frame.get(metric)
            self._values[metric] = None if column is None else [rounded(value) for value in column]
        return self._values[metric]


def made_products(config: Config, folder: Path) -> Iterator[tuple[Product, Path]]:
    """The tables and figures in a results folder, each with the file of its numbers."""
    for product in products(config):
        if (folder / product.csv).exists():
            yield product, folder / product.csv


def product_json(
    product: Product, path: Path, source: Source, config: Config, references: References
) -> dict[str, object]:
    """A table or figure with its plain numbers at `path`.

    behind: for each row and each non-key column, the index of its reference.
    """
    frame, made = pd.read_csv(path), remake(product, source, config)
    keys = key_columns(frame)
    values = [column for column in frame.columns if column not in keys]
    tracer, runs = Tracer(product, made), RunColumns(made.runs, references.positions)
    behind: list[list[int | None]] = []
    for index, row in enumerate(frame.to_dict("records")):
        named, rows = {key: row[key] for key in keys}, dict[str, list[int]]()
        behind.append([])
        for column in values:
            metric = tracer.metric(DataCell(named, column, row[column], index))
            if metric not in rows:
                rows[metric] = tracer.rows(named, metric)
            formula = tracer.formula(column, metric, bool(rows[metric]))
            behind[-1].append(references.add(runs, rows[metric], metric, formula))
    return {
        "kind": product.kind,
        "name": product.name,
        "title": product.caption,
        "category": product.category,
        "note": product.note,
        "file": product.csv,
        "keys": keys,
        "columns": values,
        "rows": [[plain(value) for value in row] for row in frame[[*keys, *values]].itertuples(index=False)],
        "behind": behind,
        "shown": shown_json(made, values, len(frame)) if isinstance(made, Table) else None,
    }


def line_reference(source: Source, config: Config, line: LineJson, references: References) -> int | None:
    """The index of the reference to the runs that a scorecard line uses."""
    reads = reads_of(source, config, line["id"])
    metric = next((read.metric for read in reads if read.metric), "")
    behind = runs_behind(source, line, reads)
    # Each read has its own metric; what a run contributes is its `value`.
    behind = behind[["experiment", "record", *(["value"] if "value" in behind else [])]]
    behind = behind.rename(columns={"value": metric})
    return references.add(RunColumns(behind, references.positions), range(len(behind)), metric, line["reason"])


def shown_json(table: Table, columns: list[str], rows: int) -> dict[str, object]:
    """The printed table: cells in parts, and which cells are bold.

    A part is text, or [text, row, column] of the plain number, with the column's index among the value columns. A
    number without a plain number in the file (of `rows` rows) is text.
    """

    def part_json(part: str | Number) -> str | list[str | int]:
        if isinstance(part, str):
            return part
        row, column = part.key
        return [part.text, row, columns.index(column)] if row < rows and column in columns else part.text

    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[list(map(part_json, cell.parts)) for cell in row] for row in table.cells],
        "bold": [[index for index, cell in enumerate(row) if cell.bold] for row in table.cells],
        "note": table.note,
    }


def pictures(folder: Path) -> dict[str, str]:
    """The figures of a results folder as SVG, by name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "figures").glob("*.svg"))}
