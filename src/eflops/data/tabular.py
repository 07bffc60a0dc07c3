"""The rows of a table: read, encoded as features, split into test rows and clients."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from eflops.data.heterogeneity import dirichlet_counts
from eflops.data.matrix import Matrix, Rows, as_text, count, listed, no_column, read_frame, read_matrix, verified
from eflops.data.scaling import Scaling, clipped, varying
from eflops.errors import UserError
from eflops.files import locate, sha256
from eflops.rng import numpy_generator

Task = Literal["regression", "classification"]
# Test rows of each class at least: with one, accuracy and AUC of a class are a coin.
LEAST_TESTED = 2
PER_FEATURE = Scaling("per_feature")
# A number as spreadsheets print it, such as 1,234.50 or 12%.
PRINTED = re.compile(r"[-+\u2212]?\d[\d.,'\s]*%?")
# What a row and a feature are called in sentences about a table.
WORDS = ("row", "column")


@dataclass(frozen=True)
class Spec:
    """The config of a table.

    layout: what the rows of an expression matrix are; None for a table whose columns all have a heading. task: None
    if the type of the target column decides.
    """

    file: str
    target: str
    task: Task | None = None
    classes: tuple[str, ...] = ()
    sites: str | None = None
    ignore: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    id: str | None = None
    one_hot: int = 10
    layout: Rows | None = None
    samples: str | None = None
    scaling: Scaling = PER_FEATURE
    min_fold: float | None = None
    min_range: float | None = None
    test_share: float = 0.25
    test_rows: int | None = None
    clients: int = 10
    count_concentration: float | None = None
    min_rows: int = 1

    @property
    def hashes(self) -> tuple[str, ...]:
        """The sha256 of each existing file."""
        return tuple(sha256(file) for path in (self.file, self.samples) if path and (file := locate(path)))


def read(spec: Spec) -> Matrix:
    """The whole file: features, target and sites."""
    if spec.layout is not None:
        columns = [name for name in (spec.target, spec.sites) if name]
        return read_matrix(spec.file, spec.layout, columns, spec.samples)
    return _read_columns(spec)


def _read_columns(spec: Spec) -> Matrix:
    path = verified(spec.file)
    heading, table = read_frame(path, [name for name in (spec.sites, spec.id) if name])
    named = [spec.target, *filter(None, (spec.sites, spec.id)), *spec.ignore, *spec.features]
    absent = [name for name in dict.fromkeys(named) if name not in heading]
    if absent:
        raise UserError("\n".join(no_column(path, name, heading) for name in absent))

    def column(name: str) -> pd.Series:
        return table[heading.index(name)]

    # A column without a heading, such as pandas and R write in front, names the rows.
    id_ = spec.id if spec.id is not None or heading[0] else ""
    numbers = tuple(str(row) for row in range(1, len(table) + 1))
    names = numbers if id_ is None else tuple(map(as_text, column(id_)))
    apart = {spec.target, spec.sites, id_, *spec.ignore}
    wanted = [index for index, name in enumerate(heading) if name not in apart]
    if spec.features:
        wanted = [index for name in spec.features for index in wanted if heading[index] == name]
    encoded, wrong = _encoded(path, table, [(index, heading[index]) for index in wanted], spec.one_hot)
    labels = column(spec.target)
    odd = _odd_entries(labels, spec.one_hot)
    numeric = _numeric(labels) or bool(odd)
    task = spec.task or ("classification" if spec.classes or not numeric else "regression")
    target = pd.to_numeric(labels, errors="coerce").to_numpy(np.float64) if task == "regression" and numeric else None
    if odd:
        wrong.append(
            f"{path}: the target {spec.target!r} contains text among its numbers: {listed(odd)}; fix these rows."
        )
    elif task == "regression" and not numeric:
        seen = listed(sorted(set(map(as_text, labels)) - {""}))
        wrong.append(
            f"{path}: task: regression needs numbers, and {spec.target!r} holds {seen}; use task: classification."
        )
    columns = {spec.target: tuple(map(as_text, labels))}
    columns |= {spec.sites: tuple(column(spec.sites))} if spec.sites else {}
    values = np.column_stack([*encoded.values()]) if encoded else np.empty((len(table), 0))
    if not encoded:
        wrong.append(f"{path} has no column left for a feature besides {listed(sorted(filter(None, apart)))}.")
    return Matrix(str(path), values, names, tuple(name for _, name in encoded), columns, tuple(wrong), WORDS, target)


def _numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)


def _encoded(
    path: Path, table: pd.DataFrame, columns: Sequence[tuple[int, str]], most: int
) -> tuple[dict[tuple[int, str], np.ndarray], list[str]]:
    """The features by column number and name: numbers unchanged, text with few values one-hot encoded.

    most: the largest number of different values of a text column. Second result: one sentence per column that
    cannot be a feature.
    """
    features: dict[tuple[int, str], np.ndarray] = {}
    wrong, long = [], []
    for index, name in columns:
        column = table[index]
        if pd.api.types.is_numeric_dtype(column.dtype):
            features[index, name] = column.to_numpy(np.float64, na_value=np.nan)
            continue
        odd = _odd_entries(column, most)
        empty = [str(row + 1) for row in np.flatnonzero(column == "")]
        values = sorted(set(column) - {""})
        if odd:
            wrong.append(
                f"{path}: {name!r} contains text among its numbers: {listed(odd)}; fix these values or ignore the "
                "column."
            )
        elif len(values) > most:
            long.append(f"{name} ({len(values)})")
        else:
            features |= {(index, f"{name}={value}"): (column == value).to_numpy(np.float64) for value in values}
        if empty and not odd:
            have = count(empty, "value is", "values are")
            rows = f"row{'s'[: len(empty) > 1]} {listed(empty)}"
            wrong.append(f"{path}: {have} missing in {name!r}: {rows}; fill them in, or leave them out.")
    if long:
        are = count(long, "column is", "columns are")
        wrong.append(
            f"{path}: {are} text with more than {most} values: {listed(long)}; list such columns under ignore, or raise"
            " one_hot."
        )
    return features, wrong


def _odd_entries(column: pd.Series, most: int) -> list[str]:
    """The entries that make text of a column of numbers: few among numbers, or numbers that are printed for people.

    most: text of so few values may be classes, such as versions, though it looks like numbers.
    """
    if pd.api.types.is_numeric_dtype(column.dtype):
        return []
    filled = column[column != ""]
    words = filled[pd.to_numeric(filled, errors="coerce").isna()].unique().tolist()
    few = filled.isin(words).sum() < 0.5 * len(filled)
    printed = filled.nunique() > most and all(map(PRINTED.fullmatch, words))
    return words if few or printed else []


def read_features(path: str, names: Sequence[str], id_: str | None = None) -> Matrix:
    """The rows of a new file with the features that a model was fitted to, in their order.

    A feature such as `sex=female` is read from the text column `sex`. Other columns are ignored.
    """
    file = verified(path)
    heading, table = read_frame(file, [id_] if id_ else [])
    columns: dict[str, np.ndarray] = {}
    wrong: list[str] = []
    # A column may hold "=" in its name and its values, so that each way to read a feature's name is tried.
    sources = {
        name: next(
            ((name[:at], name[at + 1 :]) for at in range(len(name)) if name[at] == "=" and name[:at] in heading), None
        )
        for name in names
        if name not in heading
    }
    absent = [name.split("=")[0] for name, source in sources.items() if source is None]
    if absent:
        needed = count(sorted(set(absent)), "column", "columns")
        raise UserError(f"{file} lacks {needed} of those that the model needs: {listed(sorted(set(absent)))}.")
    known: dict[str, set[str]] = {}
    for name in names:
        column, value = sources.get(name) or (name, None)
        cells = table[heading.index(column)]
        if value is not None:
            known.setdefault(column, set()).add(value)
            columns[name] = np.array([as_text(cell) == value for cell in cells], dtype=np.float64)
        elif pd.api.types.is_numeric_dtype(cells.dtype):
            columns[name] = cells.to_numpy(np.float64, na_value=np.nan)
        else:
            words = sorted(set(cells[pd.to_numeric(cells, errors="coerce").isna()]))
            wrong.append(f"{file}: {name!r} should contain numbers, but contains {listed([*map(repr, words)])}.")
            columns[name] = np.zeros(len(table))
    for column, values in known.items():
        strange = sorted(set(map(as_text, table[heading.index(column)])) - values)
        if strange:
            holds = listed([*map(repr, strange)])
            wrong.append(f"{file}: {column!r} contains {holds}, but the model knows only {listed(sorted(values))}.")
    index = heading.index(id_) if id_ in heading else None
    rows = tuple(str(row) for row in range(1, len(table) + 1)) if index is None else tuple(map(as_text, table[index]))
    return Matrix(str(file), np.column_stack([*columns.values()]), rows, tuple(names), {}, tuple(wrong), WORDS)


def selected(matrix: Matrix, spec: Spec) -> Matrix:
    """The rows of the classes that the entry names; all rows if it names none."""
    if not spec.classes:
        return matrix
    wanted = set(spec.classes)
    return matrix.take([row for row, name in enumerate(matrix.columns[spec.target]) if name in wanted])


def classes_of(matrix: Matrix, spec: Spec) -> tuple[str, ...]:
    """The classes in order: as the entry lists them, or all labels sorted, numerically if all are numbers."""
    labels = sorted(set(matrix.columns[spec.target]))
    if spec.layout is None and all(label.lstrip("-").isdecimal() for label in labels):
        labels.sort(key=int)
    return spec.classes or tuple(labels)


def labels_of(matrix: Matrix, spec: Spec) -> np.ndarray:
    """The class of each row as a number: [rows] int64; all 0 for a numeric target."""
    if matrix.target is not None:
        return np.zeros(len(matrix.rows), dtype=np.int64)
    numbers = {name: number for number, name in enumerate(classes_of(matrix, spec))}
    return np.array([numbers[name] for name in matrix.columns[spec.target]], dtype=np.int64)


def filtered(matrix: Matrix, spec: Spec) -> tuple[str, ...]:
    """The features that pass the filter, in the file's order."""
    values = clipped(matrix.values, spec.scaling.floor, spec.scaling.ceiling)
    keep = varying(values, spec.min_fold, spec.min_range)
    if not keep.any():
        raise UserError(f"{matrix.source}: no gene passes the filter; lower min_fold or min_range.")
    return tuple(np.array(matrix.features)[keep].tolist())


