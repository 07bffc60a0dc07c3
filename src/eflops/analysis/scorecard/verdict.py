"""The rule of the scorecard, in one place: how a number and an order of methods are judged."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The four things that the scorecard can say."""

    REPRODUCED = "reproduced"
    DIRECTION = "direction only"
    FAILED = "not reproduced"
    UNJUDGED = "not judged"


# The least tolerance of each kind of number; two of the paper's own standard deviations count where they are larger.
RECOVERY_TOLERANCE = 0.06
# Small enough that a gene which the paper selects in no more than 17 % of runs is not reproduced by never selecting it.
SHARE_TOLERANCE = 0.1
# p-values are compared by their decimal logarithm.
DECADES_TOLERANCE = 1.0
# A claim that one method is better than another needs a Holm-adjusted p below this.
ALPHA = 0.01

RULE: dict[Verdict, str] = {
    Verdict.REPRODUCED: (
        "A number: our mean is within tolerance of the paper's, which is two of the paper's standard deviations and "
        f"at least {RECOVERY_TOLERANCE} for support recovery and {SHARE_TOLERANCE} for the share of runs that select "
        "a gene; for a share and for t, whose spread the paper does not print, the standard deviation is that of the "
        "statistic over the paper's 30 runs; p is within a factor of 10. "
        "A claim: what it says holds everywhere it says so, every difference with a Holm-adjusted p below "
        f"{ALPHA}, or within the size that the claim's own file states."
    ),
    Verdict.DIRECTION: (
        "A number outside its tolerance, but on the same side of every other method as in the paper (t and p: the "
        "difference has the paper's sign). A claim: the means stand in the claimed order, but a difference is within "
        "chance or has another size. No line with a diverged run is judged better than this."
    ),
    Verdict.FAILED: "Anything else that was run.",
    Verdict.UNJUDGED: (
        "An experiment or a run is missing, or is not of the paper's size (parameters, kept weights, run seeds)."
    ),
}


@dataclass(frozen=True)
class Value:
    """One of our numbers: mean and standard deviation of the runs that finished, `n` runs in all."""

    name: str
    mean: float | None
    sd: float | None
    n: int
    diverged: int = 0


@dataclass(frozen=True)
class Judgement:
    """A verdict, the values it rests on, and why, in one sentence."""

    verdict: Verdict
    values: tuple[Value, ...]
    reason: str


def tolerance(paper_sd: float | None, least: float) -> float:
    """How far ours may be from the paper's number."""
    return max(2 * (paper_sd or 0.0), least)


def in_spreads(difference: float, *deviations: float | None) -> float | None:
    """A difference in units of the combined spread, the root of the summed variances; None where all are zero."""
    spread = math.hypot(*(deviation or 0.0 for deviation in deviations))
    return difference / spread if spread else None


def against(name: str, paper: Mapping[str, float], ours: Mapping[str, float]) -> str:
    """What speaks against the paper's order of `name` among the others, in words; nothing where the order is the same.

    Where the paper has a tie, any side will do.
    """
    others = [other for other in paper if other != name and other in ours and paper[other] != paper[name]]
    contrary = [other for other in others if (paper[name] - paper[other]) * (ours[name] - ours[other]) <= 0]
    if contrary:
        return f"not on the paper's side of {', '.join(contrary)}"
    return "" if others else "there is nothing to compare its order with"


def judge_number(ours: Value, difference: float, allowed: float, contrary: str, unit: str = "") -> Judgement:
    """The rule for a number that was run; `contrary` says what speaks against its direction, if anything does."""
    far = f"{allowed:.2g}{unit}"
    if abs(difference) <= allowed and not ours.diverged:
        return Judgement(Verdict.REPRODUCED, (ours,), f"Within {far} of the paper.")
    why = f"{ours.diverged} of {ours.n} runs diverged" if ours.diverged else f"More than {far} from the paper"
    if contrary:
        return Judgement(Verdict.FAILED, (ours,), f"{why}, and {contrary}.")
    return Judgement(Verdict.DIRECTION, (ours,), f"{why}, but in the paper's direction.")


def unjudged(reason: str, *values: Value) -> Judgement:
    """The judgement of what cannot be held against the paper."""
    return Judgement(Verdict.UNJUDGED, values, reason)
