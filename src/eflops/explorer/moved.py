"""What moved between two runs of the pipeline: the numbers of `eflops diff`, each tied to its cell."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from eflops.diff import Difference, diff, summary
from eflops.explorer.pack import rounded


def moved_json(before: Path, after: Path, names: tuple[str, str]) -> dict[str, Any]:
    """The difference of two results folders; `names` are what the user called them."""
    difference: Difference = diff(before, after)
    return {
        "before": names[0],
        "after": names[1],
        "summary": summary(difference),
        "moves": [
            [move.place, move.row, move.column, _short(move.before), _short(move.after), rounded(move.spreads)]
            for move in difference.moves
        ],
        **{
            kind: [asdict(change) for change in getattr(difference, kind)]
            for kind in ("verdicts", "conclusions", "presence")
        },
    }


def _short(value: Any) -> Any:
    return rounded(value, 6) if isinstance(value, float) else value
