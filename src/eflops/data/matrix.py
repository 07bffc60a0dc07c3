"""An expression matrix from a file, as a spreadsheet or another program writes it.

CSV and TSV (also .gz) have a heading, and their first column names the rows. An npz file has an array `values`, and may
have `samples` and `genes` (names) and further arrays with one entry per sample, such as a label.
What is known of the samples stands in columns of the matrix, where its rows are samples, or in a second file with one
row per sample, whose first column names the sample.
"""

import csv
import gzip
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from eflops.errors import UserError
from eflops.files import locate, sha256

Rows = Literal["samples", "genes"]
SHOWN = 5
SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Matrix:
    """values: [samples, genes] float64; columns: what is known of each sample, as text, empty where it is missing."""

    source: str
    values: np.ndarray
    samples: tuple[str, ...]
    genes: tuple[str, ...]
    columns: dict[str, tuple[str, ...]]

    def take(self, rows: Sequence[int] | np.ndarray) -> "Matrix":
        """Only these samples, in this order."""
        columns = {name: tuple(texts[row] for row in rows) for name, texts in self.columns.items()}
        samples = tuple(self.samples[row] for row in rows)
        return replace(self, values=self.values[list(rows)], samples=samples, columns=columns)

    def keep(self, genes: Sequence[str]) -> "Matrix":
        """Only these genes, in this order; one that the matrix lacks is a mistake."""
        places = {gene: place for place, gene in enumerate(self.genes)}
        missing = [gene for gene in genes if gene not in places]
        if missing:
            raise UserError(f"{self.source} lacks {len(missing)} of the {len(genes)} genes needed: {listed(missing)}.")
        if len(places) < len(self.genes):
            raise UserError("\n".join(value_faults(self)))
        return replace(self, values=self.values[:, [places[gene] for gene in genes]], genes=tuple(genes))


def read_matrix(
    path: str,
    rows: Rows,
    columns: Iterable[str] = (),
    samples: str | None = None,
    genes: Sequence[str] | None = None,
) -> Matrix:
    """The matrix of a file with the named columns of its samples, those of the second file where there is one.

    genes: only these, in this order; whatever else stands beside them may be there.
    """
    wanted = list(dict.fromkeys(columns))
    found = verified(path)
    inside = () if samples else wanted
    matrix = _read_npz(found, rows, inside) if found.suffix == ".npz" else _read_text(found, rows, inside, genes)
    matrix = matrix if genes is None else matrix.keep(genes)
    if samples is None:
        return matrix
    table = _read_samples(verified(samples), wanted)
    known = {name: tuple(table[name].reindex(matrix.samples).fillna("")) for name in wanted}
    return replace(matrix, columns=known)


def value_faults(matrix: Matrix) -> Iterator[str]:
    """Names that are not unique, and values that are no numbers."""
    for axis, names in (("gene", matrix.genes), ("sample", matrix.samples)):
        counts = pd.Series(names, dtype=str).value_counts(sort=False)
        twice = [str(name) for name in counts.index[counts > 1]]
        if twice:
            yield f"{matrix.source}: {counted(twice, f'{axis} stands', f'{axis}s stand')} there twice: {listed(twice)}."
    rows, columns = np.nonzero(~np.isfinite(matrix.values))
    if len(rows):
        where = [f"{matrix.genes[gene]} of {matrix.samples[row]}" for row, gene in zip(rows, columns, strict=True)]
        yield f"{matrix.source}: {counted(where, 'value is', 'values are')} missing or not finite: {listed(where)}."


def verified(path: str) -> Path:
    """Where a file of the config lies; one that a SHA256SUMS beside it names must be the file that it names."""
    found = locate(path)
    if found is None:
        raise UserError(f"{path} is missing: there is no such file in the working folder {Path.cwd()}.")
    sums = found.parent / SUMS
    if sums.exists():
        digests = {name: digest for digest, name in map(str.split, sums.read_text().splitlines())}
        if found.name in digests and sha256(found) != digests[found.name]:
            raise UserError(f"{found} is not the file that {SUMS} names; restore it with: git checkout -- {found}")
    return found


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def counted(names: Sequence[str], one: str, several: str) -> str:
    """How many names there are, with the words for one or for several."""
    return f"{len(names)} {one if len(names) == 1 else several}"


