"""Making the scorecard: read what there is, judge it, write both forms."""

import json
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from eflops.analysis.paper import read_paper
from eflops.analysis.scorecard import words
from eflops.analysis.scorecard.build import Scorecard, build, count
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.line import Line
from eflops.analysis.scorecard.sections import CLAIMS, SECTIONS
from eflops.analysis.scorecard.verdict import RULE, Verdict
from eflops.analysis.source import Source
from eflops.analysis.text import ABSENT, markdown_table, signed
from eflops.errors import UserError
from eflops.files import write_text
from eflops.results.paths import EXPLORER

NUMBER_COLUMNS = ["id", "what", "paper", "ours", "difference", "verdict", "reason"]
CLAIM_COLUMNS = ["id", "claim", "ours", "verdict", "reason"]


def scorecard(results: Path, targets: Path, labels: dict[str, str], experiments: Iterable[str]) -> Scorecard:
    """The scorecard of a results folder, of which the named experiments count."""
    return build(Evidence(Source(results, labels), frozenset(experiments), read_paper(targets)))


def make(results: Path, targets: Path, labels: dict[str, str], experiments: Iterable[str], out: Iterable[Path]) -> None:
    """Judge, and write each of the files `out` by its ending."""
    card = scorecard(results, targets, labels, experiments)
    for path in out:
        write(card, path)


def write(card: Scorecard, path: Path) -> None:
    """Write the form that the file's ending names."""
    forms = {".md": markdown, ".json": _json}
    if path.suffix not in forms:
        raise UserError(f"{path}: a scorecard is written as {', '.join(forms)}.")
    write_text(path, forms[path.suffix](card))


def _json(card: Scorecard) -> str:
    """In the order in which a person would read it, so keys are not sorted."""
    return json.dumps(card.as_json(), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


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
        _opened(line.id),
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
    return [_opened(line.id), line.text, values or ABSENT, words.verdict(judgement.verdict), judgement.reason]


def _opened(name: str) -> str:
    """A line's id, as a link to its runs in the explorer that lies beside the scorecard."""
    return f"[{name}]({EXPLORER}#scorecard?line={quote(name)})"
