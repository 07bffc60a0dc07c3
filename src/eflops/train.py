"""One training job: all runs of a cell, block by block, each written as a run record.

Records that are already there and follow from the same settings, data and code are left as they are, so that more
seeds or variants of a cell train alone.
"""

import math
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from eflops import code, record
from eflops.config.cells import Run, data_label, ratio_value
from eflops.config.settings import TrainingSettings, settings_class
from eflops.data.federation import Federation, load, read_manifest
from eflops.engines.rounds import Bench, Connect, Progress, Server, Tally, Transport
from eflops.errors import UserError
from eflops.methods.base import Method, Task
from eflops.methods.settings import RunSettings, batch_key
from eflops.models import build_model


@dataclass(frozen=True)
class Job:
    """A cell to train: its slice of the config, where its data lie, and which records to make."""

    slice: dict[str, Any]
    data: Path
    folder: Path
    runs: tuple[Run, ...]
    block_size: int

    def settings(self, variant: str) -> TrainingSettings:
        """The settings of a variant."""
        return settings_class(self.slice["method"]).model_validate(self.slice["variants"][variant])

    def data_folder(self, draw: int) -> Path:
        """The folder of a data draw."""
        return self.data / self.slice["dataset"] / data_label(self.slice["ratio"], draw)


def train(job: Job, progress: Callable[[str], Progress]) -> int:
    """Train the runs whose records are missing or out of date; how many were trained."""
    engine = import_module(f"eflops.engines.{job.slice['engine']}")
    hashes = code.code_hashes(*code.training_roots(job.slice["method"], job.slice["model"], job.slice["engine"]))
    due = list(_due(job, hashes))
    if due:
        engine.run(job, lambda connect, largest_block: train_runs(job, due, hashes, connect, largest_block, progress))
    return len(due)


def train_runs(
    job: Job,
    due: Sequence[Run],
    hashes: dict[str, str],
    connect: Connect,
    largest_block: int,
    progress: Callable[[str], Progress],
) -> None:
    """Train runs in blocks that share their data and all settings in which runs of a batch may not differ."""
    settings = {variant: job.settings(variant) for variant in dict.fromkeys(run.variant for run in due)}
    for draw, runs in groupby(due, key=lambda run: run.draw):
        federation = load(job.data_folder(draw))
        used = federation.pooled() if job.slice["pooled"] else federation
        for block in _blocks(runs, lambda run: batch_key(settings[run.variant]), largest_block):
            task, bench = make_task(job.slice, [settings[run.variant] for run in block], used)
            report = progress(f"draw {draw}, {len(block)} runs from {block[0].variant}, seed {block[0].seed}")
            train_block(job, task, bench, block, hashes, connect(task, used, block[0]), report)


def _blocks(runs: Iterable[Run], key: Callable[[Run], Any], size: int) -> Iterator[list[Run]]:
    """Runs with the same key, at most `size` at a time."""
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    for group in groups.values():
        yield from (group[start : start + size] for start in range(0, len(group), size))


def make_task(
    slice_: dict[str, Any], settings: Sequence[TrainingSettings], federation: Federation
) -> tuple[Task, Bench]:
    """What the server works with: the model, the target and the runs' settings; the test rows and the truth."""
    model = build_model(slice_["model"], federation.test, federation.meta)
    task = Task(model, max(1, math.floor(slice_["density"] * model.size + 1e-9)), RunSettings(settings))
    test = model.rows(federation.test.x, federation.test.y)
    bench = Bench(federation.counts, slice_["client_fraction"], test, federation.truth.get("support"))
    return task, bench


def make_method(slice_: dict[str, Any], task: Task) -> Method:
    """The method that the config names, by module or by import path."""
    module, _, name = slice_["method"].partition(":")
    try:
        found = getattr(import_module(module if name else f"eflops.methods.{module}"), name or "Method")
    except (ImportError, AttributeError) as error:
        raise UserError(f"methods.{slice_['name']}.method: {slice_['method']} cannot be imported ({error}).") from None
    return found(task, **slice_["options"])


