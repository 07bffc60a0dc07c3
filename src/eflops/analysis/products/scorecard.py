"""The scorecard at a glance: the paper's claims in words and its tables as tiles, coloured by verdict."""

from collections.abc import Sequence

import pandas as pd

from eflops.analysis.figure import Axes, Drawing, Figure, canvas, patch_key
from eflops.analysis.scorecard.card import Card, LineJson
from eflops.analysis.scorecard.line import MARKS
from eflops.analysis.scorecard.sections import OWN, section_of
from eflops.analysis.scorecard.verdict import Verdict
from eflops.analysis.source import Source, no_runs
from eflops.analysis.style import VERDICTS
from eflops.files import read_json
from eflops.results.paths import SCORECARD

COLUMNS = ["id", "section", "row", "column", "verdict"]
# Each panel of tiles: its title, and the sections whose lines are its rows.
TABLES = (
    ("Table 1, by N/d", ("table1", "table1-column", "table1-spread")),
    ("Table 1, E-FLoPS minus", ("table1-difference",)),
    ("Table 2, by rank of the gene", ("table2", "table2-list")),
)


def figure(source: Source) -> Figure:
    """The paper's claims in words, one row each, above its two tables as small tiles.

    A tile has no runs of its own; `eflops explain` traces the scorecard line that it shows.
    """
    card: Card = read_json(source.path(SCORECARD))
    data = pd.DataFrame(card["lines"], columns=COLUMNS)
    shown = {section_of(prefix).name for _, prefixes in TABLES for prefix in prefixes} | {OWN.name}
    claims = [line for line in card["lines"] if line["section"] not in shown]

    def paint() -> Drawing:
        height = 0.19 * len(claims) + 0.25
        drawing, _ = canvas(size=(7.0, height + 2.9))
        drawing.clear()
        mosaic = [["claims"] * 3, ["0", "1", "2"]]
        axes = drawing.subplot_mosaic(mosaic, height_ratios=[height, 2.1], width_ratios=[8, 6, 8])
        _list(axes["claims"], claims)
        for index, (title, prefixes) in enumerate(TABLES):
            part = data[data["section"].isin([section_of(prefix).name for prefix in prefixes])]
            columns = list(dict.fromkeys(part["column"]))
            panel = axes[str(index)]
            _grid(panel, part, list(dict.fromkeys(part["row"])), columns)
            labels = [card["labels"].get(name, name).removeprefix("E-FLoPS - ") for name in columns]
            panel.set_xticks(range(len(columns)), [label.replace(" ", "\n", 1) for label in labels], fontsize=6)
            panel.set_title(title)
        counts = data["verdict"].value_counts()
        keys = [
            patch_key(f"{MARKS[Verdict(verdict)]}  {verdict}: {counts[verdict]}", color=colour)
            for verdict, (colour, _) in VERDICTS.items()
            if verdict in counts
        ]
        drawing.legend(handles=keys, loc="outside lower center", ncols=5)
        return drawing

    return Figure(data, no_runs(), paint)


def _list(axes: Axes, lines: Sequence[LineJson]) -> None:
    """A row per line: its tile, and the claim in words."""
    for row, line in enumerate(lines):
        _tile(axes, 0.0, row, line["verdict"])
        words = line.get("short") or f"{line['section']} of E-FLoPS against Fed-IHT"
        axes.text(0.8, row, words, ha="left", va="center", fontsize=8)
    # A tile is as wide as in the tables below, where the columns of three panels share the width.
    axes.set(xlim=(-0.6, 17), ylim=(len(lines) - 0.4, -0.6))
    axes.set_title("The paper's claims", loc="left")
    axes.set_axis_off()


def _grid(axes: Axes, part: pd.DataFrame, rows: list[str], columns: list[str]) -> None:
    for row, column, verdict in part[["row", "column", "verdict"]].values:
        _tile(axes, columns.index(column), rows.index(row), verdict)
    axes.set(xlim=(-0.6, len(columns) - 0.4), ylim=(len(rows) - 0.4, -0.6))
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, labelsize=7)
    axes.spines[:].set_visible(False)


def _tile(axes: Axes, x: float, y: float, verdict: str) -> None:
    from matplotlib.patches import Rectangle

    colour, ink = VERDICTS[verdict]
    axes.add_patch(Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, color=colour, linewidth=0))
    axes.text(x, y, MARKS[Verdict(verdict)], color=ink, ha="center", va="center", fontsize=8)
