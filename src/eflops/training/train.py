"""One training job: all runs of a cell, block by block, each written as a run record.

Existing records with the same settings, data and code are kept, so adding seeds or variants trains only those.
"""

import resource
import time
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import numpy as np
from torch import Tensor

from eflops import code, trust
from eflops.config.settings import TrainingSettings
from eflops.data.federation import Federation, load
from eflops.data.job import Job, job_of, read_spec
from eflops.errors import UserError
from eflops.files import write_json
from eflops.results import record
from eflops.results.labels import Run
from eflops.training.methods.base import Method, Task
from eflops.training.methods.feedback import with_feedback
from eflops.training.methods.settings import RunSettings, batch_key
from eflops.training.models import build_model, model_facts
from eflops.training.rounds import Connect, Server, Transport
from eflops.training.training_log import EvaluationData, Progress, TrainingLog

# A record of more weights than this would be a file of megabytes; it has their hash alone.
MOST_WEIGHTS = 20_000

# Metrics of a curve that say nothing of the final model.
OF_ROUNDS = {"support_changed", "bytes_sent"}


def train(job: Job, report: Callable[[str], Progress]) -> int:
    """Train the runs whose records are missing or out of date; returns how many."""
    engine = trust.load("engine", job.spec.engine)
    hashes = code.training_hashes(job.spec.method, job.spec.model, job.spec.engine)
    due = list(runs_due(job, hashes))
    serve = getattr(engine, "Server", Server)
    if due:
        engine.run(job, lambda connect, largest: train_runs(job, due, hashes, connect, largest, report, serve))
    return len(due)


def train_cell(plan: Path, results: Path, block_size: int, manifest: Path, report: Callable[[str], Progress]) -> None:
    """Train the cell of a spec file and write its manifest: its records with their hashes."""
    spec = read_spec(plan)
    job = job_of(spec, results, block_size)
    # An edit between planning and the job would give records of code that the plan does not name.
    if code.combined(code.training_hashes(spec.method, spec.model, spec.engine)) != spec.code:
        raise UserError(
            f"{plan}: it was planned for code that differs from {Path(__file__).parents[1]}; run snakemake again."
        )
    trained = train(job, report)
    print(f"trained {trained} of {len(job.runs)} runs; delete the records of the others to retrain them")
    records = {run.path: record.read(job.folder / run.path).record_sha256 for run in job.runs}
    write_json(manifest, {"folder": job.folder.relative_to(results).as_posix(), "records": records})


def train_runs(
    job: Job,
    due: Sequence[Run],
    hashes: dict[str, str],
    connect: Connect,
    largest_block: int,
    report: Callable[[str], Progress],
    serve: type[Server] = Server,
) -> None:
    """Train runs in blocks that share their data and all settings that must be equal within a batch.

    serve: the server class; an engine may have its own.
    """
    settings = job.spec.variants
    # By draw, so that the data of a draw are loaded once and only those of one draw are in memory.
    for draw, runs in groupby(due, key=lambda run: run.draw):
        federation = load(job.data_folder(draw))
        used = federation.pooled() if job.spec.pooled else federation
        for block in _blocks(runs, lambda run: batch_key(settings[run.variant]), largest_block):
            task, evaluation = make_task(job.spec, [settings[run.variant] for run in block], used)
            progress = report(f"draw {draw}, {len(block)} runs from {block[0].variant}, seed {block[0].seed}")
            train_block(job, task, evaluation, block, hashes, connect(task, used, block[0]), progress, serve)


