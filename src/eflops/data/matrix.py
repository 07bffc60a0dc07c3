"""Tables in files, as a spreadsheet or another program writes them.

CSV and TSV (also .gz) have a heading. An npz file has one array per column, or a matrix `values`. `read_frame` reads
any such file with each column's type; `read_matrix` reads an expression matrix, whose first column names its rows.
Information on the samples is in columns of the matrix if its rows are samples, or in a second file with one row per
sample, whose first column names the sample.
"""

import csv
import difflib
import gzip
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from eflops.errors import UserError
from eflops.files import locate, read_npz, sha256

Rows = Literal["samples", "genes"]
SHOWN = 5
SUMS = "SHA256SUMS"
# Arrays of an npz file that may name the columns of its matrix.
FEATURE_NAMES = ("features", "genes")


@dataclass(frozen=True)
class Matrix:
    """Numbers with the names of their rows and features, and additional text columns.

    values: [rows, features] float64; columns: text of each row, empty if missing; faults: sentences on what could
    not be read; words: the words for a row and a feature in sentences; target: [rows] float64, a numeric target.
    """

    source: str
    values: np.ndarray
    rows: tuple[str, ...]
    features: tuple[str, ...]
    columns: dict[str, tuple[str, ...]]
    faults: tuple[str, ...] = ()
    words: tuple[str, str] = ("sample", "gene")
    target: np.ndarray | None = None

    def take(self, rows: Sequence[int] | np.ndarray) -> "Matrix":
        """Only these rows, in this order."""
        columns = {name: tuple(texts[row] for row in rows) for name, texts in self.columns.items()}
        names = tuple(self.rows[row] for row in rows)
        target = None if self.target is None else self.target[list(rows)]
        return replace(self, values=self.values[list(rows)], rows=names, columns=columns, target=target)

    def keep(self, features: Sequence[str]) -> "Matrix":
        """Only these features, in this order; a missing one is an error."""
        index = {feature: column for column, feature in enumerate(self.features)}
        missing = [feature for feature in features if feature not in index]
        if missing:
            lacking = f"lacks {len(missing)} of the {len(features)} {self.words[1]}s that are needed: {listed(missing)}"
            raise UserError("\n".join([*self.faults, f"{self.source} {lacking}."]))
        if len(index) < len(self.features):
            raise UserError("\n".join(value_faults(self)))
        return replace(self, values=self.values[:, [index[feature] for feature in features]], features=tuple(features))


def read_matrix(
    path: str,
    rows: Rows,
    columns: Iterable[str] = (),
    samples: str | None = None,
    genes: Sequence[str] | None = None,
) -> Matrix:
    """The matrix of a file with the named columns of its samples, which a second file may hold.

    genes: the genes to read, in this order.
    """
    wanted = list(dict.fromkeys(columns))
    file = verified(path)
    inside = () if samples else wanted
    matrix = _read_npz(file, rows, inside) if file.suffix == ".npz" else _read_text(file, rows, inside, genes)
    matrix = matrix if genes is None else matrix.keep(genes)
    if samples is None:
        return matrix
    table = _read_samples(verified(samples), wanted)
    known = {name: tuple(table[name].reindex(matrix.rows).fillna("")) for name in wanted}
    return replace(matrix, columns=known)


def value_faults(matrix: Matrix) -> Iterator[str]:
    """Faults: unreadable cells, duplicate names, and values that are not numbers."""
    yield from matrix.faults
    for word, names in zip(matrix.words, (matrix.rows, matrix.features), strict=True):
        counts = pd.Series(names, dtype=str).value_counts(sort=False)
        twice = [str(name) for name in counts.index[counts > 1]]
        if twice:
            have = count(twice, f"{word} appears", f"{word}s appear")
            yield f"{matrix.source}: {have} twice: {listed(twice)}."
    # Rows are stored as float32; a comparison with NaN is false.
    wrong = ~(np.abs(matrix.values) <= np.finfo(np.float32).max)
    empty = np.isnan(matrix.values).all(axis=0) & (len(matrix.rows) > 0)
    if empty.any():
        without = np.array(matrix.features)[empty].tolist()
        have = count(without, f"{matrix.words[1]} has", f"{matrix.words[1]}s have")
        yield f"{matrix.source}: {have} no value in any {matrix.words[0]}: {listed(without)}; leave out what is empty."
    rows, columns = np.nonzero(wrong & ~empty)
    if len(rows):
        # The rows of a table have numbers for names.
        of = "of row" if matrix.words[0] == "row" else "of"
        where = [
            f"{matrix.features[column]} {of} {matrix.rows[row]}" for row, column in zip(rows, columns, strict=True)
        ]
        are = count(where, "value is", "values are")
        right = "fill them in, or leave out their rows or columns"
        yield f"{matrix.source}: {are} missing, not finite or too large: {listed(where)}; {right}."


