"""What claims are made of: comparisons over draws or splits, and how their verdict is told."""

import math
from collections.abc import Callable, Sequence

import pandas as pd

from eflops.analysis.paper import HARD_THRESHOLDING, METHOD
from eflops.analysis.scorecard.evidence import Evidence, Missing
from eflops.analysis.scorecard.verdict import Comparison, Judgement, Verdict, judge_comparisons
from eflops.analysis.text import judged, signed
from eflops.errors import UserError


def per_unit(runs: pd.DataFrame, metric: str, unit: str = "draw", of: str = "draw") -> pd.Series:
    """The mean of the runs that finished, for each value of the column `of`, called such as "split 3"."""
    finished = runs[metric].where(runs["status"] == "finished")
    means = finished.groupby(runs[of]).mean()
    return means.set_axis([f"{unit} {number}" for number in means.index])


def better(
    runs: pd.DataFrame,
    metric: str,
    other: str,
    margin: float,
    name: str,
    unit: str = "draw",
    of: str = "draw",
    overlap: float = 0.0,
) -> Comparison:
    """E-FLoPS minus another method, claimed to be above 0."""
    ours, theirs = (per_unit(runs[runs["method"] == each], metric, unit, of) for each in (METHOD, other))
    return compared(name, ours - theirs, above=0.0, margin=margin, overlap=overlap)


def compared(
    name: str,
    values: pd.Series,
    above: float = -math.inf,
    below: float = math.inf,
    margin: float = 0.0,
    overlap: float = 0.0,
) -> Comparison:
    """A comparison over the units that have a value, of which it needs two."""
    known = values.dropna()
    if len(known) < 2:
        raise Missing(f"{name}: two units with a finished run are needed, and there is {len(known)}.")
    return Comparison(name, known, above, below, margin, overlap)


def judge(comparisons: Sequence[Comparison], family: str, units: str, runs: pd.DataFrame) -> Judgement:
    """The verdict on a claim in words; runs: those behind it, of which none of E-FLoPS may have diverged to agree."""
    verdict, turning = judge_comparisons(comparisons)
    lost = int(((runs["method"] == METHOD) & (runs["status"] != "finished")).sum())
    told = _held(comparisons) if verdict == Verdict.AGREES else _not_held(comparisons)
    if turning:
        told += f" Without {turning} the verdict would be another."
    if lost:
        told += f" {lost} runs of E-FLoPS diverged."
        verdict = Verdict.CANNOT if verdict == Verdict.AGREES else verdict
    margins = sorted({each.margin for each in comparisons if each.margin})
    margin = f"; margin {margins[0]:g}" if margins else ""
    n = max(len(each.values) for each in comparisons)
    told += f" ({_count(len(comparisons), 'comparison')}: {family}{margin}; {n} {units}.)"
    return Judgement(verdict, tuple(each.value(units) for each in comparisons), told)


def under_both_names(evidence: Evidence, judged_against: Callable[[str], Judgement]) -> Judgement:
    """A claim about the baseline, judged for each algorithm that its name may mean; both stand there if they differ."""
    first, second = HARD_THRESHOLDING
    one = judged_against(first)
    try:
        other = judged_against(second)
    except UserError:
        return one
    names = [evidence.label(name) for name in HARD_THRESHOLDING]
    same = one.verdict == other.verdict
    told = " ".join(
        f"Against {name}{'' if same else f' {each.verdict}'}: {each.reason}"
        for name, each in zip(names, (one, other), strict=True)
    )
    values = tuple(dict.fromkeys((*one.values, *other.values)))
    return Judgement(one.verdict if same else Verdict.CANNOT, values, told)


def numbers(comparison: Comparison) -> str:
    """A comparison in words: its name, mean and interval."""
    low, high = comparison.interval
    form = signed if math.isinf(comparison.below) else judged
    return f"{comparison.name} {form(comparison.mean)} ({form(low)} to {form(high)})"


def _held(comparisons: Sequence[Comparison]) -> str:
    closest = min(comparisons, key=_clearness)
    return f"It holds; the least clear is {numbers(closest)}."


def _not_held(comparisons: Sequence[Comparison]) -> str:
    failing = [each for each in comparisons if not each.holds]
    if not failing:
        return f"{_held(comparisons)}"
    told = ", ".join(map(numbers, failing))
    return f"Not shown in {len(failing)} of {len(comparisons)}: {told}."


def _clearness(comparison: Comparison) -> float:
    """How far the mean is from the nearest bound, in standard errors."""
    distance = min(comparison.mean - comparison.above, comparison.below - comparison.mean)
    return distance / comparison.error if comparison.error else math.inf


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
