"""A line of the scorecard: the paper's number, ours and the verdict, with their formatting."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from eflops.analysis.paper import Printed
from eflops.analysis.scorecard.sections import Section
from eflops.analysis.scorecard.verdict import Judgement, Value, Verdict, judge_number
from eflops.analysis.text import formatted, listed

# Beside the word, so that a verdict is visible at a glance and without colour.
MARKS = {
    Verdict.AGREES: "✓",
    Verdict.NEAREST: "≈",
    Verdict.DIFFERS: "✗",
    Verdict.INCONCLUSIVE: "?",
    Verdict.UNJUDGED: "·",
}

# The verb for one line, and for several.
VERBS = {
    Verdict.AGREES: ("agrees", "agree"),
    Verdict.NEAREST: ("agrees at nearest settings", "agree at nearest settings"),
    Verdict.DIFFERS: ("differs", "differ"),
    Verdict.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    Verdict.UNJUDGED: ("is not judged", "are not judged"),
}


@dataclass(frozen=True)
class Line:
    """A number or claim of the paper, our estimate, and the verdict; its id begins with its section's prefix.

    row, column: the number's position in the paper's table; text: a claim's wording or a gene's name; short: a
    claim in a few words. difference: ours minus the paper's, at searched settings.
    """

    id: str
    row: str
    column: str
    text: str
    judgement: Judgement
    paper: Printed | None = None
    difference: float | None = None
    short: str = ""


@dataclass(frozen=True)
class Estimate:
    """Our estimate of a number: its value, the verdict, and its units in words."""

    value: Value
    verdict: Verdict
    words: str


def estimate(
    paper: float, value: Value, longest: float, words: str, with_nothing: Value | None = None, most: float = math.inf
) -> Estimate:
    """The estimate of a judged value; if it must lie between 0 and `most`, its interval is truncated after judging.

    with_nothing: the value if a diverged run counts as 0; if the two verdicts differ, the result is inconclusive.
    """
    verdict = judge_number(paper, value, longest)
    if value.low is None or value.high is None:
        where = "unknown: every run diverged"
    else:
        side = "inside" if value.low <= paper <= value.high else "outside"
        if most < math.inf:
            value = replace(value, low=max(value.low, 0.0), high=min(value.high, most))
        where = f"{side} {formatted(value.low)} to {formatted(value.high)}"
    reason = f"The paper's number is {where}{words}"
    if value.diverged:
        reason += f"; {value.diverged} runs diverged"
        if with_nothing is not None and judge_number(paper, with_nothing, longest) != verdict:
            verdict, reason = Verdict.INCONCLUSIVE, f"{reason}, and counting them as 0 changes the verdict"
    return Estimate(value, verdict, reason)


def combine_verdicts(searched: Estimate, nearest: Estimate | None) -> Judgement:
    """The judgement of a number at the searched settings or, if it does not agree, at the nearest settings."""
    if nearest is None:
        return Judgement(searched.verdict, (searched.value,), f"{searched.words}.")
    agreed = searched.verdict != Verdict.AGREES and nearest.verdict == Verdict.AGREES
    named = replace(nearest.value, name=f"{nearest.value.name}, nearest settings")
    reason = f"{searched.words}. At nearest settings: {nearest.words}."
    return Judgement(Verdict.NEAREST if agreed else searched.verdict, (searched.value, named), reason)


def count_verdicts(sections: Iterable[Section], counts: Mapping[str, Mapping[str, int]]) -> str:
    """How many lines got each verdict: `Of Table 1's 28 numbers, 25 agree, 2 differ and 1 is inconclusive. Of ...`.

    counts: the number of lines per verdict, by section.
    """
    sentences = []
    for section in sections:
        numbers = counts[section.name]
        parts = [f"{number} {VERBS[Verdict(verdict)][number > 1]}" for verdict, number in numbers.items() if number]
        sentences.append(f"Of {section.what.format(sum(numbers.values()))}, {listed(parts) or 'none is judged'}.")
    return " ".join(sentences)


def printed(paper: Printed | None) -> str:
    """The paper's number with its spread."""
    if paper is None:
        return ""
    return formatted(paper.value) + ("" if paper.sd is None else f" ± {formatted(paper.sd)}")


def written(value: Value) -> str:
    """Our number with its interval, the number of units, and the number of diverged runs."""
    interval = "" if value.low is None or value.high is None else f"{formatted(value.low)} to {formatted(value.high)}, "
    diverged = f", {value.diverged} runs diverged" if value.diverged else ""
    return f"{formatted(value.mean)} ({interval}{value.n} {value.unit}{diverged})"


def both_written(values: Sequence[Value]) -> str:
    """Our number, followed by the one at nearest settings."""
    return "; at nearest settings ".join(map(written, values))
