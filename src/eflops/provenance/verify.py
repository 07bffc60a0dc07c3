"""Whether a number comes out again: runs behind it are trained again in a temporary folder and compared.

On another processor than ours sums may have been rounded in another order, which training then carries along: a weight
near the edge of the support may change sides, and the metrics move a little with it. So each metric has a tolerance.
Only this command loads torch, besides training.
"""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eflops.provenance.audit.records import changed_modules
from eflops.provenance.data import data_folder
from eflops.provenance.explain.explanation import BehindRun, Explanation
from eflops.provenance.explain.show import record_path, run_of, spec_of
from eflops.results import record
from eflops.results.record import Record, Result
from eflops.results.store import RUNS, Store

TOLERANCES = {
    "r2": 0.01,
    "mse": 0.05,
    "support_recovery": 0.041,
    "accuracy": 0.01,
    "cross_entropy": 0.05,
    "auc": 0.01,
}
# For a metric of a method or data set of one's own: a share of its value.
RELATIVE = 0.01

Outcome = Literal["identical", "within tolerance", "different"]


@dataclass(frozen=True)
class Verified:
    """A run trained again: how it compares, and why."""

    run: BehindRun
    outcome: Outcome
    why: str

    def __str__(self) -> str:
        return f"{self.outcome}: {self.run.path}: {self.why}"


def record_in(store: Store, file: Path) -> BehindRun | None:
    """The run whose record a file is, by its path below the results; None where it is something else."""
    parts = file.parts
    below = "/".join(parts[parts.index(RUNS) :]) if RUNS in parts else ""
    if not below.endswith(".json"):
        return None
    return BehindRun(below, store.record(below.removeprefix(f"{RUNS}/")), None)


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
    from eflops.data.job import Job
    from eflops.script import progress
    from eflops.training.train import train

    data = data_folder(store, entry.origin.data, entry.origin.data_sha256, folder)
    place = folder / Path(record_path(entry)).parent.parent
    run = run_of(entry)
    train(Job(spec_of(entry), data, place, (run,)), progress)
    return record.read(place / run.path)


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


def beyond(before: Result, again: Result) -> str:
    """In words, what differs by more than its tolerance; empty where nothing does."""
    if before.status != again.status:
        return f"it {before.status} then and {again.status} now"
    if set(before.metrics) != set(again.metrics):
        return f"it had the metrics {', '.join(before.metrics)} then and {', '.join(again.metrics)} now"
    told = []
    for name, value in before.metrics.items():
        allowed = TOLERANCES.get(name, RELATIVE * abs(value))
        if abs(again.metrics[name] - value) > allowed:
            told.append(f"{name} was {value:.6g} and is {again.metrics[name]:.6g} (tolerance {allowed:.3g})")
    return "; ".join(told)


def all_runs(store: Store) -> list[BehindRun]:
    """Every run of a results folder."""
    return [BehindRun(f"{RUNS}/{path}", store.record(path), None) for path in store.record_paths()]


def passed(explained: Explanation | None, verified: Iterable[Verified]) -> bool:
    """Whether every run came out again and the number follows from the records."""
    return (explained is None or explained.agrees) and all(each.outcome != "different" for each in verified)
