"""A difference between two results as text and as a small figure."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure as Drawing

from eflops.analysis.figure import Figure
from eflops.provenance.diff import Change, Difference, Move
from eflops.provenance.show import INDENT, number


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


def draw(difference: Difference, title: str) -> Figure:
    """Every move that has a spread, a row a file."""
    moves = [move for move in difference.moves if move.spreads is not None]
    places = sorted({move.place for move in moves})
    data = pd.DataFrame(
        [vars(move) for move in moves], columns=["place", "row", "column", "before", "after", "spreads"]
    )
    drawing: Drawing
    drawing, axes = plt.subplots(figsize=(4.5, 1.0 + 0.22 * max(1, len(places))))
    axes.axvspan(-1, 1, color="0.92", linewidth=0)
    axes.axvline(0, color="0.6", linewidth=0.8)
    axes.plot(data["spreads"], [places.index(place) for place in data["place"]], "|", color="#0072B2", markersize=8)
    axes.set_yticks(range(len(places)), [place.removesuffix(".csv") for place in places])
    axes.set_ylim(len(places) - 0.5 if places else 0.5, -0.5)
    axes.set(xlabel="change in units of the cell's spread (grey: within one)", title=title)
    return Figure(drawing, data)


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
