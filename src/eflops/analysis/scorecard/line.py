"""A line of the scorecard."""

from dataclasses import dataclass

from eflops.analysis.paper import Printed
from eflops.analysis.scorecard.verdict import Judgement, Value, Verdict, judge_number
from eflops.analysis.text import judged


@dataclass(frozen=True)
class Line:
    """A number or a claim of the paper, what we have for it, and the verdict.

    row, column: where a number stands in the paper's table; text: a claim's words or a gene's name; short: a claim in
    our own few words.
    difference: ours minus the paper's, at searched settings.
    """

    id: str
    section: str
    row: str
    column: str
    text: str
    judgement: Judgement
    paper: Printed | None = None
    difference: float | None = None
    short: str = ""


@dataclass(frozen=True)
class Ours:
    """What we have for a number: its value, the verdict, and what stands behind it in words.

    A run that diverged has found nothing, or is left out; where the two give other verdicts, none can be told.
    """

    value: Value
    verdict: Verdict
    words: str


def ours(paper: float, value: Value, longest: float, words: str, with_nothing: Value | None = None) -> Ours:
    """A value judged; with_nothing: the same where diverged runs count as having found nothing."""
    verdict = judge_number(paper, value, longest)
    told = f"The paper's lies {_where(paper, value)}{words}"
    if value.diverged:
        told += f"; {value.diverged} runs diverged"
        if with_nothing is not None and judge_number(paper, with_nothing, longest) != verdict:
            verdict, told = Verdict.CANNOT, f"{told}, and counted as 0 they turn the verdict"
    return Ours(value, verdict, told)


def settled(searched: Ours, nearest: Ours | None) -> Judgement:
    """The judgement of a number: at the settings that the search chose, and else at those nearest the paper's."""
    values = (searched.value,) if nearest is None else (searched.value, nearest.value)
    told = searched.words if nearest is None else f"{searched.words}. At nearest settings: {nearest.words}"
    if searched.verdict != Verdict.AGREES and nearest is not None and nearest.verdict == Verdict.AGREES:
        return Judgement(Verdict.NEAREST, values, f"{told}.")
    return Judgement(searched.verdict, values, f"{told}.")


def _where(paper: float, value: Value) -> str:
    """Inside or outside the interval."""
    if value.low is None or value.high is None:
        return "beyond reach: every run diverged"
    side = "inside" if value.low <= paper <= value.high else "outside"
    return f"{side} {judged(value.low)} to {judged(value.high)}"
