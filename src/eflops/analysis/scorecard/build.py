"""The whole scorecard: all lines, their counts, and what they leave uncertain."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from eflops.analysis import claims
from eflops.analysis.scorecard import table1, table2, ttest
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.line import Line
from eflops.analysis.scorecard.verdict import RULE, Judgement, Verdict, unjudged
from eflops.errors import UserError

CLAIMS = "Claims"
SECTIONS = (table1.SECTION, table2.SECTION, ttest.SECTION, CLAIMS)


@dataclass(frozen=True)
class Scorecard:
    """All lines; `uncertainty` says what they cannot tell; `labels` are the columns' names in print."""

    lines: tuple[Line, ...]
    uncertainty: str
    labels: dict[str, str]

    def line(self, name: str) -> Line:
        """The line with this id."""
        return next(line for line in self.lines if line.id == name)

    def section(self, name: str) -> list[Line]:
        """The lines of a section, in the paper's order."""
        return [line for line in self.lines if line.section == name]

    @property
    def counts(self) -> dict[str, int]:
        """How many lines got each verdict."""
        return count(self.lines)

    @property
    def summary(self) -> str:
        """The scorecard in one sentence."""
        told = ", ".join(f"{number} {verdict}" for verdict, number in self.counts.items())
        numbers = sum(line.section != CLAIMS for line in self.lines)
        return f"Of {numbers} numbers and {len(self.lines) - numbers} claims: {told}."

    def as_json(self) -> dict[str, Any]:
        """The scorecard as JSON values."""
        return {
            "summary": self.summary,
            "counts": self.counts,
            "sections": {name: count(self.section(name)) for name in SECTIONS},
            "rule": {str(verdict): text for verdict, text in RULE.items()},
            "uncertainty": self.uncertainty,
            "labels": self.labels,
            "lines": [_line_json(line) for line in self.lines],
        }


def build(evidence: Evidence) -> Scorecard:
    """Judge every number and every claim of the paper."""
    lines = (*table1.lines(evidence), *table2.lines(evidence), *ttest.lines(evidence), *_claim_lines(evidence))
    methods = dict.fromkeys(
        [*evidence.paper.genes, *(method for row in evidence.paper.recovery.values() for method in row)]
    )
    labels = {method: evidence.label(method) for method in methods}
    labels[ttest.COLUMN] = " against ".join(map(evidence.label, ttest.COLUMN.split(" - ")))
    return Scorecard(lines, _uncertainty(evidence, lines), labels)


def count(lines: Iterable[Line]) -> dict[str, int]:
    """How many of the lines got each verdict, all four named."""
    found = Counter(line.judgement.verdict for line in lines)
    return {str(verdict): found[verdict] for verdict in Verdict}


def judge_claim(claim: str, evidence: Evidence) -> Judgement:
    """The judgement of a claim; not judged where something that it needs is missing."""
    try:
        return claims.judge(claim, evidence)
    except UserError as lack:
        return unjudged(str(lack))


def _claim_lines(evidence: Evidence) -> Iterator[Line]:
    for claim, text in evidence.paper.claims.items():
        yield Line(f"claim/{claim}", CLAIMS, claim, "", text, judge_claim(claim, evidence))


def _uncertainty(evidence: Evidence, lines: Iterable[Line]) -> str:
    """What one data draw in the paper means for Table 1, from the spread over draws here."""
    known = (
        "The paper's Table 1 is one fixed data draw, of which only its run seeds' spread is printed; our column is one "
        "other draw. "
    )
    cells = [line for line in lines if line.draw_sd is not None]
    if not cells:
        return known + "How far a draw moves a number is not known here: the experiment draws was not run."
    runs = evidence.found("draws")
    between = statistics.median(line.draw_sd for line in cells if line.draw_sd is not None)
    missed = [line for line in cells if abs(line.difference or 0.0) > (line.tolerance or 0.0)]
    near = sum(line.with_draws is not None and abs(line.with_draws) <= 2 for line in missed)
    return (
        f"{known}Over {runs['draw'].nunique()} draws of our own a cell's mean has a standard deviation of "
        f"{between:.3f} (median of {len(cells)} cells), so that two draws differ by {math.sqrt(2) * between:.3f} for "
        f"no other reason. Cells outside tolerance: {len(missed)}, of which within two spreads once draws are "
        f"counted: {near}."
    )


def _line_json(line: Line) -> dict[str, Any]:
    values = asdict(line)
    judgement = values.pop("judgement")
    return {**values, "verdict": str(judgement["verdict"]), "reason": judgement["reason"], "ours": judgement["values"]}
