"""The scorecard for reading as text."""

from eflops.analysis.scorecard import words
from eflops.analysis.scorecard.build import Scorecard, count
from eflops.analysis.scorecard.line import Line
from eflops.analysis.scorecard.sections import CLAIMS, SECTIONS
from eflops.analysis.scorecard.verdict import RULE, Verdict
from eflops.analysis.text import ABSENT, markdown_table, signed

NUMBER_COLUMNS = ["id", "what", "paper", "ours", "difference", "verdict", "reason"]
CLAIM_COLUMNS = ["id", "claim", "ours", "verdict", "reason"]


def markdown(card: Scorecard) -> str:
    """The whole scorecard, one table per section."""
    counts = [[section.name, *count(card.section(section.name)).values()] for section in SECTIONS]
    parts = [
        "# Scorecard: the paper against this run",
        f"**{card.summary}**",
        markdown_table(["section", *Verdict], [*counts, ["all", *card.counts.values()]]),
        "## The rule",
        "\n".join(f"- *{verdict}*: {text}" for verdict, text in RULE.items()),
        card.chance,
    ]
    for section in SECTIONS:
        name, lines = section.name, card.section(section.name)
        rows = [_claim(line) if name == CLAIMS else _number(line, card.labels) for line in lines]
        parts += [
            f"## {name}",
            section.caption,
            markdown_table(CLAIM_COLUMNS if name == CLAIMS else NUMBER_COLUMNS, rows),
        ]
    return "\n\n".join(parts) + "\n"


def _number(line: Line, labels: dict[str, str]) -> list[str]:
    judgement = line.judgement
    return [
        line.id,
        f"{labels.get(line.column, line.column)}, {line.text or line.row}",
        words.printed(line.paper),
        "; ".join(map(words.ours, judgement.values)) or ABSENT,
        signed(line.difference),
        words.verdict(judgement.verdict),
        judgement.reason,
    ]


def _claim(line: Line) -> list[str]:
    judgement = line.judgement
    values = "; ".join(f"{value.name} {words.ours(value)}" for value in judgement.values)
    return [line.id, line.text, values or ABSENT, words.verdict(judgement.verdict), judgement.reason]
