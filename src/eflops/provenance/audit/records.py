"""Check the records of an experiment against schema, hash, path, config, data and code."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from eflops.code import combined, training_hashes
from eflops.config.models import Config
from eflops.config.plan import cell_specs, plan_of
from eflops.errors import UserError
from eflops.provenance.audit.results import COMPUTED, contradictions
from eflops.provenance.data import stored_manifest
from eflops.provenance.explain.show import record_path
from eflops.results.findings import Finding
from eflops.results.record import Record
from eflops.results.store import RUNS, Store

# How many records name each module with each hash.
Code = Counter[tuple[str, str]]


@dataclass
class Examined:
    """The records of an experiment: whether every planned one is valid and at its path.

    weighted: the data hash of each record that holds its weights; hashes: the hash of every valid record; both by
    path below runs.
    """

    records: int
    whole: bool
    findings: list[Finding]
    code: Code = field(default_factory=Counter)
    weighted: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def examine(store: Store, config: Config, name: str, paths: Sequence[str]) -> tuple[Examined, dict[str, Record]]:
    """Check the records at these paths below the runs; returns the outcome and the valid records."""
    records, damaged = read_records(store, paths)
    misplaced = list(check_paths(records))
    wrong = {finding.path.removeprefix(f"{RUNS}/") for finding in misplaced}
    planned = planned_paths(config, name) if name in config.experiments or name in config.searches else []
    findings = [
        *damaged,
        *misplaced,
        *check_outcomes(records, store),
        *check_settings(records, config, name),
        *check_data(records, store),
        *check_code(records),
    ]
    whole = bool(planned) and all(path in records and path not in wrong for path in planned)
    code = Counter(pair for entry in records.values() for pair in entry.origin.code.items())
    # Of these the metrics can be computed again, without training.
    weighted = {
        path: entry.origin.data
        for path, entry in records.items()
        if entry.result.weights and entry.result.status == "finished" and entry.origin.job.model in COMPUTED
    }
    hashes = {path: entry.record_sha256 for path, entry in records.items()}
    return Examined(len(records), whole, findings, code, weighted, hashes), records


def read_records(store: Store, paths: Iterable[str]) -> tuple[dict[str, Record], list[Finding]]:
    """The records with a valid schema and hash, by path below the runs, and findings on the others."""
    valid, findings = {}, []
    for path in paths:
        try:
            valid[path] = store.record(path)
        except UserError as error:
            what = str(error).partition(f"{path}: ")[2] or str(error)
            findings.append(Finding("damaged", f"{RUNS}/{path}", what))
    return valid, findings


def check_paths(records: Mapping[str, Record]) -> Iterator[Finding]:
    """Check that each record is at its run's path, and that its parts do not contradict each other."""
    for path, entry in records.items():
        if record_path(entry) != path:
            yield Finding("damaged", f"{RUNS}/{path}", f"it holds the record of {record_path(entry)}")
        if combined(entry.origin.code) != entry.origin.code_hash:
            yield Finding("damaged", f"{RUNS}/{path}", "its code hash is not that of the modules it lists")


def check_settings(records: Mapping[str, Record], config: Config, name: str) -> Iterator[Finding]:
    """Check that planned records of an experiment were made with the settings of the study's config."""
    for path, expected in _planned(records, config, name):
        entry = records[path]
        origin = entry.origin
        identity, job = entry.run.model_dump(mode="json"), origin.job.model_dump()
        stored = {"run": identity, "job": job, "settings": origin.settings}
        for key, stated, right in differences(stored, expected):
            what = f"{key} is {stated!r}, and the config of {name} says {right!r}"
            yield Finding("different", f"{RUNS}/{path}", what)


def check_data(records: Mapping[str, Record], store: Store) -> Iterator[Finding]:
    """Check that records were trained on the stored data."""
    manifests = _manifests(records, store)
    for path, entry in records.items():
        data = entry.origin.data
        if data in manifests and manifests[data]["sha256"] != entry.origin.data_sha256:
            yield Finding("different", f"{RUNS}/{path}", f"it was trained on other data than data/{data} names")


