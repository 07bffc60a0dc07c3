"""The findings of an audit, one line each."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["damaged", "missing", "unexpected", "different", "stale"]
MEANINGS: dict[Kind, str] = {
    "damaged": "not what was written",
    "missing": "should be there",
    "unexpected": "nothing accounts for it",
    "different": "does not follow from the records",
    "stale": "made by other code than the present",
}


@dataclass(frozen=True)
class Finding:
    """A problem: its kind, its location, and a description."""

    kind: Kind
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.path}: {self.what}"


def counts_by_kind(findings: Iterable[Finding]) -> str:
    """The number of findings of each kind."""
    counts = Counter(finding.kind for finding in findings)
    return ", ".join(f"{counts[kind]} {kind} ({meaning})" for kind, meaning in MEANINGS.items() if counts[kind])
