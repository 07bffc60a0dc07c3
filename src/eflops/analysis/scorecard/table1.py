"""Table 1 of the paper, support recovery by N/d and method: its numbers, differences and spreads.

A number or difference is compared with the interval for one more draw (`stats.prediction`), whose variance between
draws is pooled over the columns of a row.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from eflops.analysis.paper import METHOD, Printed
from eflops.analysis.scorecard.evidence import Evidence, by_unit
from eflops.analysis.scorecard.line import Estimate, Line, combine_verdicts, estimate
from eflops.analysis.scorecard.verdict import ALPHA, RECOVERY_LONGEST, Judgement, Value, Verdict, unjudged
from eflops.analysis.stats.prediction import (
    Noise,
    PredictionInterval,
    joint_test,
    outside,
    prediction_intervals,
    within,
)
from eflops.analysis.stats.summary import LEVEL
from eflops.errors import UserError

METRIC = "support_recovery"
SEARCHED, NEAREST = "support_recovery", "nearest"
PAPER_SEEDS = 30
# The difference whose power is stated: five weights of the true 50.
DETECTED = 0.10


@dataclass(frozen=True)
class RowRuns:
    """The runs of a row: values [draws, seeds, methods], NaN for diverged runs, and why other methods have none."""

    methods: tuple[str, ...]
    values: np.ndarray
    lacking: dict[str, str]

    def columns(self, methods: Sequence[str], minus: bool, nothing: float = np.nan) -> np.ndarray:
        """The values of some methods, or E-FLoPS minus each of them, run by run; `nothing` for diverged runs."""
        values = np.where(np.isnan(self.values), nothing, self.values)
        columns = values[:, :, [self.methods.index(method) for method in methods]]
        return values[:, :, [self.methods.index(METHOD)]] - columns if minus else columns

    def diverged(self, *methods: str) -> int:
        """How many runs of these methods diverged."""
        return int(np.isnan(self.columns(methods, minus=False)).sum())


def lines(evidence: Evidence) -> Iterator[Line]:
    """One line per number."""
    return _lines(evidence, "table1", minus=False)


def differences(evidence: Evidence) -> Iterator[Line]:
    """One line per row and other method: E-FLoPS minus that method, within a draw."""
    return _lines(evidence, "table1-difference", minus=True)


def _lines(evidence: Evidence, prefix: str, minus: bool) -> Iterator[Line]:
    searched, nearest = (rows(evidence, name) for name in (SEARCHED, NEAREST))
    for ratio, row in evidence.paper.recovery.items():
        others = {name: difference(row[METHOD], number) for name, number in row.items() if name != METHOD}
        printed = others if minus else row
        at_ratio = (searched[ratio], nearest[ratio])
        searched_estimates, nearest_estimates = (_estimates(runs, printed, minus) for runs in at_ratio)
        for method, paper in printed.items():
            column = f"{METHOD} - {method}" if minus else method
            identity = (f"{prefix}/{ratio:.2f}/{method}", f"{ratio:.2f}", column, "")
            at_searched, at_nearest = searched_estimates[method], nearest_estimates[method]
            if isinstance(at_searched, str):
                yield Line(*identity, unjudged(at_searched), paper)
                continue
            judgement = combine_verdicts(at_searched, None if isinstance(at_nearest, str) else at_nearest)
            mean = at_searched.value.mean
            yield Line(*identity, judgement, paper, None if mean is None else mean - paper.value)


def difference(one: Printed, other: Printed) -> Printed:
    """The difference of two of the paper's numbers, and its standard deviation over seeds."""
    # Rounded, because differences of decimals leave a residue in binary.
    return Printed(round(one.value - other.value, 12), float(np.hypot(one.sd or 0.0, other.sd or 0.0)))


def spreads(evidence: Evidence) -> Iterator[Line]:
    """One line per method: the spread over run seeds within a draw, over all N/d."""
    searched = rows(evidence, SEARCHED)
    for method in evidence.paper.recovery_methods:
        printed = [row[method].sd or 0.0 for row in evidence.paper.recovery.values()]
        paper = Printed(round(float(np.sqrt(np.mean(np.square(printed)))), 12))
        lacking = [row.lacking[method] for row in searched.values() if method in row.lacking]
        judgement = unjudged(lacking[0]) if lacking else _spread(searched, method, printed)
        spread = judgement.values[0].mean if judgement.values else None
        identity = (f"table1-spread/{method}", "spread", method, "")
        yield Line(*identity, judgement, paper, None if spread is None else spread - paper.value)