def verified(path: str) -> Path:
    """The path of a file that the config names; if a SHA256SUMS next to it lists the file, its hash must match."""
    file = locate(path)
    if file is None:
        raise UserError(f"{path} is missing: there is no such file in the working folder {Path.cwd()}.")
    sums = file.parent / SUMS
    if sums.exists():
        digests = {name: digest for digest, name in map(str.split, sums.read_text().splitlines())}
        if file.name in digests and sha256(file) != digests[file.name]:
            raise UserError(f"{file} is not the file that {SUMS} names; restore it with: git checkout -- {file}")
    return file


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def count(names: Sequence[str], one: str, several: str) -> str:
    """The number of names, with the singular or plural word."""
    return f"{len(names)} {one if len(names) == 1 else several}"


def read_table(
    path: Path, text: Sequence[str] | None = None, first_is_name: bool = True
) -> tuple[list[str], pd.DataFrame]:
    """The heading of a CSV or TSV file, and its columns by number, since two may have one name.

    Spreadsheets may separate columns by semicolons, with decimal commas; R may omit the first cell of the heading.

    Args:
        path: the file.
        text: the names of columns to read as text; None: all.
        first_is_name: whether the first column names the rows and is therefore text.
    """
    heading, separator = _layout(path)
    kinds = {
        column: str
        for column, name in enumerate(heading)
        if text is None or name in text or (first_is_name and column == 0)
    }

    def read(decimal: str) -> pd.DataFrame:
        return pd.read_csv(
            path,
            sep=separator,
            decimal=decimal,
            header=0,
            names=range(len(heading)),
            index_col=False,
            dtype=kinds,
            encoding="utf-8-sig",
            low_memory=False,
        )

    try:
        # Between semicolons or tabs numbers have a comma or a point: the one that makes more columns numbers.
        readings = [read(decimal) for decimal in {",": ".", ";": ",.", "\t": ".,"}[separator]]
    except (ValueError, pd.errors.ParserError) as error:
        reason = " ".join(str(error).split())
        raise UserError(
            f"{path} cannot be read as a table: {reason}; save it as CSV or TSV with a header row."
        ) from None
    table = max(readings, key=lambda reading: reading.select_dtypes("number").shape[1])
    for column in kinds:
        table[column] = table[column].fillna("").str.strip()
    return heading, table


def read_frame(path: Path, text: Sequence[str] = ()) -> tuple[list[str], pd.DataFrame]:
    """The names of a file's columns, and the columns by number, each with its type in the file.

    Args:
        path: CSV or TSV (also .gz), parquet where pandas can read it, or npz. In an npz file every array with one axis
            is a column; a matrix `X` gives the columns X1, X2, ..., and a matrix `values` the columns named
            in `features`.
        text: the names of columns to read as text, such as a site "01", which is not a number.

    Returns:
        The heading, and a table with the columns 0, 1, ...; a missing text is empty.
    """
    if path.suffix == ".npz":
        heading, arrays = _columns_of(path)
        table = pd.DataFrame(dict(enumerate(arrays)))
    elif path.suffix == ".parquet":
        try:
            whole = pd.read_parquet(path)
        except ImportError:
            raise UserError(f"{path}: reading parquet needs the package pyarrow; or save the table as CSV.") from None
        except (ValueError, OSError) as error:
            raise UserError(f"{path} cannot be read as parquet ({error}).") from None
        heading, table = [str(name) for name in whole], whole.set_axis(range(whole.shape[1]), axis=1)
    else:
        heading, table = read_table(path, text, first_is_name=False)
    for column, name in enumerate(heading):
        values = table[column]
        if name in text:
            table[column] = [as_text(value) for value in values]
        elif not pd.api.types.is_numeric_dtype(values.dtype):
            table[column] = values.astype(object).map(str, na_action="ignore").fillna("").str.strip()
    return heading, table


def as_text(value: object) -> str:
    """A cell as text: a whole number without a decimal point; empty if missing."""
    if pd.isna(value):
        return ""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value).strip()  # type: ignore[call-overload]


def _columns_of(path: Path) -> tuple[list[str], list[np.ndarray]]:
    """The columns of an npz file: its arrays with one axis, and those of its matrices."""
    columns: dict[str, np.ndarray] = {}
    arrays = _arrays(path)
    names = next((arrays.pop(name) for name in FEATURE_NAMES if name in arrays and "values" in arrays), None)
    for name, array in arrays.items():
        if array.ndim == 1:
            columns[name] = array
        elif array.ndim == 2:
            numbered = [f"{name}{column}" for column in range(1, array.shape[1] + 1)]
            given = names is not None and name == "values" and len(names) == array.shape[1]
            columns |= dict(zip(map(str, names.tolist()) if given else numbered, array.T, strict=True))  # type: ignore[union-attr]
        else:
            raise UserError(f"{path}: the array `{name}` has {array.ndim} axes; a column has one and a matrix two.")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        sizes = [f"{name} {len(column)}" for name, column in columns.items()]
        raise UserError(f"{path}: its columns differ in length: {listed(sizes)}; each needs one entry per row.")
    return list(columns), list(columns.values())


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        return read_npz(path)
    except (ValueError, OSError, zipfile.BadZipFile):
        right = "write it by numpy.savez with arrays of numbers or of fixed-length text"
        raise UserError(f"{path} is not an npz file of plain arrays; {right}.") from None


