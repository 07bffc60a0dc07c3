"""The whole scorecard: all judged lines, their counts, facts for the summary, and its JSON and Markdown forms."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast
from urllib.parse import quote

from eflops import trust
from eflops.analysis.paper import HARD_THRESHOLDING, METHOD, read_paper
from eflops.analysis.scorecard import claimed, table2
from eflops.analysis.scorecard.card import Card, EntropyEffect, LineJson, NearestRate, ScorecardFacts
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.line import MARKS, Line, both_written, count_verdicts, printed, written
from eflops.analysis.scorecard.sections import OF_CLAIMS, OWN, SECTIONS, section_of
from eflops.analysis.scorecard.table1 import by_chance
from eflops.analysis.scorecard.verdict import RULE, Verdict
from eflops.analysis.source import Source
from eflops.analysis.stats.trials import SETTING, TEMPERATURE, WITHOUT_ENTROPY
from eflops.analysis.text import ABSENT, markdown_table, signed
from eflops.errors import UserError
from eflops.files import write_text
from eflops.results.paths import EXPLORER

NUMBER_COLUMNS = ["id", "what", "paper", "ours", "difference", "verdict", "reason"]
CLAIM_COLUMNS = ["id", "claim", "ours", "verdict", "reason"]
METRICS = {"support_recovery": "support recovery", "r2": "test R2"}
RATE = "set_rate"


@dataclass(frozen=True)
class Scorecard:
    """All lines; `chance` states how many numbers would lie outside by chance; `labels` are the columns' headings.

    facts: further numbers for the closing summary.
    """

    lines: tuple[Line, ...]
    chance: str
    labels: dict[str, str]
    facts: ScorecardFacts

    def section(self, name: str) -> list[Line]:
        """The lines of a section, in the paper's order."""
        return [line for line in self.lines if section_of(line.id).name == name]

    @property
    def counts(self) -> dict[str, int]:
        """How many of the paper's lines got each verdict."""
        return _count([line for line in self.lines if section_of(line.id) != OWN])

    @property
    def sections(self) -> dict[str, dict[str, int]]:
        """How many lines of each section got each verdict."""
        user_sections = [OWN] if self.section(OWN.name) else []
        return {section.name: _count(self.section(section.name)) for section in (*SECTIONS, *user_sections)}

    @property
    def summary(self) -> str:
        """The scorecard, a sentence per section."""
        return count_verdicts(SECTIONS, self.sections)

    def as_json(self) -> Card:
        """The scorecard as JSON values, in reading order."""
        return {
            "summary": self.summary,
            "counts": self.counts,
            "sections": self.sections,
            "rule": {str(verdict): text for verdict, text in RULE.items()},
            "chance": self.chance,
            "labels": self.labels,
            "facts": self.facts,
            "lines": [_line_json(line) for line in self.lines],
        }


def build(evidence: Evidence) -> Scorecard:
    """Judge every number and every claim of the paper."""
    lines = tuple(line for section in (*SECTIONS, OWN) for line in trust.load("section", section.lines)(evidence))
    methods = dict.fromkeys([*evidence.paper.genes, *evidence.paper.recovery_methods])
    labels = {method: evidence.label(method) for method in (*methods, *HARD_THRESHOLDING)}
    labels |= {f"{METHOD} - {other}": f"{evidence.label(METHOD)} - {evidence.label(other)}" for other in methods}
    facts: ScorecardFacts = {
        "entropy": _entropy(evidence),
        "nearest": _nearest(evidence),
        "lists": table2.facts(evidence),
    }
    return Scorecard(lines, by_chance(evidence), labels, facts)


def scorecard(results: Path, targets: Path, labels: dict[str, str], experiments: Iterable[str]) -> Scorecard:
    """The scorecard of a results folder, from the named experiments only."""
    return build(Evidence(Source(results, labels), frozenset(experiments), read_paper(targets)))


def make(results: Path, targets: Path, labels: dict[str, str], experiments: Iterable[str], out: Iterable[Path]) -> None:
    """Build the scorecard and write each of the files `out` in the form that its suffix names."""
    card = scorecard(results, targets, labels, experiments)
    for path in out:
        write(card, path)