def columns(evidence: Evidence) -> Iterator[Line]:
    """One line per method: all of its numbers jointly, as one more draw."""
    searched = rows(evidence, SEARCHED)
    for method in evidence.paper.recovery_methods:
        ratios = [ratio for ratio, row in evidence.paper.recovery.items() if method in row]
        lacking = [searched[ratio].lacking[method] for ratio in ratios if method in searched[ratio].lacking]
        judgement = unjudged(lacking[0]) if lacking else _column(evidence, searched, method, ratios)
        yield Line(f"table1-column/{method}", "all N/d", method, "", judgement)


def _column(evidence: Evidence, searched: dict[float, RowRuns], method: str, ratios: Sequence[float]) -> Judgement:
    """Hotelling's test of the paper's column against our draws, each a vector over N/d."""
    runs = [searched[ratio].columns([method], minus=False)[:, :, 0] for ratio in ratios]
    if len({len(each) for each in runs}) > 1:
        return unjudged("Not every N/d has the same draws.")
    # Seeds of a draw are averaged: the unit is the draw, and its N/d share rows, so they form one vector.
    draws = np.stack([np.nanmean(each, axis=1) if each.size else each.mean(axis=1) for each in runs], axis=1)
    paper = np.array([evidence.paper.recovery[ratio][method].value for ratio in ratios])
    try:
        test = joint_test(draws, paper)
    except ValueError as error:
        return unjudged(f"There are {error}.")
    distance = float(np.sqrt(np.mean((draws.mean(axis=0) - paper) ** 2)))
    value = Value("p", test.p, None, None, test.units, "draws")
    reason = (
        f"Over {len(ratios)} N/d F({test.df[0]}, {test.df[1]}) is {test.f:.2f}, p {test.p:.2g} (Hotelling's T2 for one "
        f"further draw; a difference of {DETECTED:.2f} at every N/d would have p below {ALPHA} with probability "
        f"{test.power(DETECTED):.2f}); the root mean square distance from the paper's column is {distance:.3f}."
    )
    return Judgement(Verdict.DIFFERS if test.p < ALPHA else Verdict.AGREES, (value,), reason)


def by_chance(evidence: Evidence) -> str:
    """How many numbers are expected outside by chance: from the level, and from our own draws."""
    numbers = sum(len(row) for row in evidence.paper.recovery.values())
    reason = f"Of the {numbers} numbers {numbers * (1 - LEVEL):.1f} are expected outside by chance"
    searched = rows(evidence, SEARCHED).values()
    if any(row.lacking or len(row.values) < 3 or np.isnan(row.values).all(axis=1).any() for row in searched):
        return f"{reason}."
    counts = np.sum([outside(row.values).sum(axis=1) for row in searched], axis=0)
    return (
        f"{reason}; each of our {len(counts)} draws, compared with the others as if it were the paper's, has "
        f"{counts.mean():.1f} outside ({counts.min()} to {counts.max()})."
    )


def rows(evidence: Evidence, experiment: str) -> dict[float, RowRuns]:
    """The runs of each row; a method that cannot be judged has a reason instead."""
    present, lacking = [], {}
    for method in evidence.paper.recovery_methods:
        try:
            evidence.runs(experiment, [method], METRIC)
        except UserError as lack:
            lacking[method] = str(lack)
        else:
            present.append(method)
    runs = evidence.runs(experiment, present, METRIC) if present else evidence.all_runs(experiment)
    groups = dict(iter(runs.groupby(["ratio", "method"])))
    table = {}
    for ratio in evidence.paper.recovery:
        there = [name for name in present if (ratio, name) in groups]
        arrays = [by_unit(groups[ratio, name], METRIC) for name in there]
        without = {name: f"It has no runs at N/d {ratio:.2f}." for name in present if name not in there}
        values = np.stack(arrays, axis=2) if arrays else np.zeros((0, 0, 0))
        table[ratio] = RowRuns(tuple(there), values, lacking | without)
    return table


