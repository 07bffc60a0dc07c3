"""How the scorecard's numbers are written, in every form of it alike."""

from collections.abc import Mapping

from eflops.analysis.paper import Printed
from eflops.analysis.scorecard.verdict import Value, Verdict
from eflops.analysis.text import judged

# Beside the word, so that a verdict is told without colour and found at a glance.
MARKS = {
    Verdict.AGREES: "✓",
    Verdict.NEAREST: "≈",
    Verdict.DIFFERS: "✗",
    Verdict.CANNOT: "?",
    Verdict.UNJUDGED: "·",
}

# One line, and several.
SAID = {
    Verdict.AGREES: ("agrees", "agree"),
    Verdict.NEAREST: ("agrees at nearest settings", "agree at nearest settings"),
    Verdict.DIFFERS: ("differs", "differ"),
    Verdict.CANNOT: ("cannot be told", "cannot be told"),
    Verdict.UNJUDGED: ("is not judged", "are not judged"),
}


def counted(counts: Mapping[str, int]) -> str:
    """How many lines got each verdict: `25 agree, 2 differ, 1 cannot be told`."""
    said = [f"{number} {SAID[Verdict(verdict)][number > 1]}" for verdict, number in counts.items() if number]
    return ", ".join(said) or "none is judged"


def printed(paper: Printed | None) -> str:
    """The paper's number with its spread."""
    if paper is None:
        return ""
    return judged(paper.value) + ("" if paper.sd is None else f" ± {judged(paper.sd)}")


def ours(value: Value) -> str:
    """Our number with its interval, the number of its units, and the runs that diverged."""
    interval = "" if value.low is None or value.high is None else f"{judged(value.low)} to {judged(value.high)}, "
    diverged = f", {value.diverged} runs diverged" if value.diverged else ""
    return f"{judged(value.mean)} ({interval}{value.n} {value.unit}{diverged})"


def verdict(value: Verdict) -> str:
    """A verdict with its mark."""
    return f"{MARKS[value]} {value}"