def planned_paths(config: Config, name: str) -> list[str]:
    """The planned paths of the records of an experiment or search, below the runs."""
    return [f"{name}/{path}" for path in plan_of(config, name).record_paths]


def differences(actual: object, expected: object, path: str = "") -> Iterator[tuple[str, object, object]]:
    """The differences of two JSON values: key, actual value, expected value."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        for key in sorted({*actual, *expected}, key=str):
            yield from differences(actual.get(key), expected.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        for number, (one, other) in enumerate(zip(actual, expected, strict=True), 1):
            yield from differences(one, other, f"{path}.{number}")
    elif actual != expected:
        yield path, actual, expected


def _planned(records: Mapping[str, Record], config: Config, name: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Each existing planned record, with its expected content from the config."""
    if name not in config.experiments and name not in config.searches:
        return
    for spec in cell_specs(config, name):
        for run in spec.runs:
            if (path := f"{spec.folder}/{run.path}") in records:
                identity, settings = spec.identity(run), spec.variants[run.variant]
                expected = {"run": identity.model_dump(mode="json"), "job": spec.cell.model_dump()}
                yield path, {**expected, "settings": settings.model_dump(mode="json")}


def check_code(records: Mapping[str, Record]) -> Iterator[Finding]:
    """One finding per set of changed modules, for the records of an experiment that differ from the present code."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, entry in records.items():
        changed = changed_modules(entry)
        if changed:
            groups[entry.run.experiment, changed].append(path)
    for (experiment, changed), paths in groups.items():
        what = f"{len(paths)} records, such as {paths[0]}, were made by other code: {changed}"
        yield Finding("stale", f"{RUNS}/{experiment}", what)


def changed_modules(entry: Record) -> str:
    """The modules that differ between a record and the present code, in words; empty if none do."""
    job = entry.origin.job
    return describe_change(entry.origin.code, training_hashes(job.method, job.model, job.engine))


def describe_change(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The modules that were changed, added or removed, in words."""
    parts = {
        "changed": [name for name in before if name in now and before[name] != now[name]],
        "new": [name for name in now if name not in before],
        "gone": [name for name in before if name not in now],
    }
    return "; ".join(f"{', '.join(names)} {what}" for what, names in parts.items() if names)


def check_outcomes(records: Mapping[str, Record], store: Store) -> Iterator[Finding]:
    """Check that each record's result is consistent, and that no two runs share weights."""
    clients = {data: len(manifest["clients"]) or None for data, manifest in _manifests(records, store).items()}
    for path, entry in records.items():
        try:
            wrong = list(contradictions(entry, clients.get(entry.origin.data)))
        except Exception as error:  # nothing that a record states may stop the audit
            wrong = [f"its result cannot be read ({type(error).__name__}: {error})"]
        yield from (Finding("different", f"{RUNS}/{path}", what) for what in wrong)
    yield from _shared_weights(records)


def _shared_weights(records: Mapping[str, Record]) -> Iterator[Finding]:
    """Find runs of one cell and variant with equal weights under different draws or seeds: one is a copy."""
    first: dict[tuple[str, str, str], str] = {}
    for path, entry in records.items():
        result, settings = entry.result, entry.origin.settings
        # Without randomness (all weights 0 at first) seeds may well agree.
        if result.status == "finished" and result.support and settings.get("initial") == "uniform":
            key = entry.origin.job.folder, entry.run.variant, result.weights_sha256
            other = first.setdefault(key, path)
            if other != path:
                yield Finding("different", f"{RUNS}/{path}", f"it has the same weights as {other}")


def _manifests(records: Mapping[str, Record], store: Store) -> dict[str, dict[str, Any]]:
    """The valid manifests of the data of these records; another check reports invalid ones."""
    manifests = {}
    for data in {entry.origin.data for entry in records.values()}:
        with suppress(UserError):
            manifests[data] = stored_manifest(store, data)
    return manifests