def _estimates(row: RowRuns, printed: dict[str, Printed], minus: bool) -> dict[str, Estimate | str]:
    """Each method's number, or E-FLoPS minus it; a sentence if it cannot be judged."""
    if minus and METHOD in row.lacking:
        return dict.fromkeys(printed, row.lacking[METHOD])
    names = [name for name in printed if name in row.methods]
    # The paper's mean is over 30 seeds of one draw, so its own noise is its printed variance over 30.
    noise = {name: Noise((printed[name].sd or 0.0) ** 2 / PAPER_SEEDS, PAPER_SEEDS - 1) for name in names}
    # Twice, because a verdict that depends on how diverged runs count is inconclusive.
    left_out, with_nothing = (_intervals(row.columns(names, minus, nothing), noise) for nothing in (np.nan, 0.0))
    estimates: dict[str, Estimate | str] = dict(row.lacking)
    for name in names:
        interval, paper, lost = left_out.get(name), printed[name].value, row.diverged(name, *[METHOD] * minus)
        if interval is None:
            none = Value(name, None, None, None, with_nothing[name].units, "draws", lost)
            estimates[name] = estimate(paper, none, RECOVERY_LONGEST, "")
            continue
        power = f"a difference of {DETECTED:.2f} would lie outside with probability {interval.power(DETECTED):.2f}"
        words = f" (t {interval.t(paper):.2f}, {interval.df:.0f} degrees of freedom; {power})"
        value, as_nothing = (Value.of(name, each, "draws", lost) for each in (interval, with_nothing[name]))
        estimates[name] = estimate(paper, value, RECOVERY_LONGEST, words, as_nothing, math.inf if minus else 1.0)
    return estimates


def _intervals(values: np.ndarray, noise: dict[str, Noise]) -> dict[str, PredictionInterval]:
    """The intervals of the columns, by name; columns with fewer than two draws with a finished run are left out."""
    finished = np.isfinite(values).any(axis=1).sum(axis=0) > 1
    kept = [name for name, there in zip(noise, finished, strict=True) if there]
    if not kept or np.isfinite(values[:, :, finished]).any(axis=1).all(axis=1).sum() < 2:
        return {}
    return dict(zip(kept, prediction_intervals(values[:, :, finished], [noise[name] for name in kept]), strict=True))


def _spread(searched: dict[float, RowRuns], method: str, printed: Sequence[float]) -> Judgement:
    """The F-test of our seeds' variance within draws against the paper's, each pooled over N/d."""
    variances = [within(row.columns([method], minus=False)[:, :, 0]) for row in searched.values()]
    known = [(variance, df) for variance, df in variances if df]
    draws = len(next(iter(searched.values())).values)
    mine, df = _pooled(known)
    theirs, paper_df = _pooled([(sd**2, PAPER_SEEDS - 1) for sd in printed])
    if not (mine and theirs):
        spread = Value(method, math.sqrt(mine), None, None, draws, "draws")
        return Judgement(
            Verdict.INCONCLUSIVE, (spread,), "A spread is 0, or there is one seed per draw: the F-test is not defined."
        )
    f = mine / theirs
    # Two-sided: our spread may be larger or smaller than the paper's.
    p = 2 * min(stats.f.sf(f, df, paper_df), stats.f.cdf(f, df, paper_df))
    # df s^2 / sigma^2 is chi-square; its quantiles are swapped, because they stand in the denominator.
    low, high = (math.sqrt(mine * df / stats.chi2.ppf(tail, df)) for tail in ((1 + LEVEL) / 2, (1 - LEVEL) / 2))
    reason = f"F({df:.0f}, {paper_df:.0f}) is {f:.2f}, p {p:.2g}, pooled over {len(known)} N/d."
    value = Value(method, math.sqrt(mine), low, high, draws, "draws")
    return Judgement(Verdict.DIFFERS if p < ALPHA else Verdict.AGREES, (value,), reason)


def _pooled(variances: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The mean of variances and its degrees of freedom (Satterthwaite)."""
    total = sum(variance for variance, _ in variances)
    doubt = sum(variance**2 / df for variance, df in variances if df)
    return total / max(len(variances), 1), total**2 / doubt if doubt else 0.0
