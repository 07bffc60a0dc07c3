"""The scorecard at a glance: each number and claim of the paper as a square, coloured by its verdict."""

import pandas as pd

from eflops.analysis.figure import Axes, Drawing, Figure, canvas, patch_key
from eflops.analysis.needs import SCORECARD
from eflops.analysis.scorecard.sections import CLAIMS, section_of
from eflops.analysis.scorecard.verdict import Verdict
from eflops.analysis.source import Source, no_runs
from eflops.files import read_json

# The colours of the explorer; they differ in lightness too, and a mark says the same without colour.
LOOKS = {
    Verdict.AGREES: ("#004488", "w", "+"),
    Verdict.NEAREST: ("#6699CC", "k", "\N{ALMOST EQUAL TO}"),
    Verdict.DIFFERS: ("#BB5566", "w", "\N{MINUS SIGN}"),
    Verdict.INCONCLUSIVE: ("#EECC66", "k", "?"),
    Verdict.UNJUDGED: ("#D8DEE4", "k", "\N{MIDDLE DOT}"),
}
COLUMNS = ["id", "section", "row", "column", "verdict"]
# Each panel: its title, the sections whose lines are its rows, and what those are.
TABLES = (
    ("Table 1", ("table1", "table1-column", "table1-spread"), "$N/d$"),
    ("E-FLoPS minus", ("table1-difference",), "$N/d$"),
    ("Table 2", ("table2", "table2-list"), "place in the paper's list"),
)


def figure(source: Source) -> Figure:
    """The paper's two tables as they are laid out there, differences within the first, and test and claims as a list.

    No run stands behind a square by itself: it is a line of the scorecard, which has its own explanation.
    """
    card = read_json(source.path(SCORECARD))
    data = pd.DataFrame(card["lines"], columns=COLUMNS)

    def paint() -> Drawing:
        drawing, axes = canvas(1, 4, size=(7.0, 3.2), width_ratios=(4, 3, 4, 1))
        for place, (title, prefixes, label) in zip(axes, TABLES, strict=False):
            part = data[data["section"].isin([section_of(prefix).name for prefix in prefixes])]
            columns = list(dict.fromkeys(part["column"]))
            _grid(place, part, list(dict.fromkeys(part["row"])), columns)
            labels = [card["labels"].get(name, name).removeprefix("E-FLoPS - ") for name in columns]
            place.set_xticks(range(len(columns)), [label.replace(" ", "\n", 1) for label in labels], rotation=90)
            place.set(title=title, ylabel=label)
        shown = [section_of(prefix).name for _, prefixes, _ in TABLES for prefix in prefixes]
        rest = data[~data["section"].isin(shown)].assign(column="")
        rest["row"] = [row if section == CLAIMS else section for section, row in rest[["section", "row"]].values]
        _grid(axes[3], rest, list(rest["row"]), [""])
        axes[3].set(title="test and claims", xticks=[])
        axes[3].yaxis.tick_right()
        counts = data["verdict"].value_counts()
        keys = [
            patch_key(f"{mark}  {verdict}: {counts.get(verdict, 0)}", color=colour)
            for verdict, (colour, _, mark) in LOOKS.items()
        ]
        drawing.legend(handles=keys, loc="outside lower center", ncols=3)
        return drawing

    return Figure(data, no_runs(), paint)


def _grid(axes: Axes, part: pd.DataFrame, rows: list[str], columns: list[str]) -> None:
    from matplotlib.patches import Rectangle

    for row, column, verdict in part[["row", "column", "verdict"]].values:
        x, y = columns.index(column), rows.index(row)
        colour, ink, mark = LOOKS[Verdict(verdict)]
        axes.add_patch(Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, color=colour, linewidth=0))
        axes.text(x, y, mark, color=ink, ha="center", va="center", fontsize=8)
    axes.set(xlim=(-0.6, len(columns) - 0.4), ylim=(len(rows) - 0.4, -0.6))
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, labelsize=7)
    axes.spines[:].set_visible(False)
