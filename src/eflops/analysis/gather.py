"""Records to tidy tables: one row per run, one row per evaluated round of a run, and the weights that each run kept.

Only records that match their plan are gathered: settings, data, code, and the bytes that the training job wrote.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from eflops.analysis.text import Scalar
from eflops.config.cell import CellSpec
from eflops.data.job import job_of, read_spec
from eflops.errors import UserError
from eflops.files import read_json, write_text
from eflops.results import record

Entries = Sequence[tuple[str, record.Record]]


def gather_cells(
    specs: Iterable[str], cells: Iterable[str], results: str, runs: str, curves: str, supports: str
) -> None:
    """Gather the records of an experiment's cells, each checked against its spec, into three tables.

    Args:
        specs: the spec files of the experiment's training jobs, in the order of its tables.
        cells: the manifests that these jobs wrote.
        results: the results folder.
        runs, curves, supports: the files to write.
    """
    parts = [read_spec(Path(spec)) for spec in specs]
    entries = {
        path: entry
        for spec, cell in zip(parts, cells, strict=True)
        for path, entry in checked(spec, cell, Path(results))
    }
    write([(path, entries[path]) for path in _in_order(parts)], Path(runs), Path(curves), Path(supports))


def checked(spec: CellSpec, cell: str, results: Path) -> Iterator[tuple[str, record.Record]]:
    """The records of a cell, by their paths below the experiment's folder; one that differs from the plan is
    rejected."""
    job = job_of(spec, results)
    manifest = read_json(Path(cell))["records"]
    for run in job.runs:
        path = job.folder / run.path
        if not path.exists():
            raise UserError(f"{path}: this record is missing; rebuild it with: snakemake --cores 2 all")
        entry = _read(path)
        # A record may be valid by its own hash and still not be the one that the job wrote.
        if manifest.get(run.path) != entry.record_sha256:
            raise UserError(f"{path}: this is not the record that training wrote; {_mend(path)}")
        # Settings, data and code by content: files may be copied between folders and have any date.
        if record.key(entry.run, entry.origin) != record.key(job.spec.identity(run), job.origin(run)):
            raise UserError(f"{path}: {origin_change(entry, job.origin(run))}; {_mend(path)}")
        yield f"{job.spec.ratio}/{job.spec.name}/{run.path}", entry


def write(entries: Entries, runs: Path, curves: Path, supports: Path) -> None:
    """Write the three tables of these records."""
    for path, table in ((runs, runs_table), (curves, curves_table), (supports, supports_table)):
        write_text(path, table(entries).to_csv(index=False))


def run_row(path: str, entry: record.Record) -> dict[str, Scalar]:
    """One row per run: identity, status, final metrics, traffic, operations and settings."""
    result, traffic = entry.result, entry.result.traffic
    return {
        **entry.run.model_dump(),
        "status": result.status,
        **result.metrics,
        "parameters": result.parameters,
        "kept": len(result.support),
        **{f"{name}_{phase}": count for phase, counts in traffic.items() for name, count in counts.items()},
        # A model of the user's own may have operations that nobody can count.
        "macs": sum(result.macs.values()) if result.macs else None,
        "dense_macs": sum(result.dense_macs.values()) if result.dense_macs else None,
        **{f"set_{name}": value for name, value in entry.origin.settings.items()},
        "cpu_seconds": entry.circumstances.cpu_seconds / entry.circumstances.runs_in_batch,
        "evaluation_seconds": entry.circumstances.evaluation_seconds / entry.circumstances.runs_in_batch,
        "record": path,
        "result_sha256": entry.result_sha256,
    }


def runs_table(entries: Entries) -> pd.DataFrame:
    """One row per run."""
    return pd.DataFrame(run_row(path, entry) for path, entry in entries)


def curves_table(entries: Entries) -> pd.DataFrame:
    """One row per run and evaluated round; a cell is empty if the metric was not evaluated."""
    names = dict.fromkeys(name for _, entry in entries for name in entry.result.curve.metrics)
    columns: dict[str, list[Scalar]] = {name: [] for name in ("record", "phase", "round", *names)}
    for path, entry in entries:
        curve, points = entry.result.curve, len(entry.result.curve.round)
        for name, values in (("record", [path] * points), ("phase", curve.phase), ("round", curve.round)):
            columns[name] += values
        for name in names:
            columns[name] += curve.metrics.get(name, [None] * points)
    return pd.DataFrame(columns)


def supports_table(entries: Entries) -> pd.DataFrame:
    """One row per run: the kept weights' indices and values, separated by spaces."""
    rows = [(path, _spaced(entry.result.support), _spaced(entry.result.weights)) for path, entry in entries]
    return pd.DataFrame(rows, columns=["record", "support", "weights"])


def _spaced(values: Iterable[float]) -> str:
    return " ".join(map(str, values))


def _in_order(parts: Iterable[CellSpec]) -> Iterator[str]:
    """The paths of all planned records: by cell, variant, draw and seed, however cells were split into jobs."""
    cells: dict[str, CellSpec] = {}
    for part in parts:
        seeds = cells[part.folder].seeds if part.folder in cells else ()
        # However seeds are split into jobs, the tables have the same rows in the same order, and so the same bytes.
        cells[part.folder] = part.model_copy(update={"seeds": (*seeds, *part.seeds)})
    for cell in cells.values():
        yield from (f"{cell.ratio}/{cell.name}/{run.path}" for run in cell.runs)


def _read(path: Path) -> record.Record:
    try:
        return record.read(path)
    except UserError as error:
        raise UserError(f"{error} {_mend(path).capitalize()}") from None


def _mend(path: Path) -> str:
    return f"retrain the run with: rm {shlex.quote(str(path))} && snakemake --cores 2 all"


def origin_change(entry: record.Record, planned: record.Origin) -> str:
    """How a record's origin differs from its plan, in words."""
    had, wanted = ({**each.job.model_dump(), **each.settings} for each in (entry.origin, planned))
    changed = [
        f"{name} was {had.get(name)!r} and is {wanted.get(name)!r}"
        for name in sorted({*had, *wanted})
        if had.get(name) != wanted.get(name)
    ]
    if entry.origin.data_sha256 != planned.data_sha256:
        changed.append("its data differ")
    if entry.origin.code_hash != planned.code_hash:
        changed.append("its code differs")
    return f"this record has another origin ({'; '.join(changed) or 'it is another run'})"
