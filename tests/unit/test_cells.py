"""Cells of printed tables: how numbers are written, where they come from, and that labels stay text in every form."""

import markdown_it
import numpy as np
import pandas as pd
import pytest

from eflops.analysis.cells import Cell, difference, interval, number, rows_by, spread
from eflops.analysis.table import Table
from eflops.errors import UserError

MINUS = "\N{MINUS SIGN}"
HOSTILE = "a|b <img src=x> *c* `d` [e](f) _g_ ~~h~~ $i$ 100% #1 &lt; {j} \\k ^l ~m"


def row(mean: float, sd: float, n: int = 2, diverged: int = 0) -> pd.Series:
    return pd.DataFrame({"mean": [mean], "sd": [sd], "n": [n], "diverged": [diverged]}).iloc[0]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((0.61249, 0.04), "0.612 ± 0.040"),
        ((0.82, np.nan, 1, 0), "0.820"),
        ((0.5, 0.1, 30, 2), "0.500 ± 0.100 (2 of 30 diverged)"),
        ((np.nan, np.nan, 30, 30), "all 30 diverged"),
        ((np.nan, np.nan, 30, 0), "\N{EN DASH}"),
        ((-0.25, 0.1), f"{MINUS}0.250 ± 0.100"),
        ((-1.5e12, 2e12), f"{MINUS}1.5e+12 ± 2e+12"),
    ],
)
def test_a_spread_as_it_is_printed(values: tuple[float, ...], text: str) -> None:
    assert spread(row(*values)).text == text  # type: ignore[arg-type]


def test_intervals_and_differences_as_they_are_printed() -> None:
    data = pd.DataFrame({"mean": [0.9], "lower": [0.89], "upper": [0.91], "n": [3], "diverged": [0]})
    assert interval(data.iloc[0]).text == "0.900 [0.890, 0.910]"
    changes = pd.DataFrame({"difference": [0.012, -0.2], "low": [0.003, np.nan], "high": [0.021, np.nan]})
    assert [difference(each).text for _, each in changes.iterrows()] == ["+0.012 [+0.003, +0.021]", f"{MINUS}0.200"]


def test_every_number_of_a_cell_knows_its_row_and_column() -> None:
    data = pd.DataFrame({"method": ["a", "b"], "mean": [0.1, 0.2], "sd": [0.01, 0.02], "n": [3, 3], "diverged": 0})
    cell = spread(rows_by(data, "method")["b"]) + "†"
    assert [(part.value, part.text, part.key) for part in cell.numbers] == [
        (0.2, "0.200", (1, "mean")),
        (0.02, "0.020", (1, "sd")),
    ]
    assert cell.text == "0.200 ± 0.020†"


def test_a_number_of_another_row_than_its_key_is_refused() -> None:
    data = pd.DataFrame({"method": ["a", "b"], "mean": [0.1, 0.2]})
    cells = {name: number(each, "mean") for name, each in rows_by(data, "method").items()}
    Table(data, [{"Method": "a", "mean": cells["a"]}])
    with pytest.raises(UserError, match=r"prints 0\.100 as mean of row 0 of its data, where another number stands"):
        Table(data.iloc[::-1].reset_index(drop=True), [{"Method": "a", "mean": cells["a"]}])


def test_markup_in_labels_is_text_in_markdown() -> None:
    table = Table(pd.DataFrame(), [{HOSTILE: HOSTILE, "bold": Cell((HOSTILE,), bold=True)}], title=HOSTILE)
    html = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).render(table.markdown())
    for tag in ("<img", "<em", "<code", "<a ", "<s>"):
        assert tag not in html
    shown = HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert html.count(shown) == 4
    assert html.count("<strong>") == 2


def test_markup_in_labels_is_text_in_latex() -> None:
    text = Table(pd.DataFrame(), [{"label": HOSTILE, "other": "[1]"}]).latex()
    assert r"a$|$b $<$img src=x$>$ *c* `d` [e](f) \_g\_" in text
    assert r"\$i\$ 100\% \#1 \&lt; \{j\} \textbackslash{}k \textasciicircum{}l \textasciitilde{}m" in text
    assert "& {[}1]" in text


def test_a_row_without_a_column_has_a_dash_there() -> None:
    assert "| b | - |" in Table(pd.DataFrame(), [{"x": "a", "y": "1"}, {"x": "b"}]).markdown()
