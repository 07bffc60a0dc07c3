"""The scorecard at a glance: each number and claim of the paper as a square, coloured by its verdict."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from eflops.analysis.catalogue.whole import SCORECARD
from eflops.analysis.figure import Figure
from eflops.analysis.scorecard.build import CLAIMS
from eflops.analysis.scorecard.table1 import SECTION as TABLE1
from eflops.analysis.scorecard.table2 import SECTION as TABLE2
from eflops.analysis.scorecard.verdict import Verdict
from eflops.analysis.source import Source
from eflops.files import read_json

# The colours of scorecard.html; they differ in lightness too, and a mark says the same without colour.
LOOKS = {
    Verdict.REPRODUCED: ("#004488", "w", "+"),
    Verdict.DIRECTION: ("#DDAA33", "k", "\N{RIGHTWARDS ARROW}"),
    Verdict.FAILED: ("#BB5566", "w", "\N{MINUS SIGN}"),
    Verdict.UNJUDGED: ("#D8DEE4", "k", "?"),
}
COLUMNS = ["id", "section", "row", "column", "verdict"]
TABLES = {TABLE1: "$N/d$", TABLE2: "place in the paper's list"}


def make(source: Source) -> Figure:
    """The paper's two tables as they are laid out there, and its test and claims as a list."""
    card = read_json(source.results / SCORECARD)
    data = pd.DataFrame(card["lines"], columns=COLUMNS)
    drawing, axes = plt.subplots(1, 3, figsize=(7.0, 3.0), width_ratios=(4, 4, 1))
    for place, (section, label) in zip(axes, TABLES.items(), strict=False):
        part = data[data["section"] == section]
        columns = list(dict.fromkeys(part["column"]))
        _grid(place, part, list(dict.fromkeys(part["row"])), columns)
        place.set_xticks(range(len(columns)), [_wrapped(card["labels"].get(name, name)) for name in columns])
        place.set(title=section, ylabel=label)
    rest = data[~data["section"].isin(TABLES)].assign(column="")
    rest["row"] = [
        row if section == CLAIMS else f"{section}, {row}" for section, row in rest[["section", "row"]].values
    ]
    _grid(axes[2], rest, list(rest["row"]), [""])
    axes[2].set(title="test and claims", xticks=[])
    axes[2].yaxis.tick_right()
    drawing.legend(handles=_legend(data), loc="outside lower center", ncols=len(LOOKS))
    return Figure(drawing, data)


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """No run by itself: each square is a line of the scorecard, which has its own explanation."""
    return pd.DataFrame(columns=["experiment", "record"])


def _grid(axes: Axes, part: pd.DataFrame, rows: list[str], columns: list[str]) -> None:
    for row, column, verdict in part[["row", "column", "verdict"]].values:
        x, y = columns.index(column), rows.index(row)
        colour, ink, mark = LOOKS[Verdict(verdict)]
        axes.add_patch(Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, color=colour, linewidth=0))
        axes.text(x, y, mark, color=ink, ha="center", va="center", fontsize=8)
    axes.set(xlim=(-0.6, len(columns) - 0.4), ylim=(len(rows) - 0.4, -0.6))
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, labelsize=7)
    axes.spines[:].set_visible(False)


def _wrapped(label: str) -> str:
    return label.replace(" ", "\n", 1)


def _legend(data: pd.DataFrame) -> list[Patch]:
    counts = data["verdict"].value_counts()
    return [
        Patch(color=colour, label=f"{mark}  {verdict}: {counts.get(verdict, 0)}")
        for verdict, (colour, _, mark) in LOOKS.items()
    ]
