"""A line of the scorecard."""

from dataclasses import dataclass

from eflops.analysis.paper import Printed
from eflops.analysis.scorecard.verdict import Judgement, Value, Verdict, in_spreads, judge_number, unjudged


@dataclass(frozen=True)
class Line:
    """A number or a claim of the paper, what we have for it, and the verdict.

    row, column: where a number stands in the paper's table; text: a claim's words or a gene's name.
    difference: ours minus the paper's, for p in decades. in_spreads: the difference in units of the combined spread of
    the paper's runs and ours; with_draws: the same with the spread over data draws (draw_sd) on both sides as well.
    """

    id: str
    section: str
    row: str
    column: str
    text: str
    judgement: Judgement
    paper: Printed | None = None
    tolerance: float | None = None
    difference: float | None = None
    in_spreads: float | None = None
    draw_sd: float | None = None
    with_draws: float | None = None


@dataclass(frozen=True)
class Number:
    """A number of the paper and ours, before they are compared. `obstacle` is why they cannot be, `contrary` what
    speaks against the paper's direction; both are empty where there is nothing to say."""

    id: str
    section: str
    row: str
    column: str
    paper: Printed
    ours: Value | None
    tolerance: float
    obstacle: str
    contrary: str
    text: str = ""
    draw_sd: float | None = None


def compared(number: Number) -> Line:
    """The line of a number: difference, spreads and verdict."""
    place = (number.id, number.section, number.row, number.column, number.text)
    ours = number.ours
    if ours is None or ours.mean is None:
        values = () if ours is None else (ours,)
        lost = Judgement(Verdict.FAILED, values, "Every run diverged.")
        judgement = unjudged(number.obstacle, *values) if number.obstacle else lost
        return Line(*place, judgement, number.paper, number.tolerance, draw_sd=number.draw_sd)
    difference = ours.mean - number.paper.value
    judgement = judge_number(ours, difference, number.tolerance, number.contrary)
    if number.obstacle:
        judgement = unjudged(number.obstacle, ours)
    deviations = (number.paper.sd, ours.sd)
    return Line(
        *place,
        judgement,
        number.paper,
        number.tolerance,
        difference,
        in_spreads(difference, *deviations),
        number.draw_sd,
        # Twice, because the paper's draw and ours both vary.
        None if number.draw_sd is None else in_spreads(difference, *deviations, number.draw_sd, number.draw_sd),
    )
