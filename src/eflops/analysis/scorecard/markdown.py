"""The scorecard for reading as text."""

from collections.abc import Iterable, Sequence

from eflops.analysis.scorecard import words
from eflops.analysis.scorecard.build import CLAIMS, SECTIONS, Scorecard, count
from eflops.analysis.scorecard.line import Line
from eflops.analysis.scorecard.verdict import RULE, Verdict


def markdown(card: Scorecard) -> str:
    """The whole scorecard, one table a section."""
    counts = [[name, *map(str, count(card.section(name)).values())] for name in SECTIONS]
    parts = [
        "# Scorecard: the paper against this run",
        f"**{card.summary}**",
        _table(["section", *Verdict], [*counts, ["all", *map(str, card.counts.values())]]),
        "## The rule",
        "\n".join(f"- *{verdict}*: {text}" for verdict, text in RULE.items()),
        "## What is uncertain",
        card.uncertainty,
    ]
    for name in SECTIONS:
        rows = [_claim(line) if name == CLAIMS else _number(line, card.labels) for line in card.section(name)]
        parts += [f"## {name}", _table(CLAIM_COLUMNS if name == CLAIMS else NUMBER_COLUMNS, rows)]
    return "\n\n".join(parts) + "\n"


NUMBER_COLUMNS = ["id", "what", "paper", "ours", "difference", "in spreads", "verdict", "reason"]
CLAIM_COLUMNS = ["id", "claim", "ours", "verdict", "reason"]


def _number(line: Line, labels: dict[str, str]) -> list[str]:
    judgement = line.judgement
    return [
        line.id,
        f"{labels.get(line.column, line.column)}, {line.text or line.row}",
        words.printed(line.paper),
        "; ".join(map(words.ours, judgement.values)) or words.ABSENT,
        words.signed(line.difference),
        words.spreads(line),
        words.verdict(judgement.verdict),
        judgement.reason,
    ]


def _claim(line: Line) -> list[str]:
    judgement = line.judgement
    values = "; ".join(f"{value.name} {words.ours(value)}" for value in judgement.values)
    return [line.id, line.text, values or words.ABSENT, words.verdict(judgement.verdict), judgement.reason]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
