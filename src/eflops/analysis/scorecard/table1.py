"""Table 1 of the paper, support recovery by N/d and method: its numbers, the differences between methods, its spreads.

A number and a difference are held against the interval for one further draw (`stats.further`), whose variance between
draws is pooled over the columns of a row.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from eflops.analysis.paper import METHOD, Printed
from eflops.analysis.scorecard.evidence import Evidence, by_unit
from eflops.analysis.scorecard.line import Line, Ours, ours, settled
from eflops.analysis.scorecard.verdict import ALPHA, RECOVERY_LONGEST, Judgement, Value, Verdict, unjudged
from eflops.analysis.stats.further import Further, Noise, further, outside, within
from eflops.analysis.stats.summary import LEVEL
from eflops.errors import UserError

NUMBERS, DIFFERENCES, SPREADS = "Table 1", "Table 1, differences", "Table 1, spreads"
METRIC = "support_recovery"
SEARCHED, NEAREST = "support_recovery", "nearest"
PAPER_SEEDS = 30


@dataclass(frozen=True)
class Row:
    """The runs of a row: values [draws, seeds, methods], NaN where a run diverged, and why other methods have none."""

    methods: tuple[str, ...]
    values: np.ndarray
    lacking: dict[str, str]

    @property
    def with_nothing(self) -> np.ndarray:
        """The same where a diverged run has found nothing."""
        return np.nan_to_num(self.values, nan=0.0)

    def diverged(self, *methods: str) -> int:
        """How many runs of these methods diverged."""
        return int(np.isnan(self.values[:, :, [self.methods.index(method) for method in methods]]).sum())

    def minus(self, others: Sequence[str], values: np.ndarray) -> np.ndarray:
        """E-FLoPS minus each of the others, run by run."""
        rest = [self.methods.index(other) for other in others]
        return values[:, :, [self.methods.index(METHOD)]] - values[:, :, rest]


Rows = dict[float, Row]


def lines(evidence: Evidence) -> Iterator[Line]:
    """One line per number."""
    searched, nearest = (rows(evidence, name) for name in (SEARCHED, NEAREST))
    for ratio, printed in evidence.paper.recovery.items():
        ours, near = (_numbers(each[ratio], printed) for each in (searched, nearest))
        for method, number in printed.items():
            place = (f"table1/{ratio:.2f}/{method}", NUMBERS, f"{ratio:.2f}", method, "")
            yield _line(place, number, ours[method], near[method])


def differences(evidence: Evidence) -> Iterator[Line]:
    """One line per row and other method: E-FLoPS minus that method, within a draw."""
    searched, nearest = (rows(evidence, name) for name in (SEARCHED, NEAREST))
    for ratio, printed in evidence.paper.recovery.items():
        told = {other: difference(printed[METHOD], printed[other]) for other in printed if other != METHOD}
        ours, near = (_differences(each[ratio], told) for each in (searched, nearest))
        for other, number in told.items():
            place = (f"table1-difference/{ratio:.2f}/{other}", DIFFERENCES, f"{ratio:.2f}", f"{METHOD} - {other}", "")
            yield _line(place, number, ours[other], near[other])


def difference(one: Printed, other: Printed) -> Printed:
    """The difference of two of the paper's numbers, and how much that varies from seed to seed."""
    return Printed(round(one.value - other.value, 12), float(np.hypot(one.sd or 0.0, other.sd or 0.0)))


def spreads(evidence: Evidence) -> Iterator[Line]:
    """One line per method: how far run seeds spread within a draw, over all N/d."""
    searched = rows(evidence, SEARCHED)
    for method in evidence.paper.recovery_methods:
        printed = [row[method].sd or 0.0 for row in evidence.paper.recovery.values()]
        place = (f"table1-spread/{method}", SPREADS, "spread", method, "")
        paper = Printed(round(float(np.sqrt(np.mean(np.square(printed)))), 12))
        lacking = [row.lacking[method] for row in searched.values() if method in row.lacking]
        judgement = unjudged(lacking[0]) if lacking else _spread(searched, method, printed)
        found = judgement.values[0].mean if judgement.values else None
        yield Line(*place, judgement, paper, None if found is None else found - paper.value)


def by_chance(evidence: Evidence) -> str:
    """How many of the numbers would lie outside by chance: by the level, and by our own draws judged by each other."""
    numbers = sum(len(row) for row in evidence.paper.recovery.values())
    told = f"Of the {numbers} numbers {numbers * (1 - LEVEL):.1f} would lie outside by chance"
    searched = rows(evidence, SEARCHED).values()
    if any(row.lacking or len(row.values) < 3 or np.isnan(row.values).all(axis=1).any() for row in searched):
        return f"{told}."
    counts = np.sum([outside(row.values).sum(axis=1) for row in searched], axis=0)
    return (
        f"{told}; each of our {len(counts)} draws, judged by the others as if it were the paper's, has "
        f"{counts.mean():.1f} outside ({counts.min()} to {counts.max()})."
    )


def rows(evidence: Evidence, experiment: str) -> Rows:
    """The runs of each row; a method that cannot be judged has none, and a reason in their place."""
    present, lacking = [], {}
    for method in evidence.paper.recovery_methods:
        try:
            evidence.runs(experiment, [method], METRIC)
        except UserError as lack:
            lacking[method] = str(lack)
        else:
            present.append(method)
    runs = evidence.runs(experiment, present, METRIC) if present else evidence.found(experiment)
    groups = dict(iter(runs.groupby(["ratio", "method"])))
    return {
        ratio: _row({name: groups[ratio, name] for name in present if (ratio, name) in groups}, ratio, lacking, present)
        for ratio in evidence.paper.recovery
    }


