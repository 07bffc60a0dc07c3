"""A table as people read it, each of its numbers tied to the plain number that it was written from.

Tables are written in words and rounded; their plain numbers stand in a CSV file with keys. A written number belongs to
the plain one that it is the rounding of, in the row whose keys the words around it name. What is named by no word
(an experiment, say) must be the same along a written row. A number that fits none, or several, stays plain text.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from eflops.analysis.text import BOLD, MINUS
from eflops.provenance.explain.address import key_columns

SIGN = rf"[+\-{MINUS}]?"
NUMBER = re.compile(rf"(?<![\w.]){SIGN}\d+(?:\.\d+)?(?:e{SIGN}\d+)?%?(?!\w)")
# The keys of a written row stand in its first columns.
LEADING = 3
# One cell may tell several metrics.
METRIC = "metric"

Piece = str | list[Any]
Place = tuple[int, int]


@dataclass(frozen=True)
class Written:
    """A Markdown table: its title, the names of its columns, its cells and the note below it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str


def read_markdown(text: str) -> Written:
    """The parts of a table that the workflow wrote as Markdown."""
    lines = text.strip().splitlines()
    table = [[cell.strip() for cell in line.strip()[1:-1].split(" | ")] for line in lines if line.startswith("|")]
    told = [line for line in lines if line and not line.startswith("|")]
    return Written(told[0].strip("*"), table[0], table[2:], " ".join(told[1:]))


def unbold(text: str) -> tuple[str, bool]:
    """A cell without the marks of bold print, and whether it had them."""
    bold = text.startswith(BOLD) and text.endswith(BOLD) and len(text) > 2 * len(BOLD)
    return (text[len(BOLD) : -len(BOLD)], True) if bold else (text, False)


def tied(written: Written, frame: pd.DataFrame, labels: Mapping[str, str]) -> list[list[list[Piece]]]:
    """Every cell as pieces: text, or [text, row, column] of the plain number, the column counted among the values."""
    plain = _Plain(frame, labels)
    return [_tied_row(plain, written.columns, row) for row in written.rows]


def _tied_row(plain: "_Plain", header: list[str], row: list[str]) -> list[list[Piece]]:
    """A row's cells as pieces: by the words of its first columns, or without them where that finds more."""
    readings = [_reading(plain, header, row, leading) for leading in (LEADING, 0)]
    return max(readings, key=_count)


def _reading(plain: "_Plain", header: list[str], row: list[str], leading: int) -> list[list[Piece]]:
    """A row's cells as pieces, with the values of unnamed keys under which the most numbers are found."""
    fitting = [plain.fitting(header[place], row, place, leading) for place in range(len(row))]
    readings = []
    for unnamed in plain.unnamed(fitting):
        kept = [[each for each in rows if plain.agrees(each, unnamed)] for rows in fitting]
        sure = [rows if plain.one(rows) else [] for rows in kept]
        readings.append([_pieces(plain, *cell) for cell in zip(row, sure, header, strict=True)])
    best = max(map(_count, readings))
    first, *others = [reading for reading in readings if _count(reading) == best]
    return [cell if all(other[place] == cell for other in others) else [row[place]] for place, cell in enumerate(first)]


def _count(reading: list[list[Piece]]) -> int:
    """How many numbers are tied."""
    return sum(isinstance(piece, list) for cell in reading for piece in cell)


def _pieces(plain: "_Plain", text: str, rows: list[int], header: str) -> list[Piece]:
    """A cell cut at its numbers; a number right of another is looked for right of it first."""
    found: list[Piece] = []
    end, last = 0, None
    for match in NUMBER.finditer(text):
        beside = plain.find(match[0], [last[0]], header, last[1] + 1) if last else None
        hit = beside or plain.find(match[0], rows, header)
        if hit is None or plain.is_name(match, rows):
            continue
        found += [text[end : match.start()]] if match.start() > end else []
        found.append([match[0], *hit])
        end, last = match.end(), hit
    return [*found, *([text[end:]] if end < len(text) else [])]


