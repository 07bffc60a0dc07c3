"""The scorecard as one page that needs nothing else: no script, no network."""

from collections.abc import Iterable
from html import escape

from eflops.analysis.scorecard import table1, table2, ttest, words
from eflops.analysis.scorecard.build import CLAIMS, SECTIONS, Scorecard, count
from eflops.analysis.scorecard.line import Line
from eflops.analysis.scorecard.style import STYLE
from eflops.analysis.scorecard.verdict import RULE, Verdict

TITLE = "Scorecard: the paper against this run"
CAPTIONS = {
    table1.SECTION: (
        "Share of the true support that is found, by N/d: mean ± standard deviation over run seeds of one data draw."
    ),
    table2.SECTION: (
        "Share of runs that select a gene, in the paper's order; ± is the standard error of such a share."
    ),
    ttest.SECTION: (
        "E-FLoPS minus Fed-IHT, final test accuracy on the leukaemia data, paired over run seeds; ± is the standard "
        "error of t, and the difference of p is in decades."
    ),
    CLAIMS: "What the paper says in words; each is judged by a check of its own.",
}


def html(card: Scorecard) -> str:
    """The whole page."""
    sections = "".join(_section(card, name) for name in SECTIONS)
    rule = "".join(f"<dt>{_badge(verdict)}</dt><dd>{escape(text)}</dd>" for verdict, text in RULE.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{TITLE}</h1>\n<p class="summary">{escape(card.summary)}</p>\n{_bar(card)}\n{_counts(card)}\n'
        f'<h2>The rule</h2>\n<div class="panel"><dl>{rule}</dl></div>\n'
        f'<h2>What is uncertain</h2>\n<div class="panel"><p>{escape(card.uncertainty)}</p></div>\n'
        f"{sections}</main>\n</body>\n</html>\n"
    )


def _bar(card: Scorecard) -> str:
    """The counts as a bar; the words stand in the summary above it."""
    parts = "".join(
        f'<span class="{_class(Verdict(verdict))}" style="flex: {number}" title="{number} {verdict}"></span>'
        for verdict, number in card.counts.items()
        if number
    )
    return f'<div class="bar" role="img" aria-label="{escape(card.summary)}">{parts}</div>'


def _counts(card: Scorecard) -> str:
    head = "".join(f'<th class="count" scope="col">{_badge(verdict)}</th>' for verdict in Verdict)
    rows = [(name, count(card.section(name))) for name in SECTIONS] + [("All", card.counts)]
    body = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(f'<td class="count">{number}</td>' for number in counts.values())
        + "</tr>\n"
        for name, counts in rows
    )
    return f'<div class="grid"><table><thead><tr><th></th>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _section(card: Scorecard, name: str) -> str:
    lines = card.section(name)
    inner = _claims(lines) if name == CLAIMS else _matrix(lines, card.labels, name)
    return f'<h2>{name}</h2>\n<div class="grid"><table><caption>{CAPTIONS[name]}</caption>{inner}</table></div>\n'


def _matrix(lines: list[Line], labels: dict[str, str], name: str) -> str:
    """Numbers where they stand in the paper's table."""
    cells = {(line.row, line.column): line for line in lines}
    rows = dict.fromkeys(line.row for line in lines)
    columns = dict.fromkeys(line.column for line in lines)
    corner = {table1.SECTION: "N/d", table2.SECTION: "place"}.get(name, "")
    head = "".join(f'<th scope="col">{escape(labels.get(column, column))}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{row}</th>' + "".join(_cell(cells.get((row, column))) for column in columns) + "</tr>\n"
        for row in rows
    )
    return f'<thead><tr><th scope="col">{corner}</th>{head}</tr></thead><tbody>\n{body}</tbody>'


def _cell(line: Line | None) -> str:
    if line is None:
        return "<td></td>"
    judgement = line.judgement
    ours = "; ".join(map(words.ours, judgement.values)) or words.ABSENT
    difference = "" if line.difference is None else _pair("differ", words.signed(line.difference))
    spreads = "" if line.in_spreads is None else _pair("spreads", words.spreads(line))
    gene = f'<div class="gene">{escape(line.text)}</div>' if line.text else ""
    return (
        f'<td class="cell {_class(judgement.verdict)}" {_marks(line)}>{gene}{_badge(judgement.verdict)}'
        f"{_pair('ours', ours, 'ours')}{_pair('paper', words.printed(line.paper))}{difference}{spreads}"
        f'<div class="why">{escape(judgement.reason)}</div></td>'
    )


def _pair(key: str, value: str, kind: str = "") -> str:
    return f'<div class="pair {kind}"><span class="key">{key}</span>{escape(value)}</div>'


def _claims(lines: Iterable[Line]) -> str:
    rows = "".join(
        f'<tr {_marks(line)}><td class="cell claim {_class(line.judgement.verdict)}">{_badge(line.judgement.verdict)}'
        f"<div><code>{escape(line.row)}</code></div></td><td>{escape(line.text[:1].upper() + line.text[1:])}.</td>"
        f"<td>{escape(line.judgement.reason)}{_values(line)}</td></tr>\n"
        for line in lines
    )
    head = '<th scope="col">verdict</th><th scope="col">the paper says</th><th scope="col">what we find</th>'
    return f"<thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody>"


def _values(line: Line) -> str:
    values = line.judgement.values
    if not values:
        return ""
    items = "".join(f"<li>{escape(value.name)}: {escape(words.ours(value))}</li>" for value in values)
    return f"<details><summary>our {len(values)} values</summary><ul>{items}</ul></details>"


def _marks(line: Line) -> str:
    """What a program reads: the line's id and verdict."""
    return f'data-id="{escape(line.id)}" data-verdict="{line.judgement.verdict}"'


def _badge(verdict: Verdict) -> str:
    return f'<span class="badge {_class(verdict)}">{words.verdict(verdict)}</span>'


def _class(verdict: Verdict) -> str:
    return verdict.replace(" ", "-")