def _layout(path: Path) -> tuple[list[str], str]:
    """The heading, and what separates columns, from the first two lines."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig") as stream:
            first, second = stream.readline(), stream.readline()
    except (UnicodeDecodeError, gzip.BadGzipFile):
        raise UserError(f"{path} is not a text file in UTF-8; save the sheet as CSV UTF-8 or TSV.") from None
    if not second:
        raise UserError(f"{path} has no rows below its header.")
    separators = ("\t",) if {".tsv", ".tab"} & set(path.suffixes) else (",", ";", "\t")
    parsed = {separator: [*csv.reader([first, second], delimiter=separator)] for separator in separators}

    def columns(separator: str) -> tuple[bool, int]:
        heading, row = map(len, parsed[separator])
        return row - heading in (0, 1), heading

    separator = max(separators, key=columns)
    heading, row = parsed[separator]
    if len(heading) == len(row) == 1:
        raise UserError(f"{path} has a single column, {first.strip()[:60]!r}; separate columns by commas or tabs.")
    return [""] * (len(row) == len(heading) + 1) + [name.strip() for name in heading], separator


def _read_text(path: Path, rows: Rows, columns: Sequence[str], genes: Sequence[str] | None) -> Matrix:
    if rows == "genes" and columns:
        raise UserError(
            f"{path} has a row per gene, so it cannot hold the column {columns[0]!r}: name a file of samples."
        )
    heading, table = read_table(path, columns)
    require(path, columns, heading[1:])
    wanted = set(heading if genes is None or rows == "genes" else genes)
    read = [column for column, name in enumerate(heading) if column and name not in columns and name in wanted]
    numeric = [column for column in read if pd.api.types.is_numeric_dtype(table[column].dtype)]
    words = [heading[column] for column in read if column not in numeric]
    faults = [f"{path}: {count(words, 'column is', 'columns are')} not numbers: {listed(words)}."] if words else []
    others = tuple(heading[column] for column in numeric)
    names, values = tuple(table[0]), table[numeric].to_numpy(np.float64)
    if rows == "genes":
        return Matrix(str(path), values.T, others, names, {}, tuple(faults))
    known = {name: tuple(table[heading.index(name)]) for name in columns}
    return Matrix(str(path), values, names, others, known, tuple(faults))


def _read_npz(path: Path, rows: Rows, columns: Sequence[str]) -> Matrix:
    arrays = _arrays(path)
    if "values" not in arrays or arrays["values"].ndim != 2 or arrays["values"].dtype.kind not in "fiu":
        raise UserError(f"{path} needs an array `values` of numbers with two axes; it holds {listed(sorted(arrays))}.")
    require(path, columns, sorted(arrays))
    values = arrays["values"].astype(np.float64)
    values = values.T if rows == "genes" else values
    names = {}
    for axis, length in zip(("samples", "genes"), values.shape, strict=True):
        names[axis] = tuple(map(str, arrays.get(axis, np.arange(1, length + 1)).tolist()))
    for name, axis_ in (("samples", 0), ("genes", 1), *((name, 0) for name in columns)):
        entries = len(names[name]) if name in names else len(arrays[name])
        if entries != values.shape[axis_]:
            right = f"`values` has {values.shape[axis_]} of them; is `rows: {rows}` right?"
            raise UserError(f"{path}: the array `{name}` has {entries} entries, and {right}")
    known = {name: tuple(map(str, arrays[name].tolist())) for name in columns}
    return Matrix(str(path), values, names["samples"], names["genes"], known)


def _read_samples(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """The second file: its columns as text, indexed by the sample in the first column."""
    heading, table = read_table(path)
    require(path, columns, heading[1:])
    table = table.set_axis(heading, axis=1).set_index(heading[0])
    twice = table.index[table.index.duplicated()].unique().tolist()
    if twice:
        raise UserError(f"{path} has more than one row for {count(twice, 'sample', 'samples')}: {listed(twice)}.")
    return table


def require(path: Path, columns: Sequence[str], present: Sequence[str]) -> None:
    """Reject a file that lacks one of these columns."""
    for name in columns:
        if name not in present:
            raise UserError(no_column(path, name, present))


def no_column(path: Path, name: str, present: Sequence[str]) -> str:
    """The sentence for a missing column, with the nearest name if one is similar."""
    names = [other for other in present if other]
    by_lower = {other.lower(): other for other in names}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    hint = f"did you mean {by_lower[near[0]]!r}? It" if near else "it"
    return f"{path} has no column {name!r}; {hint} has {listed(names)}."
