"""Records against the present code: which were made by other modules than those of today."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from eflops.audit.findings import Finding
from eflops.code import code_hashes, training_roots
from eflops.results.store import RUNS
from eflops.training.record import Record


def check_code(records: Mapping[str, Record]) -> Iterator[Finding]:
    """One finding for the records of an experiment that differ from the present code in the same modules."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, entry in records.items():
        changed = changed_modules(entry)
        if changed:
            groups[entry.run.experiment, changed].append(path)
    for (experiment, changed), paths in groups.items():
        what = f"{len(paths)} records, such as {paths[0]}, were made by other code: {changed}"
        yield Finding("stale", f"{RUNS}/{experiment}", what)


def changed_modules(entry: Record) -> str:
    """In words, the modules that differ between a record and the present code; empty where none do."""
    job = entry.origin.job
    return describe_change(entry.origin.code, present(job["method"], job["model"], job["engine"]))


def describe_change(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """In words, which modules changed, came and went."""
    parts = {
        "changed": [name for name in before if name in now and before[name] != now[name]],
        "new": [name for name in now if name not in before],
        "gone": [name for name in before if name not in now],
    }
    return "; ".join(f"{', '.join(names)} {what}" for what, names in parts.items() if names)


@cache
def present(method: str, model: str, engine: str) -> dict[str, str]:
    """The present hashes of the modules that a training job can reach."""
    return code_hashes(*training_roots(method, model, engine))
