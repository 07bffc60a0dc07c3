"""The files of training jobs besides records: the spec of each job, and the manifest of its records."""

import json
from collections.abc import Iterator, Mapping

from eflops.config.jobs import TrainingJob, training_jobs
from eflops.config.models import Config
from eflops.errors import UserError
from eflops.provenance.audit.records import differences
from eflops.results.findings import Finding
from eflops.results.paths import SPEC
from eflops.results.store import RUNS, Store

# The code may be other than the present; the records say so.
BESIDES = "code"


def check_jobs(store: Store, config: Config, hashes: Mapping[str, str]) -> Iterator[Finding]:
    """Specs against the config, and manifests of cells against the records.

    hashes: the hash of every valid record, by its path below the runs.
    """
    present = set(store.files())
    for job, _ in training_jobs(config):
        spec = SPEC.format(job=job.job)
        if spec in present:
            yield from _check_spec(store, spec, job)
        if job.cell in present:
            yield from _check_cell(store, job, hashes)


def _check_spec(store: Store, path: str, job: TrainingJob) -> Iterator[Finding]:
    try:
        stated = json.loads(store.text(path))
    except (UserError, ValueError) as error:
        yield Finding("damaged", path, f"this is not the spec of a job ({error})")
        return
    for key, was, right in differences(stated, json.loads(job.text)):
        if key != BESIDES:
            yield Finding("different", path, f"{key} is {was!r}, and the config says {right!r}")


def _check_cell(store: Store, job: TrainingJob, hashes: Mapping[str, str]) -> Iterator[Finding]:
    try:
        listed = dict(json.loads(store.text(job.cell))["records"])
    except (UserError, ValueError, KeyError, TypeError) as error:
        yield Finding("damaged", job.cell, f"this is not a manifest of records ({type(error).__name__}: {error})")
        return
    folder = job.runs.removeprefix(f"{RUNS}/")
    for path, stated in listed.items():
        there = hashes.get(f"{folder}/{path}")
        if there is not None and there != stated:  # one that is missing or damaged is reported with the records
            yield Finding(
                "different", job.cell, f"{path} has the hash {there[:12]}, but the manifest has {str(stated)[:12]}"
            )
