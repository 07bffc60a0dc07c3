"""The cells of a printed table: text, and numbers with the key of the plain number that they print.

A product summarises its runs in `Table.data`, one plain number per row and column. A printed cell such as `0.612 ±
0.040` holds two `Number`s, each with its value, its text and its key: its row and column in `data`. Markdown, LaTeX,
HTML and the results explorer are all written from these cells.

    rows = rows_by(data, "method")                     # the rows of `data`; row.name stays their index there
    spread(rows["eflops"])                             # 0.612 ± 0.040
    interval(rows["eflops"])                           # 0.612 [0.590, 0.634]
    number(rows["eflops"], "share", "{:.1%}") + " of dense messages"
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from eflops.analysis.text import ABSENT, MISSING, decimals, with_minus

Form = str | Callable[[float], str]


@dataclass(frozen=True)
class Number:
    """A printed number: the plain value, its text, and its key (row and column of `Table.data`)."""

    value: float
    text: str
    key: tuple[int, str]


@dataclass(frozen=True)
class Cell:
    """A cell of a printed table: text and numbers in reading order; `a + b` joins two cells, or a cell and text."""

    parts: tuple[str | Number, ...] = ()
    bold: bool = False

    @property
    def text(self) -> str:
        """The cell as plain text."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers of the cell."""
        return tuple(part for part in self.parts if isinstance(part, Number))

    def __add__(self, other: "Cell | str") -> "Cell":
        return replace(self, parts=(*self.parts, *as_cell(other).parts))

    def __radd__(self, other: str) -> "Cell":
        return replace(self, parts=(other, *self.parts))


# A printed row: the cell of each column, by the column's heading; text is a cell without numbers.
Row = dict[str, Cell | str]


def as_cell(content: Cell | str) -> Cell:
    """A cell; plain text becomes a cell without numbers."""
    return content if isinstance(content, Cell) else Cell((content,) if content else ())


def rows_by(data: pd.DataFrame, *columns: str) -> dict[Any, pd.Series]:
    """The rows of plain numbers by the value of a column, or by the tuple of several; `row.name` is a row's index."""
    keys = data[columns[0]] if len(columns) == 1 else zip(*(data[name] for name in columns), strict=True)
    return dict(zip(keys, (row for _, row in data.iterrows()), strict=True))


def number(row: pd.Series, column: str, form: Form = decimals) -> Cell:
    """One plain number in a form (a function, or a format with signs as `with_minus` writes them)."""
    value = row[column]
    text = with_minus(form, value) if isinstance(form, str) else form(value)
    return Cell((Number(value, text, (_index(row.name), column)),)) if pd.notna(value) else Cell((text,))


def spread(row: pd.Series, mean: str = "mean", sd: str = "sd", counts: bool = True) -> Cell:
    """`0.612 ± 0.040`, with the number of diverged runs, if any; a single number has no sd."""
    beside = " ± " + number(row, sd) if pd.notna(row[sd]) else Cell()
    return _with_diverged(row, mean, beside, counts)


def interval(row: pd.Series, mean: str = "mean", low: str = "lower", high: str = "upper") -> Cell:
    """`0.903 [0.895, 0.911]`, with the number of diverged runs, if any; a single number has no interval."""
    beside = " [" + number(row, low) + ", " + number(row, high) + "]" if pd.notna(row[low]) else Cell()
    return _with_diverged(row, mean, beside, counts=True)


def difference(row: pd.Series, mean: str = "difference", low: str = "low", high: str = "high") -> Cell:
    """`+0.012 [+0.003, +0.021]`; without the interval if there is none; a dash if there is no difference."""
    signed = number(row, mean, "{:+.3f}")
    if pd.isna(row[low]):
        return signed
    return signed + " [" + number(row, low, "{:+.3f}") + ", " + number(row, high, "{:+.3f}") + "]"


def bold(cell: Cell, wanted: bool) -> Cell:
    """The cell, in bold if wanted."""
    return replace(cell, bold=wanted)


def probability(row: pd.Series, column: str) -> Cell:
    """A p with two digits, small ones as a power of ten; a dash if no test was possible."""
    return number(row, column, "{:.2g}".format) if pd.notna(row[column]) else Cell((MISSING,))


def _with_diverged(row: pd.Series, mean: str, beside: Cell, counts: bool) -> Cell:
    lost = row["diverged"] if counts else 0
    if lost and lost == row["n"]:
        return "all " + number(row, "n", "{:.0f}") + " diverged"
    if pd.isna(row[mean]):
        return Cell((ABSENT,))
    cell = number(row, mean) + beside
    if not lost:
        return cell
    return cell + " (" + number(row, "diverged", "{:.0f}") + " of " + number(row, "n", "{:.0f}") + " diverged)"


def _index(name: Hashable) -> int:
    """The index of a row in `Table.data`; a row of another frame has none."""
    if not isinstance(name, int | np.integer):
        raise TypeError(
            f"{name!r} is not a row of the table's data; take rows with `rows_by`, which keeps their index."
        )
    return int(name)
