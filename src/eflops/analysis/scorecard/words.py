"""How the scorecard's numbers are written, in every form of it alike."""

from eflops.analysis.paper import Printed
from eflops.analysis.scorecard.line import Line
from eflops.analysis.scorecard.verdict import Value, Verdict

# Beside the word, so that a verdict is told without colour and found at a glance.
MARKS = {Verdict.REPRODUCED: "✓", Verdict.DIRECTION: "→", Verdict.FAILED: "✗", Verdict.UNJUDGED: "·"}
ABSENT = "\N{EN DASH}"


def number(value: float | None) -> str:
    """Three decimals; very small and very large numbers in a form that keeps their digits."""
    if value is None:
        return ABSENT
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3f}"


def signed(value: float | None, digits: int = 3) -> str:
    """A difference with its sign."""
    if value is None:
        return ABSENT
    rounded = round(value, digits) + 0.0  # no negative zero
    return f"{rounded:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def printed(paper: Printed | None) -> str:
    """The paper's number with its spread."""
    if paper is None:
        return ""
    return number(paper.value) + ("" if paper.sd is None else f" ± {number(paper.sd)}")


def ours(value: Value) -> str:
    """Our number with its spread, its runs, and those that diverged."""
    spread = "" if value.sd is None else f" ± {number(value.sd)}"
    diverged = f", {value.diverged} diverged" if value.diverged else ""
    return f"{number(value.mean)}{spread} (n {value.n}{diverged})"


def spreads(line: Line) -> str:
    """The difference in units of the combined spread, without and with the spread over data draws."""
    drawn = "" if line.with_draws is None else f", {signed(line.with_draws, 1)} with draws"
    return f"{signed(line.in_spreads, 1)}{drawn}"


def verdict(value: Verdict) -> str:
    """A verdict with its mark."""
    return f"{MARKS[value]} {value}"
