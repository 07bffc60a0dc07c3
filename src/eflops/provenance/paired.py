"""Runs of two results folders, paired by draw and seed: which metrics moved, according to a paired test.

A table's cell hides changes that are small compared with the spread over draws. Runs with the same draw and seed in
both folders share data and random numbers, so their differences show such changes. Records are read as plain JSON,
because older versions have other fields.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from eflops.analysis.stats.paired import compare, holm
from eflops.analysis.text import readable
from eflops.results.labels import BASE, WHOLE
from eflops.results.store import RECORDS, RUNS, unpacked

CELL = ["experiment", "ratio", "method", "variant", "metric"]
# The level of paired tests.
ALPHA = 0.05


@dataclass(frozen=True)
class Shift:
    """A metric of a cell's runs that moved: the mean difference over draws (or seeds of one draw), and its test.

    p: adjusted by Holm's method over all metrics that moved; None with only one pair.
    """

    cell: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    n: int
    unit: str

    @property
    def clear(self) -> bool:
        """Whether the paired test is significant; a change that is equal in all pairs is clear."""
        return self.p is None or self.p < ALPHA

    def __str__(self) -> str:
        interval = "" if self.low is None or self.high is None else f" ({self.low:+.3g} to {self.high:+.3g})"
        tested = "no test of one pair" if self.p is None else f"p {readable(self.p)}"
        return f"{self.cell}: {self.difference:+.3g}{interval}, {tested}, {self.n} {self.unit}s"


def shifts(before: Path, after: Path) -> tuple[tuple[Shift, ...], int]:
    """The metrics that moved, most significant first, and the number of common runs."""
    old, new = (pd.DataFrame(_values(folder), columns=[*CELL, "draw", "seed", "value"]) for folder in (before, after))
    both = old.merge(new, on=[*CELL, "draw", "seed"], suffixes=("_before", "_after"))
    runs = len(both[["experiment", "ratio", "method", "variant", "draw", "seed"]].drop_duplicates())
    moved = [(key, group) for key, group in both.groupby(CELL, sort=False) if _differs(group)]
    tested = [_test(key, group) for key, group in moved]
    adjusted = holm(np.array([p for _, p in tested])) if tested else np.array([])
    tested_shifts = [
        replace(shift, p=float(p) if np.isfinite(p) else 0.0 if shift.n > 1 else None)
        for (shift, _), p in zip(tested, adjusted, strict=True)
    ]
    return tuple(sorted(tested_shifts, key=lambda shift: (shift.p is None, shift.p or 0.0))), runs


def _differs(group: pd.DataFrame) -> bool:
    one, other = group["value_before"], group["value_after"]
    return bool(((one != other) & ~(one.isna() & other.isna())).any())


def _test(key: tuple[str, ...], group: pd.DataFrame) -> tuple[Shift, float]:
    """The paired test of a cell's metric, over draws if there are several, else over seeds; p is unadjusted."""
    unit = "draw" if group["draw"].nunique() > 1 else "seed"
    means = group.groupby(unit)[["value_after", "value_before"]].mean()
    tested = compare(means["value_after"], means["value_before"], ranks=False)
    low, high = (tested[name] if np.isfinite(tested[name]) else None for name in ("low", "high"))
    cell = ", ".join(word for word in key if word not in (BASE, WHOLE))
    return Shift(cell, tested["difference"], low, high, None, int(tested["n"]), unit), tested["p"]


def _values(folder: Path) -> Iterator[tuple[str | float, ...]]:
    """Every final metric of every run that did not diverge."""
    for path, text in _texts(folder):
        try:
            entry = json.loads(text)
            experiment, ratio, method, variant, _ = path.split("/")
            draw, seed = entry["run"]["draw"], entry["run"]["seed"]
            for name, value in entry["result"]["metrics"].items():
                yield experiment, ratio, method, variant, name, int(draw), int(seed), float(value)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # a damaged record is the audit's to find


def _texts(folder: Path) -> Iterator[tuple[str, bytes]]:
    if (folder / RECORDS).exists():
        yield from unpacked(folder / RECORDS).items()
        return
    runs = folder / RUNS
    for path in sorted(runs.rglob("*.json")):
        yield path.relative_to(runs).as_posix(), path.read_bytes()