class _Plain:
    """The plain numbers of a table, and the words that name its keys."""

    def __init__(self, frame: pd.DataFrame, labels: Mapping[str, str]) -> None:
        self.keys = key_columns(frame)
        self.columns = [column for column in frame.columns if column not in self.keys]
        self.rows = frame.to_dict("records")
        self.names = {value: _bare(labels.get(value, value)) for value in self._texts(frame)}
        names = set(self.names.values())
        self.longer = {name: [other for other in names if other != name and _holds(other, name)] for name in names}

    def _texts(self, frame: pd.DataFrame) -> set[str]:
        return {value for key in self.keys for value in frame[key] if isinstance(value, str)}

    def fitting(self, header: str, row: list[str], place: int, leading: int) -> list[int]:
        """The rows whose keys the words around a cell name best; none where the cell itself is a key."""
        if not NUMBER.search(row[place]) or (place < LEADING and self._is_key(row[place])):
            return []
        before = [cell for cell in row[: min(place, leading)] if not NUMBER.search(cell) or self._is_key(cell)]
        words = [_bare(text) for text in (header, *before, row[place])]
        numbers = {_value(number) for text in (header, *before) for number in NUMBER.findall(text)}
        named = cache(lambda value: self._named(value, words, numbers))
        scores = [sum(named(plain[key]) for key in self.keys) for plain in self.rows]
        best = max(scores, default=0)
        return [each for each, score in enumerate(scores) if score == best > 0]

    def unnamed(self, fitting: list[list[int]]) -> list[dict[str, str]]:
        """The values of the keys that no cell's words name, each combination once."""
        keys = [key for key in self.keys if all(self.varies(key, rows) for rows in fitting if rows) and key != METRIC]
        found = [{key: str(self.rows[row][key]) for key in keys} for rows in fitting for row in rows]
        return [dict(pairs) for pairs in dict.fromkeys(tuple(each.items()) for each in found)] or [{}]

    def varies(self, key: str, rows: Iterable[int]) -> bool:
        """Whether rows differ in a key."""
        return len({str(self.rows[row][key]) for row in rows}) > 1

    def one(self, rows: list[int]) -> bool:
        """Whether rows are one but for the metric."""
        return not any(self.varies(key, rows) for key in self.keys if key != METRIC)

    def agrees(self, row: int, values: Mapping[str, str]) -> bool:
        """Whether a row has these values of keys."""
        return all(str(self.rows[row][key]) == value for key, value in values.items())

    def find(self, text: str, rows: Iterable[int], header: str, first: int = 0) -> Place | None:
        """The plain number of a written one in these rows, from a column on; a column that the header names first."""
        columns = sorted(
            range(first, len(self.columns)), key=lambda place: not _same_words(self.columns[place], header)
        )
        fits = ((row, column) for column in columns for row in rows)
        return next((fit for fit in fits if _rounds_to(self.rows[fit[0]][self.columns[fit[1]]], text, header)), None)

    def is_name(self, number: re.Match[str], rows: Iterable[int]) -> bool:
        """Whether a number is part of a name, as in interleukin 8."""
        names = {self.rows[row][key] for row in rows for key in self.keys if isinstance(self.rows[row][key], str)}
        spots = [(at.start(), at.end()) for name in names for at in re.finditer(re.escape(name), number.string)]
        return any(start <= number.start() and number.end() <= end for start, end in spots)

    def _is_key(self, text: str) -> bool:
        """Whether a whole cell is the value of a key."""
        if _bare(text) in self.names.values():
            return True
        exact = NUMBER.fullmatch(text)
        numbers = (plain[key] for plain in self.rows for key in self.keys if not isinstance(plain[key], str))
        return bool(exact) and any(abs(_value(text) - number) < 1e-9 for number in numbers)

    def _named(self, value: Any, words: Iterable[str], numbers: Iterable[float]) -> bool:
        """Whether the words around a cell name the value of a key; a longer name hides the shorter one in it."""
        if not isinstance(value, str):
            return any(abs(number - value) < 1e-9 for number in numbers)
        name = self.names[value]
        return any(_holds(text, name) and not any(_holds(text, other) for other in self.longer[name]) for text in words)


def _same_words(column: str, header: str) -> bool:
    return set(_bare(column).split()) == set(_bare(header).split())


def _holds(text: str, name: str) -> bool:
    return f" {name} " in f" {text} "


def _bare(text: str) -> str:
    """Words in small letters, with nothing but blanks between."""
    return " ".join(re.findall(r"[a-z0-9]+", text.casefold().replace("²", "2")))


def _value(text: str) -> float:
    return float(text.replace(MINUS, "-").rstrip("%"))


def _rounds_to(value: Any, text: str, header: str) -> bool:
    """Whether a plain number, rounded, is the written one; per cent and megabytes are written so."""
    if isinstance(value, str | bool) or pd.isna(value):
        return False
    mantissa, _, exponent = text.replace(MINUS, "-").rstrip("%").partition("e")
    half = 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])) * (1 + 1e-6)
    scale = 100.0 if text.endswith("%") else 1e-6 if "megabytes" in header else 1.0
    return bool(abs(value * scale - _value(text)) <= half)
