"""A run record as readable text: its identity, result and origin, and the command that repeats it."""

import shlex
from collections.abc import Iterable, Mapping

from eflops.analysis.text import readable
from eflops.config.cell import CellSpec
from eflops.results.labels import RUNS, Run
from eflops.results.record import Record

INDENT = "  "
RESULTS = "results"


def run_of(record: Record) -> Run:
    """The run within its cell."""
    return Run(record.run.variant, record.run.draw, record.run.seed)


def spec_of(record: Record) -> CellSpec:
    """The spec of a job that trains only this run."""
    settings = {record.run.variant: record.origin.settings}
    return CellSpec.model_validate(
        {**record.origin.job.model_dump(), "variants": settings, "draws": [record.run.draw], "seeds": [record.run.seed]}
    )


def record_path(record: Record) -> str:
    """The path of the record below the runs folder."""
    return f"{record.origin.job.folder}/{run_of(record).path}"


def verify_command(results: str, *words: str) -> str:
    """The command that retrains the runs behind a number, or one run, and compares."""
    file, *rest = words
    return shlex.join(["eflops", "verify", f"{results}/{file}", *rest])


def describe(record: Record, results: str = RESULTS) -> str:
    """The whole record as text; the curve is shown by its first and last points.

    results: its results folder, for the command that repeats it.
    """
    parts = [
        [title(record)],
        _section("Result", _result(record)),
        _section("Settings", record.origin.settings),
        _section("Origin", _origin(record)),
        _section("Circumstances", _circumstances(record)),
        ["Reproduce it", INDENT + verify_command(results, f"{RUNS}/{record_path(record)}")],
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def title(record: Record) -> str:
    """One line that names the run and how it ended."""
    run, result = record.run, record.result
    ratio = "" if run.ratio is None else f" at N/d = {run.ratio:g}"
    variant = "" if run.variant == "base" else f", {run.variant}"
    ended = result.status if result.diverged_round is None else f"{result.status} in round {result.diverged_round}"
    return f"{run.experiment}: {run.method} on {run.dataset}{ratio}{variant}, draw {run.draw}, seed {run.seed}: {ended}"


def aligned(pairs: Mapping[str, object]) -> list[str]:
    """Names and values in two columns."""
    width = max(map(len, pairs), default=0)
    return [f"{INDENT}{name:<{width}}  {readable(value)}" for name, value in pairs.items()]


def _section(name: str, pairs: Mapping[str, object]) -> list[str]:
    return [name, *aligned(pairs)]


def _result(record: Record) -> dict[str, object]:
    result = record.result
    shown: dict[str, object] = dict(result.metrics)
    for metric, values in result.curve.metrics.items():
        shown[f"{metric} by round"] = _ends(zip(result.curve.round, values, strict=True))
    shown["kept weights"] = f"{len(result.support):,} of {result.parameters:,}"
    for phase, count in result.traffic.items():
        shown[f"traffic in {phase}"] = ", ".join(f"{name} {readable(value)}" for name, value in count.items())
    operations = f"{sum(result.macs.values()):,} of {sum(result.dense_macs.values()):,}"
    shown["operations"] = operations if result.dense_macs else "unknown"
    shown |= {f"dead units in {layer}": count for layer, count in result.dead_units.items()}
    shown |= {f"fault {index}": fault for index, fault in enumerate(result.faults, 1)}
    return {**shown, "weights sha256": result.weights_sha256, "result sha256": record.result_sha256}


def _ends(points: Iterable[tuple[int, float | None]]) -> str:
    """The first and last points of a curve."""
    shown = [f"{round_}: {readable(value)}" for round_, value in points]
    return ", ".join(shown if len(shown) <= 4 else [*shown[:2], "...", *shown[-2:]])


def _origin(record: Record) -> dict[str, object]:
    origin = record.origin
    inherited = {"experiment", "dataset", "name", "ratio"}
    return {
        "data": origin.data,
        "data sha256": origin.data_sha256,
        "code": f"{origin.code_hash} ({len(origin.code)} modules)",
        "commit": record.circumstances.commit,
        **{key: value for key, value in origin.job.model_dump(exclude_none=True).items() if key not in inherited},
    }


def _circumstances(record: Record) -> dict[str, object]:
    spent = record.circumstances
    return {
        "finished": spent.finished_at,
        "machine": ", ".join(f"{name} {value}" for name, value in spent.machine.items()),
        "versions": ", ".join(f"{name} {value}" for name, value in spent.versions.items()),
        "wall seconds": f"{spent.wall_seconds:g} for {spent.runs_in_batch} runs side by side",
        "CPU seconds": f"{spent.cpu_seconds:g}, of which {spent.evaluation_seconds:g} to evaluate",
        "peak memory": f"{spent.peak_memory_mb:g} MB",
    }
