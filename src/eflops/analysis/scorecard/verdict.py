"""The rule of the scorecard: how a number and a claim are judged."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import pandas as pd

from eflops.analysis.scorecard.evidence import Missing
from eflops.analysis.stats.paired import holm
from eflops.analysis.stats.prediction import PredictionInterval
from eflops.analysis.stats.summary import LEVEL, t_quantile, t_tail


class Verdict(StrEnum):
    """The possible verdicts."""

    AGREES = "agrees"
    NEAREST = "agrees at nearest settings"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"
    UNJUDGED = "not judged"


# An interval longer than this says too little: twice .15 for support recovery, half of its range for a share of runs.
RECOVERY_LONGEST = 0.30
SHARE_LONGEST = 0.50
# A claim is contradicted by a Holm-adjusted p below this.
ALPHA = 0.05

RULE: dict[Verdict, str] = {
    Verdict.AGREES: (
        "The paper's number is inside our 95 % prediction interval for one more draw (or split). A claim: every "
        "95 % interval over draws (or splits) lies where the claim says."
    ),
    Verdict.NEAREST: (
        "A number that does not agree at the settings that the search chose, but agrees at the trial nearest to the "
        "paper's column."
    ),
    Verdict.DIFFERS: (
        "The paper's number is outside. A claim: at least one comparison is clearly on the other side of its "
        f"margin (p < {ALPHA}, Holm's adjustment over the claim's comparisons)."
    ),
    Verdict.INCONCLUSIVE: (
        f"A number inside an interval longer than {RECOVERY_LONGEST:.2f} (a share of runs: {SHARE_LONGEST:.2f}; t: "
        "one that also contains 0). A claim that is neither, or whose verdict changes when one draw (or split) is "
        "left out, or that has different verdicts for the two algorithms that the paper's name of the baseline may "
        "mean."
    ),
    Verdict.UNJUDGED: "An experiment or a run is missing, or its size is not the paper's.",
}


@dataclass(frozen=True)
class Value:
    """One of our numbers: its mean over `n` units (draws, splits or seeds) with its interval; None if none finished.

    The interval is for one more unit (numbers) or of the mean (claims). diverged: how many runs diverged. data, at,
    scale: for a claim about several kinds of data, which one, at which N/d, and in which unit.
    """

    name: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    unit: str
    diverged: int = 0
    data: str = ""
    at: str = ""
    scale: str = ""

    @classmethod
    def of(cls, name: str, interval: PredictionInterval, unit: str, diverged: int = 0) -> "Value":
        """The value that the interval for one more unit is centred at."""
        low, high = interval.mean - interval.half, interval.mean + interval.half
        return cls(name, interval.mean, low, high, interval.units, unit, diverged)


@dataclass(frozen=True)
class Rationale:
    """Why a claim got its verdict, for the summary.

    figure: the weakest of `of` comparisons in a sentence, with its interval; effect: the same for a table, what is
    measured before the number; failing: how many do not hold; because: the likely reason of a failure, as a clause
    after "because"; against: the algorithm that the baseline's name stands for.
    """

    verdict: Verdict
    figure: str
    effect: str
    failing: int
    of: int
    because: str = ""
    against: str = ""


@dataclass(frozen=True)
class Judgement:
    """A verdict, the values that it uses, and the reason in a sentence or two; grounds: the reason for the summary."""

    verdict: Verdict
    values: tuple[Value, ...]
    reason: str
    grounds: tuple[Rationale, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A condition of a claim: the mean over units lies above `above` and below `below`.

    values: one per unit, indexed by the units' names. A claim of being above 0 is contradicted if the mean is
    clearly less than `margin`. overlap: test samples per training sample if units are overlapping splits
    (`stats.paired`). statement: the comparison in a sentence, with braces for its figure; measure: what is measured,
    for a table; because: the likely reason of a failure. share: whether the values are shares, whose mean lies between
    0 and 1. data, at, scale: as in `Value`.
    """

    name: str
    values: pd.Series
    above: float = -math.inf
    below: float = math.inf
    margin: float = 0.0
    overlap: float = 0.0
    statement: str = ""
    measure: str = ""
    because: str = ""
    share: bool = False
    data: str = ""
    at: str = ""
    scale: str = ""

    def __post_init__(self) -> None:
        """Units without a value are left out; two must remain."""
        known = self.values.dropna()
        if len(known) < 2:
            raise Missing(f"{self.name}: needs two units with a finished run and has {len(known)}.")
        object.__setattr__(self, "values", known)

    @property
    def mean(self) -> float:
        """The mean over units."""
        return float(self.values.mean())

    @property
    def error(self) -> float:
        """The mean's standard error."""
        return float(self.values.std(ddof=1)) * math.sqrt(1 / len(self.values) + self.overlap)

    @property
    def interval(self) -> tuple[float, float]:
        """The mean's 95 % interval."""
        half = t_quantile((1 + LEVEL) / 2, len(self.values) - 1) * self.error
        low, high = self.mean - half, self.mean + half
        return (max(low, 0.0), min(high, 1.0)) if self.share else (low, high)

    @property
    def holds(self) -> bool:
        """Whether the interval lies within the claimed range."""
        low, high = self.interval
        return low > self.above and high < self.below

    @property
    def against(self) -> float:
        """The p of the t-test against the bound that the mean violates; 1 if it violates none."""
        bound = self.above + self.margin if self.mean < self.above + self.margin else self.below
        if self.above + self.margin <= self.mean <= self.below:
            return 1.0
        # Units that are all equal leave no doubt on which side of the bound they are.
        if not self.error:
            return 0.0
        return 2 * t_tail(abs(self.mean - bound) / self.error, len(self.values) - 1)

    def without(self, unit: object) -> "Comparison":
        """The comparison with one unit left out."""
        return replace(self, values=self.values.drop(unit, errors="ignore"))

    def value(self, unit: str) -> Value:
        """The comparison as a value of the scorecard."""
        units = len(self.values)
        return Value(self.name, self.mean, *self.interval, units, unit, 0, self.data, self.at, self.scale)


def judge_number(paper: float, ours: Value, longest: float) -> Verdict:
    """The rule for a number; if every run diverged, the paper's number differs."""
    if ours.mean is None or ours.low is None or ours.high is None or not ours.low <= paper <= ours.high:
        return Verdict.DIFFERS
    return Verdict.INCONCLUSIVE if ours.high - ours.low > longest else Verdict.AGREES


def judge_comparisons(comparisons: Sequence[Comparison]) -> tuple[Verdict, str]:
    """The rule for a claim, and the unit without which the verdict would change (empty if there is none)."""
    verdict = _verdict(comparisons)
    units = dict.fromkeys(unit for each in comparisons for unit in each.values.index)
    # With two units, leaving one out would leave no spread and no test.
    if verdict != Verdict.INCONCLUSIVE and min(len(each.values) for each in comparisons) > 2:
        for unit in units:
            if _verdict([each.without(unit) for each in comparisons]) != verdict:
                return Verdict.INCONCLUSIVE, str(unit)
    return verdict, ""


def unjudged(reason: str, *values: Value) -> Judgement:
    """The judgement "not judged", with a reason."""
    return Judgement(Verdict.UNJUDGED, values, reason)


def _verdict(comparisons: Sequence[Comparison]) -> Verdict:
    """All must hold, so those tests need no adjustment; one contradiction suffices, so those need Holm's."""
    if all(each.holds for each in comparisons):
        return Verdict.AGREES
    contradicted = holm(np.array([each.against for each in comparisons])) < ALPHA
    return Verdict.DIFFERS if contradicted.any() else Verdict.INCONCLUSIVE
