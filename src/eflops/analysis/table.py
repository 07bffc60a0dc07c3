"""A table in four forms: CSV for machines, Markdown and HTML for reading, LaTeX (booktabs) for printing."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd

from eflops.files import write_text

BOLD = "**"
MINUS = "\N{MINUS SIGN}"
STYLE = """
body { margin: 1.5rem; color: #1b1f24; background: #fff; font: 14px/1.45 system-ui, "Segoe UI", Arial, sans-serif; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; border-bottom: 2px solid #1b1f24; }
caption { text-align: left; font-weight: 600; padding-bottom: .5rem; }
thead th { border-top: 2px solid #1b1f24; border-bottom: 1px solid #1b1f24; text-align: left; }
th, td { padding: .25rem .8rem .25rem 0; vertical-align: top; } tbody tr:nth-child(even) { background: #f4f6f8; }
p { max-width: 60rem; color: #59636e; }
"""


@dataclass(frozen=True)
class Table:
    """`data` holds plain numbers, one row an entry; `shown` holds what people read, **bold** as in Markdown."""

    data: pd.DataFrame
    shown: pd.DataFrame
    title: str
    note: str = ""

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
        lines = ["| " + " | ".join(map(str, self.shown.columns)) + " |", "|" + " --- |" * len(self.shown.columns)]
        lines += ["| " + " | ".join(map(str, row)) + " |" for row in self.shown.itertuples(index=False)]
        return "\n".join([f"**{self.title}**", "", *lines, *([""] * bool(self.note)), self.note]).rstrip() + "\n"

    def latex(self) -> str:
        """A booktabs table."""
        columns = "l" + "c" * (len(self.shown.columns) - 1)
        body = [" & ".join(map(_latex, row)) + r" \\" for row in self.shown.itertuples(index=False)]
        return "\n".join(
            [
                r"\begin{table}",
                rf"  \caption{{{_latex(self.title)}. {_latex(self.note)}}}",
                r"  \centering",
                rf"  \begin{{tabular}}{{{columns}}}",
                r"    \toprule",
                "    " + " & ".join(map(_latex, self.shown.columns)) + r" \\",
                r"    \midrule",
                *[f"    {line}" for line in body],
                r"    \bottomrule",
                r"  \end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def html(self) -> str:
        """A page of its own, without script or network, as the report shows it."""
        head = "".join(f'<th scope="col">{_html(name)}</th>' for name in self.shown.columns)
        rows = [f"<tr>{''.join(f'<td>{_html(cell)}</td>' for cell in row)}</tr>" for row in _rows(self.shown)]
        note = f"<p>{_html(self.note)}</p>\n" if self.note else ""
        return (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{_html(self.title)}</title>\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n<table>\n<caption>{_html(self.title)}</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>\n{note}</body>\n</html>\n"
        )


def _rows(shown: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    return shown.itertuples(index=False, name=None)


def _html(cell: object) -> str:
    text = str(cell)
    bold = _is_bold(text)
    text = escape(text.removeprefix(BOLD).removesuffix(BOLD) if bold else text)
    return f"<b>{text}</b>" if bold else text


def _is_bold(text: str) -> bool:
    return text.startswith(BOLD) and text.endswith(BOLD) and len(text) > 2 * len(BOLD)


def _latex(cell: object) -> str:
    text = str(cell)
    bold = _is_bold(text)
    text = text.removeprefix(BOLD).removesuffix(BOLD) if bold else text
    for plain, escaped in {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#"}.items():
        text = text.replace(plain, escaped)
    text = text.replace("±", r"$\pm$").replace("η", r"$\eta$").replace(MINUS, "$-$").replace("²", "$^2$")
    return rf"\textbf{{{text}}}" if bold else text
