"""What moved between two results: cells in units of their spread, verdicts, and conclusions of paired tests."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from eflops.analysis.needs import SCORECARD
from eflops.explain.address import key_columns
from eflops.explain.explanation import equal
from eflops.explain.text import plain
from eflops.files import read_json

# The level of the conclusions of paired tests.
ALPHA = 0.05


@dataclass(frozen=True)
class Move:
    """A cell that changed; `spreads` is the change in units of its spread, None where the file states no spread."""

    place: str
    row: str
    column: str
    before: Any
    after: Any
    spreads: float | None = None


@dataclass(frozen=True)
class Change:
    """A verdict or conclusion, a row or a file that changed, in words."""

    place: str
    before: str
    after: str


@dataclass(frozen=True)
class Difference:
    """All that differs; the largest moves first."""

    moves: tuple[Move, ...]
    verdicts: tuple[Change, ...]
    conclusions: tuple[Change, ...]
    presence: tuple[Change, ...]
    compared: int

    def as_json(self) -> dict[str, Any]:
        """The difference as JSON values."""
        return asdict(self)


def diff(before: Path, after: Path) -> Difference:
    """Compare the tables, figures and scorecards of two results folders, published or not."""
    names = {folder: {path.relative_to(folder).as_posix() for path in _csv_files(folder)} for folder in (before, after)}
    both = sorted(names[before] & names[after])
    presence = [Change(name, "there", "gone") for name in sorted(names[before] - names[after])]
    presence += [Change(name, "not there", "new") for name in sorted(names[after] - names[before])]
    moves: list[Move] = []
    conclusions: list[Change] = []
    compared = 0
    for name in both:
        old, new = _aligned(pd.read_csv(before / name), pd.read_csv(after / name))
        presence += _row_changes(name, old, new)
        shared = old.index.intersection(new.index)
        old, new = old.loc[shared], new.loc[shared]
        compared += len(shared) * len(old.columns)
        moves += _moves(name, old, new)
        conclusions += _conclusions(name, old, new)
    moves.sort(key=lambda move: -abs(move.spreads or 0.0))
    return Difference(tuple(moves), tuple(_verdicts(before, after)), tuple(conclusions), tuple(presence), compared)


def spread_of(row: pd.Series, column: str) -> float:
    """The spread that a row states of one of its cells: its standard deviation, or a quarter of its 95 % interval."""
    names = {"mean": "sd", "difference": "interval"}
    partner = names.get(column) or (
        column.removesuffix("_mean") + "_sd" if column.endswith("_mean") else f"{column}_sd"
    )
    if partner == "interval" and {"low", "high"} <= set(row.index):
        return float(row["high"] - row["low"]) / 4
    return float(row[partner]) if partner in row.index else math.nan


def _csv_files(folder: Path) -> list[Path]:
    return [path for kind in ("tables", "figures") for path in (folder / kind).glob("*.csv")]


def _aligned(old: pd.DataFrame, new: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both with their rows named by the keys that they share."""
    keys = [key for key in key_columns(new) if key in old]
    return _named(old, keys), _named(new, keys)


def _named(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    named = frame.set_axis(_names(frame, keys), axis=0).drop(columns=keys)
    return named[~named.index.duplicated()]


def _names(frame: pd.DataFrame, keys: list[str]) -> list[str]:
    return [", ".join(f"{key} {value}" for key, value in zip(keys, row, strict=True)) for row in frame[keys].to_numpy()]


def _row_changes(place: str, old: pd.DataFrame, new: pd.DataFrame) -> Iterator[Change]:
    for row in old.index.difference(new.index):
        yield Change(f"{place}: {row}", "there", "gone")
    for row in new.index.difference(old.index):
        yield Change(f"{place}: {row}", "not there", "new")


def _moves(place: str, old: pd.DataFrame, new: pd.DataFrame) -> Iterator[Move]:
    for column in [column for column in old if column in new]:
        for row, before, after in zip(old.index, old[column], new[column], strict=True):
            if not equal(before, after):
                yield Move(place, row, column, plain(before), plain(after), _spreads(old, new, row, column))


def _spreads(old: pd.DataFrame, new: pd.DataFrame, row: str, column: str) -> float | None:
    """A change in units of the two rows' common spread."""
    try:
        spread = math.sqrt((spread_of(old.loc[row], column) ** 2 + spread_of(new.loc[row], column) ** 2) / 2)
        change = float(new.loc[row, column] - old.loc[row, column])
    except (TypeError, ValueError):
        return None
    return change / spread if spread > 0 and math.isfinite(change) else None


def _conclusions(place: str, old: pd.DataFrame, new: pd.DataFrame) -> Iterator[Change]:
    if not {"p_holm", "difference"} <= set(old) & set(new):
        return
    for row in old.index:
        before, after = _conclusion(old.loc[row]), _conclusion(new.loc[row])
        if before != after:
            yield Change(f"{place}: {row}", before, after)


def _conclusion(row: pd.Series) -> str:
    if not row["p_holm"] < ALPHA:
        return "no difference shown"
    return "the reference is higher" if row["difference"] > 0 else "the other is higher"


def _verdicts(before: Path, after: Path) -> Iterator[Change]:
    """Lines of the scorecard whose verdict changed; a folder without a scorecard has none."""
    if not all((folder / SCORECARD).exists() for folder in (before, after)):
        return
    old, new = _verdicts_of(before), _verdicts_of(after)
    for name in [*old, *(name for name in new if name not in old)]:
        if old.get(name) != new.get(name):
            yield Change(name, old.get(name, "not there"), new.get(name, "gone"))


def _verdicts_of(folder: Path) -> dict[str, str]:
    return {line["id"]: line["verdict"] for line in read_json(folder / SCORECARD)["lines"]}
