"""Whether a number comes out again: runs behind it are trained anew in a temporary folder and compared.

The only part of provenance that loads torch.
"""

import random
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eflops import record
from eflops.config.cells import ratio_value
from eflops.data import build
from eflops.data.federation import ARRAYS, read_manifest, save
from eflops.errors import UserError
from eflops.files import sha256
from eflops.provenance.again import job_of, record_path, run_of
from eflops.provenance.checks.code import changed_modules
from eflops.provenance.evidence import BehindRun, Evidence
from eflops.provenance.store import Store
from eflops.provenance.tolerance import beyond
from eflops.record import Record

Outcome = Literal["identical", "within tolerance", "different"]


@dataclass(frozen=True)
class Verified:
    """A run trained again: how it compares, and why."""

    run: BehindRun
    outcome: Outcome
    why: str

    def __str__(self) -> str:
        return f"{self.outcome}: {self.run.path}: {self.why}"


def sample(runs: Sequence[BehindRun], count: int | None, seed: int) -> list[BehindRun]:
    """So many of the runs, chosen by the seed, in their order; all where no count is given."""
    if count is None or count >= len(runs):
        return list(runs)
    chosen = set(random.Random(seed).sample(range(len(runs)), count))
    return [run for place, run in enumerate(runs) if place in chosen]


def verify(store: Store, runs: Iterable[BehindRun], report: Callable[[Verified], None]) -> list[Verified]:
    """Train runs again from their recorded settings and data, reporting each when it is done."""
    done = []
    with tempfile.TemporaryDirectory(prefix="eflops-verify-") as temporary:
        for run in runs:
            again = retrain(store, run.record, Path(temporary))
            verified = Verified(run, *compare(run.record, again))
            report(verified)
            done.append(verified)
    return done


def retrain(store: Store, entry: Record, folder: Path) -> Record:
    """The record of the same run, trained again below `folder`."""
    from eflops.progress import progress
    from eflops.train import Job, train

    data = data_folder(store, entry, folder)
    place = folder / Path(record_path(entry)).parent.parent
    run = run_of(entry)
    train(Job(job_of(entry), data, place, (run,), block_size=1), progress)
    return record.read(place / run.path)


def data_folder(store: Store, entry: Record, folder: Path) -> Path:
    """The folder of all data that holds the draw a run was trained on; made again where the arrays are not there."""
    name, expected = entry.origin.data, entry.origin.data_sha256
    stored = store.folder / "data" / name
    if (stored / ARRAYS).exists() and read_manifest(stored)["sha256"] == expected:
        return store.folder / "data"
    again = folder / "data"
    if not (again / name / ARRAYS).exists():
        settings = read_manifest(stored)["settings"]
        raw = Path("resources") / settings["source"] if settings.get("source") else None
        save(build(settings, ratio_value(settings["ratio"]), settings["draw"], raw), again / name, settings)
    if sha256(again / name / ARRAYS) != expected:
        raise UserError(
            f"data/{name}: made again it is not the data that the run was trained on; its code has changed."
        )
    return again


def compare(before: Record, again: Record) -> tuple[Outcome, str]:
    """How a run trained again compares with its record."""
    changed = changed_modules(before)
    note = f"; the code has changed since: {changed}" if changed else ""
    if before.result_sha256 == again.result_sha256:
        return "identical", f"the result has the same sha256 {again.result_sha256[:12]}{note}"
    worst = beyond(before.result, again.result)
    if worst:
        return "different", f"{worst}{note}"
    return "within tolerance", f"other bits, and every metric within its tolerance{note}"


def passed(evidence: Evidence, verified: Iterable[Verified]) -> bool:
    """Whether every run came out again and the number follows from the records."""
    return evidence.agrees and all(each.outcome != "different" for each in verified)