def write(card: Scorecard, path: Path) -> None:
    """Write the form that the file's suffix names."""
    if path.suffix == ".md":
        write_text(path, markdown(card))
    elif path.suffix == ".json":
        write_text(path, json.dumps(card.as_json(), indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    else:
        raise UserError(f"{path}: name a .md or a .json file for the scorecard.")


def markdown(card: Scorecard) -> str:
    """The whole scorecard, one table per section."""
    counts = [[name, *counts.values()] for name, counts in card.sections.items()]
    counts.insert(len(SECTIONS), ["all", *card.counts.values()])
    parts = [
        "# Scorecard: the paper against this run",
        f"**{card.summary}**",
        markdown_table(["section", *Verdict], counts),
        "## The rule",
        "\n".join(f"- *{verdict}*: {text}" for verdict, text in RULE.items()),
        card.chance,
    ]
    for section in (each for each in (*SECTIONS, OWN) if each.name in card.sections):
        lines, claims = card.section(section.name), section.name in OF_CLAIMS
        rows = [_claim(line) if claims else _number(line, card.labels) for line in lines]
        table = markdown_table(CLAIM_COLUMNS if claims else NUMBER_COLUMNS, rows)
        parts += [f"## {section.name}", section.caption, table]
    return "\n\n".join(parts) + "\n"


def _number(line: Line, labels: dict[str, str]) -> list[str]:
    what = f"{labels.get(line.column, line.column)}, {line.text or line.row}"
    ours = both_written(line.judgement.values) or ABSENT
    return [_id_link(line.id), what, printed(line.paper), ours, signed(line.difference), *_verdict_cells(line)]


def _claim(line: Line) -> list[str]:
    values = "; ".join(f"{value.name} {written(value)}" for value in line.judgement.values)
    return [_id_link(line.id), line.text, values or ABSENT, *_verdict_cells(line)]


def _verdict_cells(line: Line) -> list[str]:
    verdict = line.judgement.verdict
    return [f"{MARKS[verdict]} {verdict}", line.judgement.reason]


def _id_link(name: str) -> str:
    """A line's id, as a link to its runs in the explorer next to the scorecard."""
    return f"[{name}]({EXPLORER}#scorecard?line={quote(name)})"


def _count(lines: Iterable[Line]) -> dict[str, int]:
    """How many lines got each verdict, including verdicts with none."""
    counts = Counter(line.judgement.verdict for line in lines)
    return {str(verdict): counts[verdict] for verdict in Verdict}


def _line_json(line: Line) -> LineJson:
    values = {"id": line.id, "section": section_of(line.id).name, **asdict(line)}
    judgement, short = values.pop("judgement"), values.pop("short")
    verdict = {"verdict": str(judgement["verdict"]), "reason": judgement["reason"], "ours": judgement["values"]}
    return cast(LineJson, {**values, **verdict, **({"short": short, "grounds": judgement["grounds"]} if short else {})})


def _entropy(evidence: Evidence) -> list[EntropyEffect]:
    """E-FLoPS minus T = 0 by metric: the mean over N/d, paired over draws."""
    rows: list[EntropyEffect] = []
    for metric, name in METRICS.items():
        try:
            runs = evidence.runs("support_recovery", [METHOD, WITHOUT_ENTROPY], metric)
            comparison = claimed.better(runs, metric, WITHOUT_ENTROPY, 0.0, name)
        except UserError:
            continue
        low, high = comparison.interval
        mean, draws = comparison.mean, len(comparison.values)
        settings = runs.filter(regex=f"^{SETTING}").groupby(runs["method"]).first()
        differing = settings.columns[settings.nunique(dropna=False) > 1]
        alone = float(settings.loc[METHOD, TEMPERATURE]) if list(differing) == [TEMPERATURE] else None
        rows.append({"metric": name, "mean": mean, "low": low, "high": high, "draws": draws, "alone": alone})
    return rows


def _nearest(evidence: Evidence) -> list[NearestRate]:
    """The weight learning rate of each column of the paper's two tables: searched, and nearest the paper's numbers."""
    rows: list[NearestRate] = []
    for section in (section_of("table1"), section_of("table2")):
        runs = [evidence.all_runs(name) for name in section.experiments]
        if all(RATE in each for each in runs):
            searched, nearest = (each.groupby("method")[RATE].first().astype(float) for each in runs)
            rows += [
                {"table": section.name, "method": name, "searched": searched[name], "nearest": nearest[name]}
                for name in nearest.index.intersection(searched.index)
            ]
    return rows
