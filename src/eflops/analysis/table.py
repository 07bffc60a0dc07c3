"""A table in four forms: CSV for machines, Markdown and HTML for reading, LaTeX (booktabs) for printing."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from eflops.analysis.source import no_runs
from eflops.analysis.text import BOLD, MINUS, markdown_table
from eflops.files import write_text

# Templates are Python text, so that the hash of the code, which decides what is made again, covers them.
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
<tr>{% for text, bold in row %}<td>{% if bold %}<b>{{ text }}</b>{% else %}{{ text }}{% endif %}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table></div>
{% if note %}<p class="soft">{{ note }}</p>{% endif %}"""
LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#"} | {
    "±": r"$\pm$",
    "η": r"$\eta$",
    MINUS: "$-$",
    "²": "$^2$",
}


@dataclass(frozen=True)
class Table:
    """A table as a product's function makes it.

    data: plain numbers, one row per cell or line; shown: what people read, **bold** as in Markdown; note: what stands
    below it. runs: the rows that `data` sums up, one row per run (and layer, gene ...), for `eflops explain`; metric:
    the column of `runs` that cells are about where no key of theirs says it. title: that of the product.
    """

    data: pd.DataFrame
    shown: pd.DataFrame
    note: str = ""
    runs: pd.DataFrame = field(default_factory=no_runs)
    metric: str = ""
    title: str = ""

    def write(self, path: Path) -> None:
        """Write the form that the file's ending names."""
        write_text(path, self.form(path.suffix))

    def form(self, suffix: str) -> str:
        """The text of the form that a file's ending names."""
        return {".csv": self.csv, ".md": self.markdown, ".tex": self.latex, ".html": self.html}[suffix]()

    def csv(self) -> str:
        """The plain numbers."""
        return self.data.to_csv(index=False)

    def markdown(self) -> str:
        """A Markdown table with its title and note."""
        lines = [f"**{self.title}**", "", markdown_table(self.shown.columns, self._rows())]
        return "\n".join([*lines, *([""] * bool(self.note)), self.note]).rstrip() + "\n"

    def latex(self) -> str:
        """A booktabs table."""
        columns = "l" + "c" * (len(self.shown.columns) - 1)
        return "\n".join(
            [
                r"\begin{table}",
                rf"  \caption{{{_latex(self.title)}. {_latex(self.note)}}}",
                r"  \centering",
                rf"  \begin{{tabular}}{{{columns}}}",
                r"    \toprule",
                "    " + " & ".join(map(_latex, self.shown.columns)) + r" \\",
                r"    \midrule",
                *["    " + " & ".join(map(_latex, row)) + r" \\" for row in self._rows()],
                r"    \bottomrule",
                r"  \end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def html(self) -> str:
        """A page of its own, as the report shows it."""
        rows = [[unbold(str(cell)) for cell in row] for row in self._rows()]
        return page(self.title, BODY, columns=list(self.shown.columns), rows=rows, note=self.note)

    def _rows(self) -> list[tuple[object, ...]]:
        return list(self.shown.itertuples(index=False, name=None))


def unbold(text: str) -> tuple[str, bool]:
    """A cell without its marks, and whether it was bold."""
    bold = text.startswith(BOLD) and text.endswith(BOLD) and len(text) > 2 * len(BOLD)
    return (text.removeprefix(BOLD).removesuffix(BOLD) if bold else text), bold


def _latex(cell: object) -> str:
    text, bold = unbold(str(cell))
    for plain, escaped in LATEX.items():
        text = text.replace(plain, escaped)
    return rf"\textbf{{{text}}}" if bold else text


def fill(template: str, **values: Any) -> str:
    """A template filled in; text is escaped."""
    from jinja2 import Environment, StrictUndefined  # a figure beside a table does without it

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(**values)


def page(title: str, template: str, **values: Any) -> str:
    """A page of its own whose body is a template filled in."""
    return fill(SKELETON, title=title, style=STYLE, body=fill(template, **values)) + "\n"
