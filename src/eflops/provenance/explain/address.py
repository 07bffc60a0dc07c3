"""Resolve what the user typed to a results folder, a product and one of its cells.

A table's cell is named by row and column, a figure's point by series and x, a line of the scorecard by its id. Tables
and figures keep their plain numbers in a CSV file whose first columns are its keys. A word of an address selects rows
by the value of any key ("0.64", "eflops", also "E-FLoPS"), or of a named key ("ratio=0.64").
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from eflops.analysis.scorecard.card import LineJson
from eflops.analysis.source import IDENTITY
from eflops.analysis.text import Scalar
from eflops.config.models import Config
from eflops.config.products import Product, products
from eflops.errors import UserError
from eflops.files import read_json, sha256
from eflops.results.paths import SCORECARD
from eflops.results.store import is_results, packed_in

NAMES = {*IDENTITY, "reference", "other", "phase", "round", "metric", "panel"}
FOLDERS = (Path("results"), Path("results/published"))
PICTURES = (".svg", ".png", ".pdf")
# Pictures say in their metadata which numbers they were drawn from.
DATA_HASH = re.compile(rb"data sha256 ([0-9a-f]{64})")
FAVOURED = ("mean", "frequency", "difference", "median")


@dataclass(frozen=True)
class Address:
    """The parts that the user typed: the file, the words that select a row, and a column or method."""

    file: Path
    words: tuple[str, ...] = ()
    column: str | None = None


@dataclass(frozen=True)
class DataCell:
    """One number of a product: the keys of its row, its column and its value."""

    keys: dict[str, Scalar]
    column: str
    value: Scalar
    row: int

    @property
    def options(self) -> tuple[str, ...]:
        """The command line options that select this cell."""
        keys = [("--row", f"{name}={value}") for name, value in self.keys.items() if not pd.isna(value)]
        return (*(word for pair in keys for word in pair), "--column", self.column)

    def __str__(self) -> str:
        words = [f"{name} {value}" for name, value in self.keys.items() if not pd.isna(value)]
        return ", ".join([*words, self.column])


def key_columns(frame: pd.DataFrame) -> list[str]:
    """The fewest leading columns that identify all rows, and further columns that identify runs."""
    columns = list(frame.columns)
    enough = (width for width in range(1, len(columns)) if not frame.duplicated(columns[:width]).any())
    width = next(enough, len(columns) - 1)
    return [name for index, name in enumerate(columns) if index < width or name in NAMES or name.startswith("set_")]


def find_cell(frame: pd.DataFrame, address: Address, labels: Mapping[str, str]) -> DataCell:
    """The cell that an address selects; a UserError if it selects none or several."""
    keys = key_columns(frame)
    values = [column for column in frame.columns if column not in keys]
    named = address.column in values
    words = [*address.words, *([address.column] if address.column and not named else [])]
    rows = frame
    for word in words:
        fitting = rows[_fits(rows, word, keys, labels)]
        if fitting.empty:
            raise UserError(f"{address.file}: no row matches '{word}'; there are {_choices(rows, keys)}.")
        rows = fitting
    if len(rows) > 1:
        raise UserError(f"{address.file}: {len(rows)} rows match; select one by {_choices(rows, keys)}.")
    row = rows.iloc[0]
    column = address.column if address.column and named else _favoured(row, values, address.file)
    return DataCell({key: row[key] for key in keys}, column, row[column], int(rows.index[0]))


def same_value(value: object, word: str) -> bool:
    """Whether a cell equals a word, with numbers compared as numbers."""
    try:
        return abs(float(str(value)) - float(word)) < 1e-9
    except ValueError:
        return str(value).casefold() == word.casefold()


def _favoured(row: pd.Series, values: Iterable[str], file: Path) -> str:
    """The main column of a row: a mean or another favoured one, or else its first number."""
    numeric = [column for column in values if pd.api.types.is_number(row[column]) and not pd.isna(row[column])]
    if not numeric:
        raise UserError(f"{file}: this row has no numbers besides its keys; there is nothing to explain.")
    return next((column for column in FAVOURED if column in numeric), numeric[0])


def _fits(rows: pd.DataFrame, word: str, keys: list[str], labels: Mapping[str, str]) -> pd.Series:
    """Which rows match a word."""
    name, equals, value = word.partition("=")
    if equals and name in keys:
        keys, word = [name], value
    names = {word, *(method for method, label in labels.items() if label.casefold() == word.casefold())}
    return rows[keys].map(lambda cell: any(same_value(cell, each) for each in names)).any(axis=1)


def _choices(rows: pd.DataFrame, keys: list[str]) -> str:
    """The keys that still differ, with their values."""
    choices = []
    for key in keys:
        values = list(dict.fromkeys(map(str, rows[key])))
        if len(values) > 1:
            choices.append(f"{key} ({', '.join(values[:12])}{', ...' if len(values) > 12 else ''})")
    return ", ".join(choices) or "no other rows"


def results_of(file: Path, named: Path | None) -> Path:
    """The results folder of a file: the one that contains it, or one that contains a copy.

    A picture states the hash of its numbers, so it may be anywhere.
    """
    if named:
        return named
    if packed := packed_in(file):
        return packed
    if not file.is_file():
        raise UserError(_missing(file))
    around = [folder for folder in file.resolve().parents if is_results(folder)]
    if around:
        here = Path.cwd()
        return around[0].relative_to(here) if around[0].is_relative_to(here) else around[0]
    usual = [folder for folder in FOLDERS if is_results(folder)]
    drawn_from = picture_hash(file) if file.suffix in PICTURES else None
    holding = [folder for folder in usual if _holds(folder, file, drawn_from)]
    if not holding:
        searched = " or ".join(map(str, usual)) or "any results folder"
        raise UserError(
            f"{file}: it is not in a results folder, and {searched} does not contain it; name one with --results."
        )
    return holding[0]


def _missing(file: Path) -> str:
    """Advice on a missing file, in words."""
    if file.exists():
        return f"{file}: this is a folder; name a table, a figure or the scorecard in it."
    words = f"{file}: there is no such file; make it with: snakemake --cores 2 {file}"
    published = FOLDERS[1] / file.parent.name / file.name
    return f"{words}; or explain the published file: {published}" if published.exists() else words


def _holds(folder: Path, file: Path, drawn_from: str | None) -> bool:
    """Whether a results folder has the numbers that a picture was drawn from, or a file with the same bytes."""
    if drawn_from:
        return any(sha256(table) == drawn_from for table in (folder / "figures").glob("*.csv"))
    same = [folder / file.parent.name / file.name, folder / file.name]
    return any(other.is_file() and sha256(other) == sha256(file) for other in same)


def product_of(folder: Path, config: Config, file: Path) -> Product:
    """The table or figure of a file; a picture is identified by the hash of its data, whatever its name."""
    drawn_from = picture_hash(file) if file.exists() and file.suffix in PICTURES else None
    if drawn_from:
        for product in products(config):
            table = folder / product.files[-1]
            if product.kind == "figure" and table.exists() and sha256(table) == drawn_from:
                return product
        raise UserError(f"{file}: it was drawn from data (sha256 {drawn_from}) that {folder} does not contain.")
    for product in products(config):
        if f"{file.parent.name}/{file.name}" in product.files:
            return product
    known = ", ".join(f"{product.kind}s/{product.name}" for product in products(config))
    raise UserError(f"{file}: this is not a table or figure of these results; they are {known}.")


def read_table(path: Path) -> pd.DataFrame:
    """The plain numbers of a table or figure."""
    try:
        return pd.read_csv(path)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such table; make it with: snakemake --cores 2 {path}") from None
    except (OSError, ValueError):  # what is no text, has no rows or no columns
        raise UserError(f"{path}: this is not a table of the workflow; eflops audit shows details.") from None


def scorecard_lines(folder: Path) -> dict[str, LineJson]:
    """The lines of a results folder's scorecard, by id."""
    path = folder / SCORECARD
    try:
        return {line["id"]: line for line in read_json(path)["lines"]}
    except FileNotFoundError:
        raise UserError(f"{path}: there is no scorecard; make it with: snakemake scorecard") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path}: this is not a scorecard of the workflow; eflops audit shows details.") from None


def picture_hash(path: Path) -> str | None:
    """The data hash that a picture states."""
    match = DATA_HASH.search(path.read_bytes())
    return match[1].decode() if match else None
