"""What claims are made of: comparisons over draws or splits, and how their verdict is told."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from eflops.analysis.paper import HARD_THRESHOLDING, METHOD
from eflops.analysis.scorecard.evidence import Evidence, Missing
from eflops.analysis.scorecard.verdict import Cause, Comparison, Ground, Judgement, Verdict, judge_comparisons
from eflops.analysis.text import counted, judged, signed
from eflops.errors import UserError

CAUSES = {Verdict.AGREES: Cause.HOLDS, Verdict.DIFFERS: Cause.AGAINST, Verdict.CANNOT: Cause.WIDE}


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
    told: str = "",
    because: str = "",
) -> Comparison:
    """E-FLoPS minus another method, claimed to be above 0."""
    ours, theirs = (per_unit(runs[runs["method"] == each], metric, unit, of) for each in (METHOD, other))
    return compared(name, ours - theirs, above=0.0, margin=margin, overlap=overlap, told=told, because=because)


def compared(
    name: str,
    values: pd.Series,
    above: float = -math.inf,
    below: float = math.inf,
    margin: float = 0.0,
    overlap: float = 0.0,
    told: str = "",
    because: str = "",
) -> Comparison:
    """A comparison over the units that have a value, of which it needs two."""
    known = values.dropna()
    if len(known) < 2:
        raise Missing(f"{name}: two units with a finished run are needed, and there is {len(known)}.")
    return Comparison(name, known, above, below, margin, overlap, told, because)


def judge(comparisons: Sequence[Comparison], family: str, units: str, runs: pd.DataFrame) -> Judgement:
    """The verdict on a claim in words; runs: those behind it, of which none of E-FLoPS may have diverged to agree."""
    verdict, turning = judge_comparisons(comparisons)
    lost = int(((runs["method"] == METHOD) & (runs["status"] != "finished")).sum())
    told = _held(comparisons) if verdict == Verdict.AGREES else _not_held(comparisons)
    if turning:
        told += f" Without {turning} the verdict would be another."
    cause = Cause.TURNS if turning else CAUSES[verdict]
    if lost:
        told += f" {lost} runs of E-FLoPS diverged."
        if verdict == Verdict.AGREES:
            verdict, cause = Verdict.CANNOT, Cause.DIVERGED
    margins = sorted({each.margin for each in comparisons if each.margin})
    margin = f"; margin {margins[0]:g}" if margins else ""
    n = max(len(each.values) for each in comparisons)
    told += f" ({counted(len(comparisons), 'comparison')}: {family}{margin}; {n} {units}.)"
    ground = _ground(verdict, cause, comparisons, units, turning)
    return Judgement(verdict, tuple(each.value(units) for each in comparisons), told, (ground,))


def with_words(judgement: Judgement, after: str = "", before: str = "") -> Judgement:
    """A judgement whose reason says something more."""
    return replace(judgement, reason=" ".join(part for part in (before, judgement.reason, after) if part))


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
    grounds = [
        replace(ground, against=name) for name, each in zip(names, (one, other), strict=True) for ground in each.grounds
    ]
    return Judgement(one.verdict if same else Verdict.CANNOT, values, told, tuple(grounds))


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
        return _held(comparisons)
    told = ", ".join(map(numbers, failing))
    return f"Not shown in {len(failing)} of {len(comparisons)}: {told}."


def _clearness(comparison: Comparison) -> float:
    """How far the mean is from the nearest bound, in standard errors."""
    distance = min(comparison.mean - comparison.above, comparison.below - comparison.mean)
    return distance / comparison.error if comparison.error else math.copysign(math.inf, distance)


def _ground(verdict: Verdict, cause: Cause, comparisons: Sequence[Comparison], units: str, turning: str) -> Ground:
    """The least clear comparison decides."""
    failing = [each for each in comparisons if not each.holds]
    decides = min(failing or comparisons, key=_clearness)
    figure = f"{_figure(decides)}, over {len(decides.values)} {units}{_limit(decides)}"
    figure += f"; without {turning} the verdict would be another" if turning else ""
    return Ground(verdict, cause, figure, len(failing), len(comparisons), decides.because if failing else "")


def _figure(comparison: Comparison) -> str:
    """A comparison in a sentence, with its interval unless that is a point."""
    form = signed if -math.inf < comparison.above <= 0 else judged
    mean, low, high = map(form, (comparison.mean, *comparison.interval))
    figure = mean if low == high else f"{mean} ({low} to {high})"
    return (comparison.told or f"{comparison.name}: {{}}").format(figure)


def _limit(comparison: Comparison) -> str:
    """The limit that a comparison is held against, where it is another than 0."""
    limit = comparison.below if comparison.below < math.inf else comparison.above
    return f"; the limit is {limit:g}" if limit else ""