def _blocks(runs: Iterable[Run], key: Callable[[Run], Hashable], size: int) -> Iterator[list[Run]]:
    """Runs with the same key, at most `size` at a time."""
    groups: dict[Hashable, list[Run]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    for group in groups.values():
        yield from (group[start : start + size] for start in range(0, len(group), size))


def make_task(
    cell: record.Cell, settings: Sequence[TrainingSettings], federation: Federation
) -> tuple[Task, EvaluationData]:
    """The server's inputs: the task (model, target, runs' settings) and the evaluation data (test rows, truth)."""
    as_module = cell.engine == "reference"
    model = build_model(cell.model, federation.test, model_facts(cell, federation), cell.gated, as_module)
    task = Task(model, cell.kept_weights(model.gated, federation.meta.get("classes")), RunSettings(settings))
    test = model.rows(federation.test.x, federation.test.y)
    # The true support names features: a network's weights cannot be compared with it.
    truth = federation.truth.get("support") if model.gated == federation.test.x[0].size else None
    evaluation = EvaluationData(federation.counts, cell.client_fraction, test, truth)
    return task, evaluation


def make_method(cell: record.Cell, task: Task) -> Method:
    """The method that the config names, by module or by import path."""
    method: Method = with_feedback(trust.load("method", cell.method)(task, **cell.options), cell.name)
    return method


def train_block(
    job: Job,
    task: Task,
    evaluation: EvaluationData,
    runs: Sequence[Run],
    hashes: dict[str, str],
    transport: Transport,
    progress: Progress,
    serve: type[Server] = Server,
) -> None:
    """Train runs in one batch and write their records."""
    wall, cpu = time.perf_counter(), time.process_time()
    server = serve(task, evaluation, transport, job.spec.evaluate_every, progress)
    # A method object for each block, so that nothing that it stores reaches the runs of another.
    theta, log = server.run(make_method(job.spec, task), [run.seed for run in runs])
    log.faults.extend(transport.faults)
    spent = {
        "wall_seconds": round(time.perf_counter() - wall, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "evaluation_seconds": round(log.evaluation_seconds, 3),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "runs_in_batch": len(runs),
        "channel": dict(transport.channel),
        "bits": "every machine" if is_portable(job.spec) else "this kind of machine",
    }
    for row, run in enumerate(runs):
        identity, origin = job.spec.identity(run), job.origin(run, hashes)
        result = make_result(task, theta[row], log, row)
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


def is_portable(cell: record.Cell) -> bool:
    """Whether the bits are the same on every processor; they are not if torch does the arithmetic."""
    return ":" not in cell.method + cell.model and cell.engine != "reference"


def make_result(task: Task, theta: Tensor, log: TrainingLog, row: int) -> record.Result:
    """The result part of one run of a block; a run that diverged has no weights."""
    diverged = log.diverged.get(row)
    weights = theta[: task.size].numpy() * (diverged is None)
    kept, gated = weights != 0, task.gated
    stored = np.count_nonzero(kept) <= MOST_WEIGHTS
    # A diverged run stays in its batch as zeros; its curve ends before the round in which it diverged.
    shown = [round_ for _, round_ in log.marks if diverged is None or round_ < diverged]
    curve = {name: [record.finite_or_none(point[name][row].item()) for point in log.curve] for name in log.curve[0]}
    sparse, dense = task.model.macs(kept), task.model.macs(np.ones_like(kept))
    return record.Result(
        status="finished" if diverged is None else "diverged",
        diverged_round=diverged,
        metrics={} if diverged else final_metrics(curve, log.watched),
        curve=record.Curve(
            phase=[phase for phase, _ in log.marks][: len(shown)],
            round=shown,
            metrics={name: values[: len(shown)] for name, values in curve.items()},
        ),
        support=np.flatnonzero(kept[:gated]).tolist(),
        weights=_readable(weights[:gated][kept[:gated]]) if stored else [],
        ungated=_readable(weights[gated:]) if stored else [],
        weights_sha256=record.sha256_bytes(weights.astype("<f4").tobytes()),
        parameters=task.size,
        traffic={phase: {name: int(part[row]) for name, part in of.items()} for phase, of in log.traffic.items()},
        macs=sparse.operations,
        dense_macs=dense.operations,
        dead_units=sparse.dead_units,
        faults=log.faults,
    )


def _readable(weights: np.ndarray) -> list[float]:
    """The shortest decimals that represent these float32 values."""
    return [float(str(weight)) for weight in weights]


def final_metrics(curve: dict[str, list[float | None]], watched: Container[str]) -> dict[str, float]:
    """The last value of each metric; for a method's watched numbers, which finetuning lacks, the last existing one.

    The number of changed weights and the bytes sent describe rounds, not the final model, so they are left out.
    """
    ends = {
        name: next((value for value in reversed(values) if value is not None), None) if name in watched else values[-1]
        for name, values in curve.items()
    }
    return {name: value for name, value in ends.items() if value is not None and name not in OF_ROUNDS}


def runs_due(job: Job, hashes: dict[str, str]) -> Iterator[Run]:
    """The runs to train: those without an up-to-date record, ordered so that runs with the same data are together."""
    # A record counts by its content, not by its date: the same settings, data and code give the same bits.
    for run in sorted(job.runs, key=lambda run: (run.draw, run.variant, run.seed)):
        if not job.is_current(run, hashes):
            yield run
