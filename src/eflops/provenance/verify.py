"""Whether a number is reproduced: its runs are trained again in a temporary folder and compared.

Runs of portable methods must have identical bits. Other runs (torch's arithmetic) may round sums in another order on
another processor, and training amplifies that: a weight at the margin of the support may drop out, and the metrics move
slightly. For these runs each metric has a tolerance. Besides training, only this command imports torch.
"""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eflops.errors import UserError
from eflops.provenance.audit.records import changed_modules
from eflops.provenance.audit.results import whole
from eflops.provenance.data import OtherData, can_rebuild, data_folder, has_arrays
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
# For a metric of a custom method or data set: a share of its value.
RELATIVE = 0.01
# By how much of its value a metric of given weights may differ in torch's arithmetic.
ROUNDING = 1e-4

Outcome = Literal["identical", "within tolerance", "different", "not checked"]


@dataclass(frozen=True)
class Verified:
    """A run that was retrained or re-evaluated: the outcome, and the reason."""

    run: BehindRun
    outcome: Outcome
    why: str

    def __str__(self) -> str:
        return f"{self.outcome}: {self.run.path}: {self.why}"


def record_in(store: Store, file: Path) -> BehindRun | None:
    """The path below the results of the record in a file; None if the file is not a record."""
    parts = file.parts
    below = "/".join(parts[parts.index(RUNS) :]) if RUNS in parts else ""
    if not below.endswith(".json"):
        return None
    return BehindRun(below, store.record(below.removeprefix(f"{RUNS}/")), None)


def verify(
    store: Store, runs: Iterable[BehindRun], report: Callable[[Verified], None], weights: bool = False
) -> list[Verified]:
    """Retrain runs from their recorded settings and data, and report each when it is done.

    weights: evaluate the recorded weights instead of training.
    """
    done = []
    with tempfile.TemporaryDirectory(prefix="eflops-verify-") as temporary:
        for run in runs:
            verified = Verified(run, *_compared(store, run.record, Path(temporary), weights))
            report(verified)
            done.append(verified)
    return done


def _compared(store: Store, entry: Record, folder: Path, weights: bool) -> tuple[Outcome, str]:
    try:
        if weights:
            return compare_weights(store, entry, folder)
        return compare_records(entry, retrain(store, entry, folder))
    except OtherData as error:
        return "different", str(error).removesuffix(".")
    except UserError:
        raise
    except Exception as error:  # settings that its method does not have, for one
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return "different", f"it cannot be retrained from its settings ({reason})"


def retrain(store: Store, entry: Record, folder: Path) -> Record:
    """The new record of a run, retrained below `folder` on data that are rebuilt from their settings."""
    from eflops.data.job import Job
    from eflops.script import progress
    from eflops.training.train import train

    data = _data(store, entry, folder)
    target = folder / Path(record_path(entry)).parent.parent
    run = run_of(entry)
    train(Job(spec_of(entry), data, target, (run,)), progress)
    return record.read(target / run.path)


def _data(store: Store, entry: Record, folder: Path) -> Path:
    """The folder of the run's data: rebuilt, because stored arrays may be forged; stored where images are absent."""
    name = entry.origin.data
    stored = has_arrays(store, name) and not can_rebuild(store, name)
    return data_folder(store, name, entry.origin.data_sha256, folder, stored)


def compare_records(before: Record, again: Record) -> tuple[Outcome, str]:
    """The comparison of a retrained run with its record.

    The present code, not the record, decides whether other bits are allowed, because a record could be forged.
    """
    changed = changed_modules(before)
    note = f"; the code has changed since: {changed}" if changed else ""
    if before.result_sha256 == again.result_sha256:
        return "identical", f"the result has the same sha256 {again.result_sha256[:12]}{note}"
    worst = beyond_tolerance(before.result, again.result)
    if again.circumstances.bits == "every machine":
        what = worst or differing(before.result, again.result)
        return "different", f"its method has the same bits on every machine, but {what}{note}"
    if worst:
        return "different", f"{worst}{note}"
    return "within tolerance", f"other bits, but every metric within its tolerance{note}"


def differing(before: Result, again: Result) -> str:
    """The parts of two results that differ, in words."""
    one, other = before.model_dump(mode="json"), again.model_dump(mode="json")
    names = ", ".join(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    moved = len(set(before.support) ^ set(again.support))
    return f"these parts differ: {names}" + (f" ({moved} weights in one support only)" if moved else "")


def compare_weights(store: Store, entry: Record, folder: Path) -> tuple[Outcome, str]:
    """The comparison of a record's metrics with those of its weights on its data."""
    from torch import from_numpy

    from eflops.data.federation import load
    from eflops.training.train import is_portable, make_task

    result, origin = entry.result, entry.origin
    if result.status == "diverged" or not result.weights:
        return "not checked", "it stores no weights"
    federation = load(_data(store, entry, folder) / origin.data)
    spec = spec_of(entry)
    task, evaluation = make_task(spec, [spec.variants[entry.run.variant]], federation)
    if task.size != result.parameters:
        return "different", f"it states {result.parameters} parameters, but its model has {task.size}"
    measured = task.model.measure(from_numpy(whole(result))[None], evaluation.test)
    share = 0.0 if is_portable(origin.job) else ROUNDING
    for name, value in ((name, values[0].item()) for name, values in measured.items()):
        stated = result.metrics.get(name)
        if stated is None or abs(stated - value) > share * max(1.0, abs(value)):
            return "different", f"{name} is {stated}, and its weights give {value:.6g}"
    return "identical", f"its weights give its {', '.join(measured)}"


def beyond_tolerance(before: Result, again: Result) -> str:
    """What differs by more than its tolerance, in words; empty if nothing does."""
    if before.status != again.status:
        return f"it {before.status} before and {again.status} now"
    if set(before.metrics) != set(again.metrics):
        return f"it had the metrics {', '.join(before.metrics)} before and {', '.join(again.metrics)} now"
    words = []
    for name, value in before.metrics.items():
        allowed = TOLERANCES.get(name, RELATIVE * abs(value))
        if abs(again.metrics[name] - value) > allowed:
            words.append(f"{name} was {value:.6g} and is {again.metrics[name]:.6g} (tolerance {allowed:.3g})")
    return "; ".join(words)


def all_runs(store: Store) -> list[BehindRun]:
    """Every run of a results folder."""
    return [BehindRun(f"{RUNS}/{path}", store.record(path), None) for path in store.record_paths()]


def passed(explained: Explanation | None, verified: Iterable[Verified]) -> bool:
    """Whether every run was reproduced and the number follows from the records."""
    return (explained is None or explained.agrees) and all(each.outcome != "different" for each in verified)
