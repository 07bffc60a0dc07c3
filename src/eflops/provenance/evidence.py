"""Everything behind one number: the cell, the runs with their records, and the files it was made from."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from eflops import record
from eflops.analysis.catalogue.product import Product
from eflops.data.federation import read_manifest
from eflops.errors import UserError
from eflops.files import sha256
from eflops.provenance import lines
from eflops.provenance.address import Address, Cell, locate
from eflops.provenance.lines import judged_experiments, judged_line, runs_behind, stored_line
from eflops.provenance.recompute import context, regathered, remake
from eflops.provenance.store import RUNS, Store
from eflops.provenance.study import Study
from eflops.provenance.trace import trace
from eflops.record import Record

if TYPE_CHECKING:
    from eflops.analysis.figure import Figure
    from eflops.analysis.table import Table


@dataclass(frozen=True)
class BehindRun:
    """A run behind a number: where its record lies, what it contributes (None where it is not one number)."""

    path: str
    record: Record
    value: float | None


@dataclass(frozen=True)
class Evidence:
    """A number and all it rests on.

    place: the file; words: which number in it; formula: how it is made; remade: the same number made anew from the
    records; statistic: computed anew from the runs' own values, where it is a plain statistic; data: the settings that
    each data draw of the runs was made with; files: the hashes of the number's own file and of what it was made from
    besides records.
    """

    place: str
    words: str
    value: Any
    formula: str
    metric: str
    remade: Any
    statistic: float | None
    runs: tuple[BehindRun, ...]
    data: dict[str, dict[str, Any]]
    files: dict[str, str]

    @property
    def agrees(self) -> bool:
        """Whether the number follows from the records."""
        return equal(self.value, self.remade) and (self.statistic is None or equal(self.value, self.statistic))


def equal(one: Any, other: Any) -> bool:
    """Whether two cells hold the same, numbers up to the rounding of their last digits."""
    if pd.isna(one) or pd.isna(other):
        return bool(pd.isna(one) and pd.isna(other))
    if isinstance(one, str) or isinstance(other, str):
        return str(one) == str(other)
    return bool(abs(one - other) <= 1e-9 * max(1.0, abs(one)))


def cell_evidence(store: Store, study: Study, product: Product, address: Address) -> Evidence:
    """What is behind a cell of a table or a point of a figure."""
    name = next(path for path in product.files if path.endswith(".csv"))
    frame = pd.read_csv(store.folder / name)
    cell = locate(frame, address, context(study.config)["labels"])
    with regathered(store, study.config, product.experiments) as source:
        traced = trace(product, source, cell)
        remade = _same_cell(remake(product, source), cell)
    runs = tuple(_behind(store, traced.runs))
    return Evidence(
        place=name,
        words=str(cell),
        value=cell.value,
        formula=traced.formula,
        metric=traced.metric,
        remade=remade,
        statistic=traced.recomputed,
        runs=runs,
        data=_data(store, runs),
        files=_hashes(store, [*product.inputs, name]),
    )


def line_evidence(store: Store, study: Study, name: str) -> Evidence:
    """What is behind a line of the scorecard."""
    line = stored_line(store.folder, name)
    with regathered(store, study.config, judged_experiments(store.folder, study.config)) as source:
        verdict, reads = judged_line(source, study.config, name)
        gathered = runs_behind(source, line, reads)
    runs = tuple(_behind(store, gathered))
    return Evidence(
        place=lines.NAME,
        words=name,
        value=line["verdict"],
        formula=line["reason"],
        metric=next((read.metric for read in reads if read.metric), ""),
        remade=verdict,
        statistic=None,
        runs=runs,
        data=_data(store, runs),
        files=_hashes(store, [lines.NAME]),
    )


def _same_cell(made: "Table | Figure", cell: Cell) -> Any:
    """The cell at the same place of the product made anew, read as it would be from its file."""
    frame = made.data.reset_index(drop=True)
    if cell.row >= len(frame) or cell.column not in frame:
        raise UserError(f"the records give no cell at {cell}; the file and the records do not belong together.")
    return frame.loc[cell.row, cell.column]


def _behind(store: Store, runs: pd.DataFrame) -> Iterable[BehindRun]:
    for row in runs.to_dict("records"):
        path = f"{row['experiment']}/{row['record']}"
        value = row.get("value")
        yield BehindRun(
            f"{RUNS}/{path}",
            record.read(store.folder / RUNS / path),
            None if value is None or pd.isna(value) else float(value),
        )


def _data(store: Store, runs: Iterable[BehindRun]) -> dict[str, dict[str, Any]]:
    names = dict.fromkeys(run.record.origin.data for run in runs)
    return {name: read_manifest(store.folder / "data" / name)["settings"] for name in names}


def _hashes(store: Store, names: Iterable[str]) -> dict[str, str]:
    return {name: sha256(store.folder / name) for name in names if (store.folder / name).is_file()}