def read_table(path: Path, text: Sequence[str] | None = None) -> tuple[list[str], pd.DataFrame]:
    """The heading of a CSV or TSV file, and its columns by place, of which the first and those named are text.

    Spreadsheets may part columns by semicolons, with commas in numbers; R may leave the first cell of the heading out.
    text: the names of columns of text; None: all.
    """
    heading, layout = _layout(path)
    kinds = {place: str for place, name in enumerate(heading) if place == 0 or text is None or name in text}
    try:
        names = range(len(heading))
        table = pd.read_csv(
            path, header=0, names=names, index_col=False, dtype=kinds, encoding="utf-8-sig", low_memory=False, **layout
        )
    except (ValueError, pd.errors.ParserError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path} cannot be read as a table: {reason}; save it as CSV or TSV with a heading.") from None
    for place in kinds:
        table[place] = table[place].fillna("").str.strip()
    return heading, table


def _layout(path: Path) -> tuple[list[str], dict[str, str]]:
    """The heading, and how columns are parted, from the first two lines."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig") as stream:
            first, second = stream.readline(), stream.readline()
    except (UnicodeDecodeError, gzip.BadGzipFile):
        raise UserError(f"{path} is not a text file; save the sheet as CSV or TSV.") from None
    if not second:
        raise UserError(f"{path} has no rows below its heading.")
    layout = {"sep": ","}
    if {".tsv", ".tab", ".txt"} & set(path.suffixes):
        layout = {"sep": "\t"}
    elif first.count(";") > first.count(","):
        layout = {"sep": ";", "decimal": ","}
    heading, row = csv.reader([first, second], delimiter=layout["sep"])
    return [""] * (len(row) == len(heading) + 1) + [name.strip() for name in heading], layout


def _read_text(path: Path, rows: Rows, columns: Sequence[str], genes: Sequence[str] | None) -> Matrix:
    if rows == "genes" and columns:
        raise UserError(
            f"{path} has a row per gene, so it cannot hold the column {columns[0]!r}: name a file of samples."
        )
    heading, table = read_table(path, columns)
    _require(path, columns, heading[1:])
    wanted = set(heading if genes is None or rows == "genes" else genes)
    places = [place for place, name in enumerate(heading) if place and name not in columns and name in wanted]
    others = tuple(heading[place] for place in places)
    words = [heading[place] for place in places if not pd.api.types.is_numeric_dtype(table[place].dtype)]
    if words:
        raise UserError(f"{path}: {counted(words, 'column is', 'columns are')} not numbers: {listed(words)}.")
    names, values = tuple(table[0]), table[places].to_numpy(np.float64)
    if rows == "genes":
        return Matrix(str(path), values.T, others, names, {})
    known = {name: tuple(table[heading.index(name)]) for name in columns}
    return Matrix(str(path), values, names, others, known)


def _read_npz(path: Path, rows: Rows, columns: Sequence[str]) -> Matrix:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, zipfile.BadZipFile):
        raise UserError(f"{path} is not an npz file of plain arrays.") from None
    if "values" not in arrays or arrays["values"].ndim != 2 or arrays["values"].dtype.kind not in "fiu":
        raise UserError(f"{path} needs an array `values` of numbers with two axes; it holds {listed(sorted(arrays))}.")
    _require(path, columns, sorted(arrays))
    values = arrays["values"].astype(np.float64)
    values = values.T if rows == "genes" else values
    names = {}
    for axis, length in zip(("samples", "genes"), values.shape, strict=True):
        names[axis] = tuple(map(str, arrays.get(axis, np.arange(1, length + 1)).tolist()))
    for name, length in (("samples", 0), ("genes", 1), *((name, 0) for name in columns)):
        entries = len(names[name]) if name in names else len(arrays[name])
        if entries != values.shape[length]:
            right = f"`values` has {values.shape[length]} of them; is `rows: {rows}` right?"
            raise UserError(f"{path}: the array `{name}` has {entries} entries, and {right}")
    known = {name: tuple(map(str, arrays[name].tolist())) for name in columns}
    return Matrix(str(path), values, names["samples"], names["genes"], known)


def _read_samples(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """The second file: its columns as text, by the sample that the first column names."""
    heading, table = read_table(path)
    _require(path, columns, heading[1:])
    table = table.set_axis(heading, axis=1).set_index(heading[0])
    twice = table.index[table.index.duplicated()].unique().tolist()
    if twice:
        raise UserError(f"{path} has more than one row for {counted(twice, 'sample', 'samples')}: {listed(twice)}.")
    return table


def _require(path: Path, columns: Sequence[str], present: Sequence[str]) -> None:
    for name in columns:
        if name not in present:
            raise UserError(f"{path} has no column {name!r}; it has {listed(list(present))}.")