def split(matrix: Matrix, spec: Spec, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Test rows, sorted, and training rows in random order.

    `test_rows`: this many of all rows. `test_share`: this share of every class, at least two; a site always keeps
    `min_rows` rows for training.
    """
    order = numpy_generator(seed, "test-split").permutation(len(matrix.rows))
    if spec.test_rows is not None:
        return np.sort(order[: spec.test_rows]), order[spec.test_rows :]
    labels = labels_of(matrix, spec)
    sites = sites_of(matrix, spec) or ("",) * len(order)
    left = {site: rows - spec.min_rows for site, rows in Counter(sites).items()}
    shares = spec.test_share * np.bincount(labels)
    wanted = {label: max(LEAST_TESTED, int(share + 0.5)) for label, share in enumerate(shares)}
    test = []
    for row in order:
        if wanted[labels[row]] > 0 and left[sites[row]] > 0:
            test.append(row)
            wanted[labels[row]] -= 1
            left[sites[row]] -= 1
    return np.sort(np.array(test, dtype=np.int64)), order[~np.isin(order, test)]


def divided(matrix: Matrix, spec: Spec, train: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """The training rows of each client, by the client's name."""
    sites = sites_of(matrix, spec)
    if sites:
        of_row = np.array(sites)[train]
        return {str(site): train[of_row == site] for site in sorted(set(sites))}
    counts = dirichlet_counts(len(train), spec.clients, spec.count_concentration, spec.min_rows, seed)
    return {str(client): part for client, part in enumerate(np.split(train, np.cumsum(counts)[:-1]))}


def sites_of(matrix: Matrix, spec: Spec) -> tuple[str, ...]:
    """The site of each row; empty if the entry names no such column."""
    return matrix.columns[spec.sites] if spec.sites else ()