def _row(groups: dict[str, pd.DataFrame], ratio: float, lacking: dict[str, str], present: Sequence[str]) -> Row:
    without = {name: f"There are no runs of it at N/d {ratio:.2f}." for name in present if name not in groups}
    arrays = [by_unit(group, METRIC) for group in groups.values()]
    values = np.stack(arrays, axis=2) if arrays else np.zeros((0, 0, 0))
    return Row(tuple(groups), values, lacking | without)


def _numbers(row: Row, printed: dict[str, Printed]) -> dict[str, Ours | str]:
    """Each method's number; a sentence where it cannot be judged."""
    noise = {method: _noise(printed[method]) for method in row.methods}
    left_out, with_nothing = (_columns(values, noise) for values in (row.values, row.with_nothing))
    judged = {
        name: _ours(printed[name].value, name, left_out.get(name), with_nothing[name], row.diverged(name))
        for name in row.methods
    }
    return {**row.lacking, **judged}


def _differences(row: Row, told: dict[str, Printed]) -> dict[str, Ours | str]:
    """Each difference; a sentence where it cannot be judged."""
    if METHOD in row.lacking:
        return dict.fromkeys(told, row.lacking[METHOD])
    others = [other for other in told if other in row.methods]
    noise = {other: _noise(told[other]) for other in others}
    left_out, with_nothing = (_columns(row.minus(others, each), noise) for each in (row.values, row.with_nothing))
    judged = {
        name: _ours(told[name].value, name, left_out.get(name), with_nothing[name], row.diverged(METHOD, name))
        for name in others
    }
    return {**row.lacking, **judged}


def _columns(values: np.ndarray, noise: dict[str, Noise]) -> dict[str, Further]:
    """The intervals of the columns, by name, without those in which fewer than two draws have a run that finished."""
    finished = np.isfinite(values).any(axis=1).sum(axis=0) > 1
    kept = [name for name, there in zip(noise, finished, strict=True) if there]
    if not kept or np.isfinite(values[:, :, finished]).any(axis=1).all(axis=1).sum() < 2:
        return {}
    return dict(zip(kept, further(values[:, :, finished], [noise[name] for name in kept]), strict=True))


def _noise(printed: Printed) -> Noise:
    return Noise((printed.sd or 0.0) ** 2 / PAPER_SEEDS, PAPER_SEEDS - 1)


def _ours(paper: float, name: str, found: Further | None, as_nothing: Further, lost: int) -> Ours:
    with_nothing = _value(name, as_nothing, lost)
    if found is None:
        return ours(paper, Value(name, None, None, None, as_nothing.units, "draws", lost), RECOVERY_LONGEST, "")
    words = f" (t {found.t(paper):.2f}, {found.df:.0f} degrees of freedom)"
    return ours(paper, _value(name, found, lost), RECOVERY_LONGEST, words, with_nothing)


def _value(name: str, found: Further, lost: int) -> Value:
    return Value(name, found.mean, found.mean - found.half, found.mean + found.half, found.units, "draws", lost)


def _line(place: tuple[str, str, str, str, str], paper: Printed, searched: Ours | str, nearest: Ours | str) -> Line:
    if isinstance(searched, str):
        return Line(*place, unjudged(searched), paper)
    judgement = settled(searched, None if isinstance(nearest, str) else nearest)
    mean = searched.value.mean
    return Line(*place, judgement, paper, None if mean is None else mean - paper.value)


def _spread(searched: Rows, method: str, printed: Sequence[float]) -> Judgement:
    """The F-test of our seeds' variance within draws against the paper's, each pooled over N/d."""
    found = [within(row.values[:, :, row.methods.index(method)]) for row in searched.values()]
    own = [(variance, df) for variance, df in found if df]
    draws = len(next(iter(searched.values())).values)
    mine, df = _pooled(own)
    theirs, paper_df = _pooled([(sd**2, PAPER_SEEDS - 1) for sd in printed])
    if not (mine and theirs):
        spread = Value(method, math.sqrt(mine), None, None, draws, "draws")
        return Judgement(Verdict.CANNOT, (spread,), "A spread of 0, or one seed per draw: F has nothing to compare.")
    f = mine / theirs
    p = 2 * min(stats.f.sf(f, df, paper_df), stats.f.cdf(f, df, paper_df))
    low, high = (math.sqrt(mine * df / stats.chi2.ppf(tail, df)) for tail in ((1 + LEVEL) / 2, (1 - LEVEL) / 2))
    told = f"F({df:.0f}, {paper_df:.0f}) is {f:.2f}, p {p:.2g}, pooled over {len(own)} N/d."
    value = Value(method, math.sqrt(mine), low, high, draws, "draws")
    return Judgement(Verdict.DIFFERS if p < ALPHA else Verdict.AGREES, (value,), told)


def _pooled(variances: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The mean of variances and its degrees of freedom (Satterthwaite)."""
    total = sum(variance for variance, _ in variances)
    doubt = sum(variance**2 / df for variance, df in variances if df)
    return total / max(len(variances), 1), total**2 / doubt if doubt else 0.0
