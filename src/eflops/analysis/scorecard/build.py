"""The whole scorecard: all lines, their counts, and facts for the summary from the same runs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.products import load_object
from eflops.analysis.scorecard import claimed, words
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.line import Line
from eflops.analysis.scorecard.sections import SECTIONS, Section
from eflops.analysis.scorecard.table1 import by_chance
from eflops.analysis.scorecard.verdict import RULE, Verdict
from eflops.errors import UserError

WITHOUT_ENTROPY = "flops"
METRICS = {"support_recovery": "support recovery", "r2": "test R2"}
# Where the paper's numbers stand, the runs at searched settings, and those at nearest ones.
TABLES = {"Table 1": ("support_recovery", "nearest"), "Table 2": ("golub_splits", "golub_nearest")}
SETTING = "set_rate"


@dataclass(frozen=True)
class Scorecard:
    """All lines; `chance` says how many numbers would lie outside by it; `labels` are the columns' names in print.

    facts: what the closing summary tells besides.
    """

    lines: tuple[Line, ...]
    chance: str
    labels: dict[str, str]
    facts: dict[str, Any]

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
        return told([(section, count(self.section(section.name))) for section in SECTIONS])

    def as_json(self) -> dict[str, Any]:
        """The scorecard as JSON values."""
        return {
            "summary": self.summary,
            "counts": self.counts,
            "sections": {section.name: count(self.section(section.name)) for section in SECTIONS},
            "rule": {str(verdict): text for verdict, text in RULE.items()},
            "chance": self.chance,
            "labels": self.labels,
            "facts": self.facts,
            "lines": [_line_json(line) for line in self.lines],
        }


def build(evidence: Evidence) -> Scorecard:
    """Judge every number and every claim of the paper."""
    lines = tuple(line for section in SECTIONS for line in load_object(section.lines)(evidence))
    methods = dict.fromkeys([*evidence.paper.genes, *evidence.paper.recovery_methods])
    labels = {method: evidence.label(method) for method in methods}
    labels |= {f"{METHOD} - {other}": f"{evidence.label(METHOD)} - {evidence.label(other)}" for other in methods}
    return Scorecard(lines, by_chance(evidence), labels, facts(evidence))


def count(lines: Iterable[Line]) -> dict[str, int]:
    """How many of the lines got each verdict, all of them named."""
    found = Counter(line.judgement.verdict for line in lines)
    return {str(verdict): found[verdict] for verdict in Verdict}


def told(sections: Iterable[tuple[Section, dict[str, int]]]) -> str:
    """How many lines of each section got each verdict, in one sentence."""
    parts = [f"of {section.what.format(sum(counts.values()))} {words.counted(counts)}" for section, counts in sections]
    return f"O{'; '.join(parts)[1:]}."


def _line_json(line: Line) -> dict[str, Any]:
    values = asdict(line)
    judgement, short = values.pop("judgement"), values.pop("short")
    told = {"verdict": str(judgement["verdict"]), "reason": judgement["reason"], "ours": judgement["values"]}
    return {**values, **told, **({"short": short, "grounds": judgement["grounds"]} if short else {})}


def facts(evidence: Evidence) -> dict[str, Any]:
    """`entropy`: E-FLoPS minus T = 0 over draws, by metric; `nearest`: the weights' rate of each column, both ways."""
    return {"entropy": _entropy(evidence), "nearest": _nearest(evidence)}


def _entropy(evidence: Evidence) -> list[dict[str, Any]]:
    """The mean over N/d, paired over draws."""
    told = []
    for metric, name in METRICS.items():
        try:
            runs = evidence.runs("support_recovery", [METHOD, WITHOUT_ENTROPY], metric)
            found = claimed.better(runs, metric, WITHOUT_ENTROPY, 0.0, name)
        except UserError:
            continue
        low, high = found.interval
        told.append({"metric": name, "mean": found.mean, "low": low, "high": high, "draws": len(found.values)})
    return told


def _nearest(evidence: Evidence) -> list[dict[str, Any]]:
    return [
        {
            "table": table,
            "method": method,
            "searched": float(rates[0].loc[method]),
            "nearest": float(rates[1].loc[method]),
        }
        for table, experiments in TABLES.items()
        for rates in [[_rates(evidence.found(name)) for name in experiments]]
        for method in rates[1].index.intersection(rates[0].index)
    ]


def _rates(runs: pd.DataFrame) -> pd.Series:
    return runs.groupby("method")[SETTING].first() if SETTING in runs else pd.Series(dtype=float)
