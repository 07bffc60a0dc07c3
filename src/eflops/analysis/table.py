"""A table in three forms: CSV for machines, Markdown for reading, LaTeX (booktabs) for printing."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from eflops.files import write_text

BOLD = "**"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Table:
    """`data` holds plain numbers, one row an entry; `shown` holds what people read, **bold** as in Markdown."""

    data: pd.DataFrame
    shown: pd.DataFrame
    title: str
    note: str = ""

    def write(self, path: Path) -> None:
        """Write the form that the file's ending names."""
        write_text(path, {".csv": self.csv, ".md": self.markdown, ".tex": self.latex}[path.suffix]())

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


def _latex(cell: object) -> str:
    text = str(cell)
    bold = text.startswith(BOLD) and text.endswith(BOLD) and len(text) > 2 * len(BOLD)
    text = text.removeprefix(BOLD).removesuffix(BOLD) if bold else text
    for plain, escaped in {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#"}.items():
        text = text.replace(plain, escaped)
    text = text.replace("±", r"$\pm$").replace("η", r"$\eta$").replace(MINUS, "$-$").replace("²", "$^2$")
    return rf"\textbf{{{text}}}" if bold else text
