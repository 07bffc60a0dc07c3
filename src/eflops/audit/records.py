"""Records against their schema, their own hash, their place, the config and the data they name."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eflops.audit.findings import Finding
from eflops.code import combined
from eflops.config.models import Config, with_present_names
from eflops.config.plan import Plan, job_slice, plan_of
from eflops.data.federation import read_manifest
from eflops.errors import UserError
from eflops.explain.commands import record_path
from eflops.results import labels
from eflops.results.store import RUNS, Store
from eflops.training import record
from eflops.training.record import Record


def read_records(store: Store, paths: Iterable[str]) -> tuple[dict[str, Record], list[Finding]]:
    """The records that are sound in themselves, by their path below the runs, and what is wrong with the others."""
    sound, findings = {}, []
    for path in paths:
        try:
            sound[path] = store.record(path)
        except UserError as error:
            what = str(error).partition(f"{path}: ")[2] or str(error)
            findings.append(Finding("damaged", f"{RUNS}/{path}", what))
    return sound, findings


def check_places(records: Mapping[str, Record]) -> Iterator[Finding]:
    """Records that lie where another run's should, and those whose parts contradict each other."""
    for path, entry in records.items():
        if record_path(entry) != path:
            yield Finding("damaged", f"{RUNS}/{path}", f"it holds the record of {record_path(entry)}")
        if combined(entry.origin.code) != entry.origin.code_hash:
            yield Finding("damaged", f"{RUNS}/{path}", "its code hash is not that of the modules it lists")


def check_settings(records: Mapping[str, Record], config: Config, name: str) -> Iterator[Finding]:
    """Planned records of an experiment that were made with something else than the study's config says."""
    for path, expected in _planned(records, config, name):
        entry = records[path]
        settings = with_present_names(entry.origin.settings)
        found = {"run": entry.run.model_dump(mode="json"), "job": entry.origin.job, "settings": settings}
        for place, stated, right in differences(found, expected):
            if entry.schema_version == 1 and stated is None:
                continue  # the setting is younger than the record
            what = f"{place} is {stated!r}, and the config of {name} says {right!r}"
            yield Finding("different", f"{RUNS}/{path}", what)


def check_data(records: Mapping[str, Record], store: Store) -> Iterator[Finding]:
    """Records that were trained on other data than lie there now."""
    hashes: dict[str, str | None] = {}
    for path, entry in records.items():
        data = entry.origin.data
        if data not in hashes:
            hashes[data] = _data_hash(store, data)
        if hashes[data] is not None and hashes[data] != entry.origin.data_sha256:
            yield Finding("different", f"{RUNS}/{path}", f"it was trained on other data than data/{data} names")


def planned_paths(config: Config, name: str) -> list[str]:
    """Where the records of an experiment or search are to lie, below the runs."""
    plan = plan_of(config, name)
    return [
        f"{name}/{ratio}/{method}/{run.path}" for ratio in plan.ratios for method in plan.methods for run in plan.runs
    ]


def differences(found: Any, expected: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two JSON values differ: the place, what stands there and what was expected."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in sorted({*found, *expected}, key=str):
            yield from differences(found.get(key), expected.get(key), f"{place}.{key}" if place else str(key))
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for number, (one, other) in enumerate(zip(found, expected, strict=True), 1):
            yield from differences(one, other, f"{place}.{number}")
    elif found != expected:
        yield place, found, expected


def _planned(records: Mapping[str, Record], config: Config, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each planned record that is there, with what the config says of it."""
    if name not in config.experiments and name not in config.searches:
        return
    plan = plan_of(config, name)
    for ratio in plan.ratios:
        for method in plan.methods:
            paths = {run: f"{name}/{ratio}/{method}/{run.path}" for run in plan.runs}
            if not any(path in records for path in paths.values()):
                continue
            job = job_slice(config, name, ratio, method)
            settings = job.pop("variants")
            for run, path in paths.items():
                if path in records:
                    yield path, _expected(plan, ratio, method, run, job, settings)


def _expected(
    plan: Plan, ratio: str, method: str, run: labels.Run, job: dict[str, Any], settings: dict[str, Any]
) -> dict[str, Any]:
    identity = record.Identity(
        experiment=plan.name,
        dataset=plan.dataset,
        ratio=labels.ratio_value(ratio),
        method=method,
        variant=run.variant,
        draw=run.draw,
        seed=run.seed,
    )
    return {"run": identity.model_dump(mode="json"), "job": job, "settings": settings[run.variant]}


def _data_hash(store: Store, data: str) -> str | None:
    """The hash that a data draw's manifest states; None where there is no sound manifest, which is found elsewhere."""
    try:
        return str(read_manifest(store.folder / "data" / data)["sha256"])
    except UserError:
        return None
