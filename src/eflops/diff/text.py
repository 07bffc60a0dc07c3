"""A difference between two results as text."""

from eflops.analysis.text import number
from eflops.diff.diff import Change, Difference, Move
from eflops.explain.show import INDENT


def as_text(difference: Difference, limit: int) -> str:
    """What changed, the largest moves first, at most `limit` of each kind."""
    parts = [
        _part("Verdicts that changed", [_change(change) for change in difference.verdicts], limit),
        _part("Conclusions that changed", [_change(change) for change in difference.conclusions], limit),
        _part("Cells that moved", [_move(move) for move in difference.moves], limit),
        _part("Came and went", [_change(change) for change in difference.presence], limit),
    ]
    return "\n".join([*(line for part in parts for line in part), summary(difference)])


def summary(difference: Difference) -> str:
    """The difference in a sentence."""
    far = sum(abs(move.spreads or 0.0) > 1 for move in difference.moves)
    return (
        f"{difference.compared} cells compared: {len(difference.moves)} moved, {far} by more than their spread; "
        f"{len(difference.verdicts)} verdicts and {len(difference.conclusions)} conclusions changed."
    )


def _part(title: str, told: list[str], limit: int) -> list[str]:
    if not told:
        return []
    more = [f"{INDENT}and {len(told) - limit} more"] if len(told) > limit else []
    return [title, *(INDENT + line for line in told[:limit]), *more, ""]


def _move(move: Move) -> str:
    size = "" if move.spreads is None else f" ({move.spreads:+.2f} spreads)"
    return f"{move.place}: {move.row}, {move.column}: {number(move.before)} to {number(move.after)}{size}"


def _change(change: Change) -> str:
    return f"{change.place}: {change.before} to {change.after}"
