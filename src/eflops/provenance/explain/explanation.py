"""Everything behind one number: the cell, its runs with their records, and its input files."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from eflops.analysis.text import Scalar
from eflops.config.products import Product
from eflops.config.study import Study, read_study
from eflops.errors import UserError
from eflops.files import sha256
from eflops.provenance.explain.address import Address, DataCell, find_cell, product_of, read_table, scorecard_lines
from eflops.provenance.explain.recompute import FromRecords, from_records, method_labels, remake
from eflops.provenance.explain.trace import METHOD_KEYS, trace
from eflops.results.paths import GATHERED_FOLDER, SCORECARD
from eflops.results.record import Record
from eflops.results.store import RUNS, Store

if TYPE_CHECKING:
    from eflops.analysis.figure import Figure
    from eflops.analysis.table import Table


@dataclass(frozen=True)
class BehindRun:
    """A run behind a number: the path of its record, and its contribution (None if it is not one number)."""

    path: str
    record: Record
    value: float | None


@dataclass(frozen=True)
class Explanation:
    """A number and its origin.

    file: its path below the results; words: the number's position in words; address: the position as command line
    options; rebuilt: the number rebuilt from the records; statistic: the number recomputed from the values of the
    runs, if it is a plain statistic; files: the hashes of the number's file and of its inputs besides records;
    configs: the given config files; made_in: the folder that the config names for its results.
    """

    file: str
    words: str
    address: tuple[str, ...]
    value: Scalar
    formula: str
    metric: str
    rebuilt: Scalar
    statistic: float | None
    runs: tuple[BehindRun, ...]
    files: dict[str, str]
    configs: tuple[Path, ...] = ()
    made_in: str = "results"

    @property
    def agrees(self) -> bool:
        """Whether the number follows from the records."""
        return equal(self.value, self.rebuilt) and (self.statistic is None or equal(self.value, self.statistic))


def equal(one: Scalar, other: Scalar) -> bool:
    """Whether two cells are equal, up to the rounding of the last digits of numbers."""
    if one is None or other is None or pd.isna(one) or pd.isna(other):
        return bool(pd.isna(one) and pd.isna(other))
    if isinstance(one, str) or isinstance(other, str):
        return str(one) == str(other)
    return bool(abs(one - other) <= 1e-9 * max(1.0, abs(one)))


def explain(store: Store, configs: tuple[Path, ...], address: Address, line: str | None) -> Explanation:
    """The explanation of the number at an address."""
    study = read_study(store.folder, *configs)
    if line is not None or address.file.stem == Path(SCORECARD).stem:
        if line is None:
            raise UserError(f"{address.file}: select a line of the scorecard, such as --line table1/0.64/eflops.")
        explained = explain_line(store, study, line)
    else:
        explained = explain_cell(store, study, product_of(store.folder, study.config, address.file), address)
    return replace(explained, configs=configs, made_in=study.config.results)


def explain_cell(store: Store, study: Study, product: Product, address: Address) -> Explanation:
    """The explanation of a table's cell or a figure's point."""
    name = product.csv
    cell = find_cell(read_table(store.folder / name), address, method_labels(study.config))
    source = from_records(store, study.config)
    made = remake(product, source, study.config)
    traced = trace(product, made, cell)
    if traced.runs.empty:
        _require_known(source, product, cell)
    return Explanation(
        file=name,
        words=str(cell),
        address=cell.options,
        value=cell.value,
        formula=traced.formula,
        metric=traced.metric,
        rebuilt=_same_cell(made, cell),
        statistic=traced.recomputed,
        runs=tuple(_behind(store, traced.runs)),
        files=_hashes(store, [*product.inputs, name]),
    )


def _require_known(source: FromRecords, product: Product, cell: DataCell) -> None:
    """Reject a cell whose method is neither in the study nor a reference."""
    named = {str(cell.keys[key]) for key in METHOD_KEYS if not pd.isna(cell.keys.get(key, math.nan))}
    fits = [name for name in product.experiments if f"{GATHERED_FOLDER}/{name}.references.csv" in product.inputs]
    known = {*source.labels, *(fit for name in fits for fit in source.references(name)["reference"])}
    if named - known:
        raise UserError(
            f"{product.csv}: {', '.join(sorted(named - known))} is not a method of study.json, which is older than the"
            " table; update both with: snakemake --cores 2 all"
        )


def explain_line(store: Store, study: Study, name: str) -> Explanation:
    """The explanation of a line of the scorecard."""
    # A verdict needs scipy, which a cell does not need.
    from eflops.provenance.explain.verdicts import line_verdict, runs_behind

    lines = scorecard_lines(store.folder)
    if name not in lines:
        raise UserError(f"{SCORECARD}: there is no line '{name}'; there are {', '.join(lines)}.")
    line = lines[name]
    source = from_records(store, study.config)
    verdict, reads = line_verdict(source, study.config, name)
    return Explanation(
        file=SCORECARD,
        words=name,
        address=("--line", name),
        value=line["verdict"],
        formula=line["reason"],
        metric=next((read.metric for read in reads if read.metric), ""),
        rebuilt=verdict,
        statistic=None,
        runs=tuple(_behind(store, runs_behind(source, line, reads))),
        files=_hashes(store, [SCORECARD]),
    )


def _same_cell(made: "Table | Figure", cell: DataCell) -> Scalar:
    """The corresponding cell of the rebuilt product, read as from its file."""
    frame = made.data.reset_index(drop=True)
    if cell.row >= len(frame) or cell.column not in frame:
        raise UserError(f"the records give no cell at {cell}; the file does not belong to these records.")
    return frame.loc[cell.row, cell.column]


def _behind(store: Store, runs: pd.DataFrame) -> Iterable[BehindRun]:
    for row in runs.to_dict("records"):
        path = f"{row['experiment']}/{row['record']}"
        value = row.get("value")
        contributes = None if value is None or pd.isna(value) else float(value)
        yield BehindRun(f"{RUNS}/{path}", store.record(path), contributes)


def _hashes(store: Store, names: Iterable[str]) -> dict[str, str]:
    return {name: sha256(store.folder / name) for name in names if (store.folder / name).is_file()}
