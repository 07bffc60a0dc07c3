"""The records of one experiment or search: each against itself, the config, the data and the present code."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from eflops.audit.code import check_code
from eflops.audit.findings import Finding
from eflops.audit.outcomes import check_outcomes
from eflops.audit.records import check_data, check_places, check_settings, planned_paths, read_records
from eflops.audit.study import Code, code_of
from eflops.audit.weights import can_be_checked
from eflops.config.models import Config
from eflops.results.store import Store
from eflops.training.record import Record


@dataclass
class Examined:
    """What was found: whether every planned record is sound and in its place, and which can be computed again."""

    records: int
    whole: bool
    findings: list[Finding]
    code: Code = field(default_factory=Counter)
    weighted: list[str] = field(default_factory=list)


def examine(store: Store, config: Config, name: str, paths: Sequence[str]) -> tuple[Examined, dict[str, Record]]:
    """Check the records that lie at these paths below the runs; what was found, and the sound ones."""
    records, damaged = read_records(store, paths)
    misplaced = list(check_places(records))
    wrong = {finding.place.partition("/")[2] for finding in misplaced}
    planned = planned_paths(config, name) if name in config.experiments or name in config.searches else []
    findings = [
        *damaged,
        *misplaced,
        *check_outcomes(records),
        *check_settings(records, config, name),
        *check_data(records, store),
        *check_code(records),
    ]
    whole = bool(planned) and all(path in records and path not in wrong for path in planned)
    weighted = [path for path, entry in records.items() if can_be_checked(entry)]
    return Examined(len(records), whole, findings, code_of(e.origin.code for e in records.values()), weighted), records
