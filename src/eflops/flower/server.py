"""The server of a federation: the rounds of one run over Flower's grid, written down as the same run record."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from logging import INFO
from pathlib import Path
from typing import Any

import numpy as np
from flwr.common.logger import log
from flwr.serverapp import Grid

from eflops import code
from eflops.data.federation import MANIFEST, Federation, load, read_manifest, save
from eflops.errors import UserError
from eflops.files import canonical_json, sha256_bytes
from eflops.flower.grid import GridTransport
from eflops.flower.journal import Journal
from eflops.flower.meeting import meet
from eflops.flower.plan import Plan, make_draw, plan
from eflops.flower.rows import own_rows
from eflops.flower.work import Agreement, Work, code_hashes, slice_of
from eflops.training import record
from eflops.training.engines import batched
from eflops.training.job import Job
from eflops.training.train import make_task, runs_due, train_block

POOLED = "is taken from pooled rows, which nobody has here; use a data set whose scaling is per_array"


@dataclass(frozen=True)
class View:
    """What the server knows of the data: test rows and truth, the folder of all data, and how many clients there are.

    counts: rows of each client, where a manifest says them. draw: the folder that simulated nodes read.
    """

    known: Federation
    data: Path
    clients: int
    counts: list[int] | None = None
    draw: str = ""
    agreement: Agreement | None = None


def serve(grid: Grid, values: Mapping[str, Any], bundle: Path) -> Path:
    """Train the run that the run config asks for; where its record is."""
    batched.prepare()
    asked = plan(values, bundle)
    view = look(asked)
    hashes = code_hashes(asked.job)
    job = Job(asked.job, view.data, asked.runs_folder, (asked.run,), 1)
    path = job.folder / asked.run.path
    if view.agreement is None and not list(runs_due(job, hashes)):
        log(INFO, "nothing to do, the record is there: %s", path)
        return path
    task, bench = make_task(job.slice, [job.settings(asked.run.variant)], view.known)
    work = Work(slice_of(job.slice, asked.run.variant), code.combined(hashes), task.size, view.draw, view.agreement)
    nodes = meet(grid, view.clients, work, asked.told.wait)
    if view.draw and not all(node.simulated for node in nodes.values()):
        raise UserError(
            "these nodes have rows of their own; say where the server's test rows are: --run-config 'data=...'"
        )
    counts = np.array([node.rows for node in nodes.values()], dtype=np.int64)
    if view.counts is not None and counts.tolist() != view.counts:
        raise UserError(f"the clients have {counts.tolist()} rows, but were dealt {view.counts}.")
    grid_transport = GridTransport(
        grid, {client: node.number for client, node in nodes.items()}, work, asked.told.patience(bool(view.draw))
    )
    journal = Journal(grid_transport, Path(asked.told.results) / "state" / _name(job, work, counts), task.size)
    train_block(job, task, replace(bench, counts=counts), [asked.run], hashes, journal, _report)
    if journal.recalled:
        log(INFO, "%s rounds were taken over from an earlier attempt", journal.recalled)
    journal.forget()
    log(INFO, "record: %s", path)
    log(INFO, "result: %s", record.read(path).result_sha256)
    return path


def look(asked: Plan) -> View:
    """The server's view of the data: a draw made here, a folder that was dealt to it, or a file of test rows."""
    if not asked.told.data:
        return _made(asked)
    place = Path(asked.told.data)
    if place.is_dir():
        manifest = read_manifest(place / "data" / asked.draw_name)
        counts = [manifest["arrays"][f"client{client:03d}_y"]["shape"][0] for client in manifest["clients"]]
        return View(load(place / "test"), place / "data", len(counts), counts)
    return _own(asked)


def _made(asked: Plan) -> View:
    """A draw, made in the results folder unless it is there."""
    folder = Path(asked.told.results, "data", asked.draw_name).resolve()
    if not (folder / MANIFEST).exists() or read_manifest(folder)["settings"] != asked.made_by:
        save(make_draw(asked), folder, asked.made_by)
    known = load(folder)
    return View(known, folder.parents[1], len(known.clients), draw=str(folder))


def _own(asked: Plan) -> View:
    """Test rows of the server's own: their columns are the genes that all must have, their classes all there are."""
    from eflops.data.matrix import read_matrix

    path, label = asked.told.data, asked.told.label
    if asked.data.get("scaling") != "per_array":
        raise UserError(f"the scaling {asked.data.get('scaling')!r} of {asked.job['dataset']} {POOLED}.")
    if not label:
        raise UserError(f'--run-config: data="{path}" needs label, the column that holds the classes.')
    matrix = read_matrix(str(Path(path).absolute()), "samples", [label])
    classes = asked.data["classes"] or sorted(set(matrix.columns[label]))
    agreed = Agreement(list(matrix.genes), list(classes), asked.data)
    own = own_rows(path, label, agreed)
    known = replace(own, clients=(), test=own.clients[0])
    folder = Path(asked.told.results, "data", asked.draw_name).resolve()
    save(known, folder, {**asked.data, "genes": agreed.genes, "class_names": agreed.classes})
    return View(known, folder.parents[1], int(asked.data["clients"]), agreement=agreed)


def _name(job: Job, work: Work, counts: np.ndarray) -> str:
    """The name of a run's state: another run config, other data or other code is another run."""
    (run,) = job.runs
    manifest = read_manifest(job.data_folder(run.draw))
    told = [work.slice, work.code, manifest["manifest_sha256"], counts.tolist(), run.path]
    return sha256_bytes(canonical_json(told).encode())[:16]


def _report(phase: str, round_: int, total: int, metric: float) -> None:
    log(INFO, "%s round %s/%s, mean %.3f", phase, round_, total, metric)
