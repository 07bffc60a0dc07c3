"""The building blocks of claims: comparisons over draws or splits, and the wording of their verdict."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from eflops.analysis.paper import HARD_THRESHOLDING, METHOD
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import ALPHA, Comparison, Judgement, Rationale, Verdict, judge_comparisons
from eflops.analysis.text import MINUS, formatted, pluralise, signed, with_minus
from eflops.errors import UserError


def per_unit(runs: pd.DataFrame, metric: str, unit: str = "draw", of: str = "draw") -> pd.Series:
    """The mean of the finished runs for each value of the column `of`, with index labels such as "split 3"."""
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
    statement: str = "",
    measure: str = "",
) -> Comparison:
    """The comparison for a claim that E-FLoPS is better: E-FLoPS minus another method, paired by draw.

    Args:
        runs: one row per run of both methods.
        metric: a column of `runs`; higher is better.
        other: the method that E-FLoPS is compared with.
        margin: the claim is contradicted only if E-FLoPS is worse by more than this.
        name: the name of the comparison in the scorecard.
        unit: the name of a unit, "draw" or "split".
        of: the column that numbers the units.
        overlap: test rows per training row, if units are overlapping splits.
        statement: the comparison as a sentence, with {} for the difference.
        measure: what is compared, for a table.
    """
    ours, theirs = (per_unit(runs[runs["method"] == each], metric, unit, of) for each in (METHOD, other))
    return Comparison(
        name, ours - theirs, above=0.0, margin=margin, overlap=overlap, statement=statement, measure=measure
    )


def leads(
    evidence: Evidence, runs: pd.DataFrame, others: Sequence[str], metrics: Mapping[str, str], margin: float
) -> list[Comparison]:
    """E-FLoPS minus each of the others at each N/d, claimed to be above 0; metrics: the label of each column."""
    return [
        better(
            part,
            metric,
            other,
            margin,
            f"{label} at {ratio:.2f}, {name}",
            statement=f"E-FLoPS minus {label} is {{}} in {name} at N/d {ratio:.2f}",
            measure=f"{name} at N/d {ratio:.2f}, {difference(label)}",
        )
        for ratio, part in runs.groupby("ratio")
        for other in others
        for label in [evidence.label(other)]
        for metric, name in metrics.items()
    ]


def judge(comparisons: Sequence[Comparison], family: str, units: str, runs: pd.DataFrame) -> Judgement:
    """The verdict on a claim and its wording.

    Args:
        comparisons: all of them must hold for the claim to agree.
        family: what Holm's adjustment covers, in words.
        units: "draws" or "splits".
        runs: the runs behind the comparisons; the claim cannot agree if a run of E-FLoPS diverged.
    """
    verdict, turning = judge_comparisons(comparisons)
    lost = int(((runs["method"] == METHOD) & (runs["status"] != "finished")).sum())
    failing = [each for each in comparisons if not each.holds]
    decides = min(failing or comparisons, key=_clearness)
    if verdict == Verdict.AGREES or not failing:
        reason = f"It holds; the weakest comparison is {numbers(min(comparisons, key=_clearness))}."
    else:
        reason = f"Not shown in {len(failing)} of {len(comparisons)}: {', '.join(map(numbers, failing))}."
    if turning:
        reason += f" Without {turning} the verdict would be different."
    if lost:
        reason += f" {lost} runs of E-FLoPS diverged."
        verdict = Verdict.INCONCLUSIVE if verdict == Verdict.AGREES else verdict
    margins = sorted({each.margin for each in comparisons if each.margin})
    margin = f"; margin {margins[0]:g}" if margins else ""
    n = max(len(each.values) for each in comparisons)
    reason += f" ({pluralise(len(comparisons), 'comparison')}: {family}{margin}; {n} {units}.)"
    size, limit = _size(decides), _limit(decides, verdict)
    effect = f"{decides.measure or decides.name}: {size}{limit}"
    sentence = (decides.statement or f"{decides.name}: {{}}").format(size)
    figure = f"{sentence}{limit}, over {len(decides.values)} {units}"
    low, high = decides.interval
    if verdict == Verdict.INCONCLUSIVE and not turning and (high < decides.above or low > decides.below):
        figure += f"; Holm's adjustment for {len(comparisons)} comparisons leaves this inconclusive"
    figure += f"; without {turning} the verdict would be different" if turning else ""
    figure += f"; {lost} runs of E-FLoPS diverged" if lost else ""
    because = decides.because if failing else ""
    ground = Rationale(verdict, figure, effect, len(failing), len(comparisons), because)
    return Judgement(verdict, tuple(each.value(units) for each in comparisons), reason, (ground,))


def with_words(judgement: Judgement, after: str = "", before: str = "") -> Judgement:
    """The judgement with a sentence added to its reason."""
    return replace(judgement, reason=" ".join(part for part in (before, judgement.reason, after) if part))


def under_both_names(evidence: Evidence, judged_against: Callable[[str], Judgement]) -> Judgement:
    """A claim about the baseline, judged for each algorithm that its name may mean; shows both if they differ."""
    first, second = HARD_THRESHOLDING
    one = judged_against(first)
    try:
        other = judged_against(second)
    except UserError:
        return one
    named = dict(zip(map(evidence.label, HARD_THRESHOLDING), (one, other), strict=True))
    same = one.verdict == other.verdict
    reason = [f"Against {name}{'' if same else f' {each.verdict}'}: {each.reason}" for name, each in named.items()]
    values = tuple(dict.fromkeys((*one.values, *other.values)))
    grounds = [replace(ground, against=name) for name, each in named.items() for ground in each.grounds]
    return Judgement(one.verdict if same else Verdict.INCONCLUSIVE, values, " ".join(reason), tuple(grounds))


def difference(other: str) -> str:
    """E-FLoPS minus another method, for a table."""
    return f"E-FLoPS {MINUS} {other}"


def numbers(comparison: Comparison) -> str:
    """A comparison in words: its name, mean and interval."""
    low, high = comparison.interval
    form = signed if math.isinf(comparison.below) else formatted
    return f"{comparison.name} {form(comparison.mean)} ({form(low)} to {form(high)})"


def _clearness(comparison: Comparison) -> float:
    """How far the mean is from the nearest bound, in standard errors."""
    distance = min(comparison.mean - comparison.above, comparison.below - comparison.mean)
    return distance / comparison.error if comparison.error else math.copysign(math.inf, distance)


def _size(comparison: Comparison) -> str:
    """A comparison's mean with its interval, unless that is a point."""
    form = signed if -math.inf < comparison.above <= 0 else formatted
    mean, low, high = map(form, (comparison.mean, *comparison.interval))
    return mean if low == high else f"{mean} ({low} to {high})"


def _limit(comparison: Comparison, verdict: Verdict) -> str:
    """The limit of a comparison if it is not 0, and the margin if the limit is 0."""
    limit = comparison.below if comparison.below < math.inf else comparison.above
    text = with_minus(" (limit {:g})", limit) if limit else ""
    contradicted = verdict == Verdict.DIFFERS and comparison.against < ALPHA
    if contradicted and comparison.margin and comparison.above < comparison.interval[1]:
        text += f" (clearly below the margin of {comparison.margin:g})"
    return text