def train_block(
    job: Job,
    task: Task,
    bench: Bench,
    runs: Sequence[Run],
    hashes: dict[str, str],
    transport: Transport,
    progress: Progress,
) -> None:
    """Train runs side by side and write their records."""
    wall, cpu = time.perf_counter(), time.process_time()
    server = Server(task, bench, transport, job.slice["evaluate_every"], progress)
    theta, tally = server.run(make_method(job.slice, task), [run.seed for run in runs])
    tally.faults.extend(transport.faults)
    spent = {
        "wall_seconds": round(time.perf_counter() - wall, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "evaluation_seconds": round(tally.evaluation_seconds, 3),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "runs_in_batch": len(runs),
        "channel": dict(transport.channel),
    }
    for row, run in enumerate(runs):
        identity, origin = _identity(job, run), _origin(job, run, hashes)
        result = make_result(task, theta[row], tally, row)
        entry = record.Record(
            run=identity,
            origin=origin,
            result=result,
            result_sha256=record.result_hash(result),
            circumstances=record.Circumstances(
                commit=record.commit(),
                versions=record.versions(),
                machine=record.machine(),
                finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
                **spent,
            ),
        )
        record.write(job.folder / run.path, entry)


def make_result(task: Task, theta: Tensor, tally: Tally, row: int) -> record.Result:
    """The result part of one run of a block."""
    weights = theta[: task.size].numpy()
    kept = weights != 0
    diverged = tally.diverged.get(row)
    shown = [round_ for _, round_ in tally.marks if diverged is None or round_ < diverged]
    curve = {name: [record.finite_or_none(point[name][row].item()) for point in tally.curve] for name in tally.curve[0]}
    sparse, dense = task.model.macs(kept), task.model.macs(np.ones_like(kept))
    return record.Result(
        status="finished" if diverged is None else "diverged",
        diverged_round=diverged,
        metrics={} if diverged else {name: values[-1] for name, values in curve.items() if values[-1] is not None},
        curve=record.Curve(
            phase=[phase for phase, _ in tally.marks][: len(shown)],
            round=shown,
            metrics={name: values[: len(shown)] for name, values in curve.items()},
        ),
        support=np.flatnonzero(kept).tolist(),
        weights_sha256=record.sha256_bytes(weights.astype("<f4").tobytes()),
        parameters=task.size,
        traffic=tally.traffic,
        macs=sparse.operations,
        dense_macs=dense.operations,
        dead_units=sparse.dead_units,
        faults=tally.faults,
    )


def _due(job: Job, hashes: dict[str, str]) -> Iterator[Run]:
    """The runs to train: those without an up-to-date record, ordered so that runs with the same data are together."""
    for run in sorted(job.runs, key=lambda run: (run.draw, run.variant, run.seed)):
        if not _is_current(job.folder / run.path, record.key(_identity(job, run), _origin(job, run, hashes))):
            yield run


def _is_current(path: Path, key: str) -> bool:
    if not path.exists():
        return False
    try:
        old = record.read(path)
    except UserError:
        return False
    return record.key(old.run, old.origin) == key


def _identity(job: Job, run: Run) -> record.Identity:
    return record.Identity(
        experiment=job.slice["experiment"],
        dataset=job.slice["dataset"],
        ratio=ratio_value(job.slice["ratio"]),
        method=job.slice["name"],
        variant=run.variant,
        draw=run.draw,
        seed=run.seed,
    )


def _origin(job: Job, run: Run, hashes: dict[str, str]) -> record.Origin:
    folder = job.data_folder(run.draw)
    return record.Origin(
        settings=job.slice["variants"][run.variant],
        job={name: value for name, value in job.slice.items() if name != "variants"},
        data="/".join(folder.parts[-2:]),
        data_sha256=read_manifest(folder)["sha256"],
        code=hashes,
        code_hash=code.combined(hashes),
    )


def runs_of(paths: Iterable[str]) -> tuple[Run, ...]:
    """The runs whose records lie at these paths."""
    return tuple(Run.parse(path) for path in paths)
