"""A table in four forms: CSV for machines, Markdown and HTML for reading, LaTeX (booktabs) for printing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from eflops.analysis.cells import Cell, as_cell
from eflops.analysis.source import no_runs
from eflops.analysis.text import MINUS, MISSING, markdown_table, markdown_text
from eflops.errors import UserError
from eflops.files import write_text

# Templates are Python text, so that the hash of the code, which decides what is rebuilt, covers them.
STYLE = """
:root { --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --paper: #ffffff; --ground: #f6f7f9; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; letter-spacing: -.01em; }
p { margin: .3rem 0; max-width: 62rem; }
.soft { color: var(--soft); }
.grid { background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto;
  margin-top: .6rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .5rem .8rem; border-top: 1px solid var(--line); }
thead th { border-bottom: 1px solid var(--line); white-space: nowrap; }
@media print { body { background: #fff; font-size: 11px; } main { padding: 0; max-width: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""

SKELETON = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>{{ style | safe }}</style>
</head>
<body>
<main>
<h1>{{ title }}</h1>
{{ body | safe }}
</main>
</body>
</html>
"""
BODY = """<div class="grid"><table>
<thead><tr>{% for name in columns %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in rows %}
<tr>{% for cell in row %}
<td>{% if cell.bold %}<b>{{ cell.text }}</b>{% else %}{{ cell.text }}{% endif %}</td>
{%- endfor %}
</tr>
{% endfor %}
</tbody>
</table></div>
{% if note %}<p class="soft">{{ note }}</p>{% endif %}"""
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    **{mark: f"\\{mark}" for mark in "&%_#${}"},
    **{mark: f"${mark}$" for mark in "<>|"},
    "±": r"$\pm$",
    "η": r"$\eta$",
    MINUS: "$-$",
    "²": "$^2$",
}


@dataclass(frozen=True)
class Table:
    """The return value of a table's function: plain numbers, and the printed rows.

    Args:
        data: plain numbers, one row per case, with the index 0, 1, 2, ...; it becomes the CSV file.
        rows: the printed rows, each a mapping from the column's heading to its cell; plain text is a cell without
            numbers, and a missing column prints as a dash. Markdown, LaTeX, HTML and the explorer show these rows.
        note: the sentences below the table.
        runs: the rows that `data` summarises, one per run (and layer, gene, ...), for `eflops explain`.
        metric: the column of `runs` that the numbers summarise, unless a key `metric` of `data` names it.
        title: replaces the title of the config entry.
        columns: the headings, if they do not follow from the rows.

    Example:
        data = summarise(runs, "accuracy", ["method"])
        of = rows_by(data, "method")
        rows = [{"Method": source.labels[name], "accuracy": spread(of[name])} for name in source.order(of)]
        Table(data, rows, "Mean ± standard deviation.", runs, "accuracy")
    """

    data: pd.DataFrame
    rows: Sequence[Mapping[str, Cell | str]]
    note: str = ""
    runs: pd.DataFrame = field(default_factory=no_runs)
    metric: str = ""
    title: str = ""
    columns: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Complete the headings, and check that every printed number equals the plain one that its key names."""
        names = self.columns or tuple(dict.fromkeys(name for row in self.rows for name in row))
        object.__setattr__(self, "columns", tuple(names))
        plain = {column: dict(self.data[column].items()) for column in self.data}
        for row in self.cells:
            for printed in (number for cell in row for number in cell.numbers):
                at, column = printed.key
                if plain.get(column, {}).get(at) != printed.value:
                    raise UserError(
                        f"The table prints {printed.text} as {column} of row {at} of its data, where another number "
                        "stands; take rows from the data that the table gets (`rows_by`)."
                    )

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """The printed rows, cell by cell in the order of the columns."""
        return [[as_cell(row.get(column, MISSING)) for column in self.columns] for row in self.rows]

    def write(self, path: Path) -> None:
        """Write the form that the file's suffix names."""
        write_text(path, self.form(path.suffix))

    def form(self, suffix: str) -> str:
        """The text of the form that the file's suffix names."""
        return {".csv": self.csv, ".md": self.markdown, ".tex": self.latex, ".html": self.html}[suffix]()

    def csv(self) -> str:
        """The plain numbers."""
        return self.data.to_csv(index=False)

    def markdown(self) -> str:
        """A Markdown table with its title and note."""
        table = markdown_table(
            list(map(markdown_text, self.columns)), [list(map(_markdown, row)) for row in self.cells]
        )
        lines = [f"**{markdown_text(self.title)}**", "", table]
        # A note is our own Markdown, in which a label may be named.
        return "\n".join([*lines, *([""] * bool(self.note)), self.note.replace("<", r"\<")]).rstrip() + "\n"

    def latex(self) -> str:
        """A booktabs table."""
        alignment = "l" + "c" * (len(self.columns) - 1)
        return "\n".join(
            [
                r"\begin{table}",
                rf"  \caption{{{_latex(self.title)}. {_latex(self.note)}}}",
                r"  \centering",
                rf"  \begin{{tabular}}{{{alignment}}}",
                r"    \toprule",
                "    " + " & ".join(map(_latex, self.columns)) + r" \\",
                r"    \midrule",
                *["    " + " & ".join(map(_latex, row)) + r" \\" for row in self.cells],
                r"    \bottomrule",
                r"  \end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def html(self) -> str:
        """A standalone page, as the report shows it."""
        return page(self.title, BODY, columns=self.columns, rows=self.cells, note=self.note)


def _markdown(cell: Cell) -> str:
    text = markdown_text(cell.text)
    return f"**{text}**" if cell.bold else text


def _latex(content: Cell | str) -> str:
    cell = as_cell(content)
    text = "".join(LATEX.get(letter, letter) for letter in cell.text)
    # Behind the end of a row a bracket would be the length of a gap.
    text = f"{{[}}{text[1:]}" if text.startswith("[") else text
    return rf"\textbf{{{text}}}" if cell.bold else text


def fill(template: str, **values: Any) -> str:
    """The template with its fields filled in; text is escaped."""
    from jinja2 import Environment, StrictUndefined  # a figure beside a table does without it

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(**values)


def page(title: str, template: str, **values: Any) -> str:
    """A standalone page with a filled template as its body."""
    return fill(SKELETON, title=title, style=STYLE, body=fill(template, **values)) + "\n"
