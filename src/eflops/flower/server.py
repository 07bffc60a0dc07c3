"""The server side of the Flower app: the rounds of one run over Flower's grid, stored as an ordinary run record.

Server and nodes run the installed eflops. The app's bundle holds the config, and the user's methods and models, which a
simulation runs. The run config, which `flwr run` sends, defines the run; the location of a node's rows is in the node's
config, which stays there.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from logging import INFO
from pathlib import Path

import numpy as np
from flwr.app import Context
from flwr.common.config import get_project_dir
from flwr.common.logger import log
from flwr.serverapp import Grid, ServerApp

from eflops import code
from eflops.data.federation import MANIFEST, Federation, load, read_manifest, save
from eflops.data.job import Job
from eflops.data.matrix import read_matrix
from eflops.data.table_checks import refuse
from eflops.errors import UserError
from eflops.files import canonical_json, sha256_bytes
from eflops.flower.assignment import Agreement, Assignment, code_hashes
from eflops.flower.grid import FaultPolicy, GridTransport, meet
from eflops.flower.journal import Journal
from eflops.flower.plan import FlowerRun, make_draw, plan
from eflops.flower.rows import file_rows
from eflops.results import record
from eflops.training.engines import batched
from eflops.training.train import make_task, runs_due, train_block

app = ServerApp()


@app.main()
def _serve(grid: Grid, context: Context) -> None:
    try:
        serve(grid, context.run_config, get_project_dir(grid.run.fab_id, grid.run.fab_version, grid.run.fab_hash))
    except UserError:
        # Flower logs what its apps raise: of a user's mistake the sentence, without the traceback.
        sys.tracebacklimit = 0
        raise


@dataclass(frozen=True)
class View:
    """What the server knows about the data: test rows and truth, the folder of all data, and the number of clients.

    counts: rows of each client, if a manifest states them. draw: the folder that simulated nodes read.
    """

    known: Federation
    data: Path
    clients: int
    counts: list[int] | None = None
    draw: str = ""
    agreement: Agreement | None = None


def serve(grid: Grid, values: Mapping[str, object], bundle: Path) -> Path:
    """Train the run that the run config describes; returns the path of its record."""
    batched.prepare()
    flower_run = plan(values, bundle)
    view = look(flower_run)
    hashes = code_hashes(flower_run.spec.method, flower_run.spec.model)
    job = Job(flower_run.spec, view.data, flower_run.runs_folder, (flower_run.run,), 1)
    path = job.folder / flower_run.run.path
    # Where nodes bring their own files, the server cannot see whether these changed, so it trains.
    if view.agreement is None and not list(runs_due(job, hashes)):
        log(INFO, "nothing to do, the record exists: %s", path)
        return path
    task, evaluation = make_task(job.spec, [job.spec.variants[flower_run.run.variant]], view.known)
    assignment = Assignment(job.spec, code.combined(hashes), task.size, view.draw, view.agreement)
    nodes = meet(grid, view.clients, assignment, flower_run.run_config.wait)
    if view.draw and not all(node.simulated for node in nodes.values()):
        right = "name the server's test rows: --run-config 'data=...'"
        raise UserError(f"these nodes have their own rows; {right}")
    counts = [node.rows for node in nodes.values()]
    # The rows weigh the clients' answers, so rows other than those dealt would be another run under the same name.
    if view.counts is not None and counts != view.counts:
        raise UserError(f"the clients have {counts} rows, but eflops deploy gave them {view.counts}.")
    numbers = {client: node.number for client, node in nodes.items()}
    # To ask for answers costs more over a network.
    fault_policy = FaultPolicy(
        flower_run.run_config.faults,
        flower_run.run_config.timeout,
        flower_run.run_config.repeats,
        0.01 if view.draw else 0.2,
    )
    transport = GridTransport(grid, numbers, assignment, fault_policy)
    # Another run config, other data or other code is another run, with a state of its own.
    manifest = read_manifest(job.data_folder(flower_run.run.draw))["manifest_sha256"]
    name = sha256_bytes(
        canonical_json(
            [assignment.spec.model_dump(mode="json"), assignment.code, manifest, counts, flower_run.run.path]
        ).encode()
    )[:16]
    journal = Journal(transport, Path(flower_run.run_config.results) / "state" / name, task.size)
    # The server has no rows of the clients, so their numbers come from the nodes.
    train_block(job, task, replace(evaluation, counts=np.array(counts)), [flower_run.run], hashes, journal, _report)
    if journal.recalled:
        log(INFO, "resuming after %s rounds of an earlier attempt", journal.recalled)
    # Only now, after the record is written: until then an interrupted run must find its rounds.
    journal.forget()
    log(INFO, "record: %s", path)
    log(INFO, "result: %s", record.read(path).result_sha256)
    return path


def look(flower_run: FlowerRun) -> View:
    """The server's view of the data: a draw built here, a folder written by `eflops deploy`, or a file of test rows."""
    if not flower_run.run_config.data:
        return _made(flower_run)
    folder = Path(flower_run.run_config.data)
    if not folder.is_dir():
        return _read_test_rows(flower_run)
    manifest = read_manifest(folder / "data" / flower_run.draw_name)
    counts = [manifest["arrays"][f"client{client:03d}_y"]["shape"][0] for client in manifest["clients"]]
    return View(load(folder / "test"), folder / "data", len(counts), counts)


def _made(flower_run: FlowerRun) -> View:
    """The folder of a draw, built in the results folder unless it exists."""
    folder = flower_run.draw_folder
    if not (folder / MANIFEST).exists() or read_manifest(folder)["settings"] != flower_run.made_by:
        save(make_draw(flower_run), folder, flower_run.made_by)
    known = load(folder)
    return View(known, folder.parents[1], len(known.clients), draw=str(folder))


def _read_test_rows(flower_run: FlowerRun) -> View:
    """The server's test rows: their columns define the genes that all nodes must have."""
    path, label, scaling = flower_run.run_config.data, flower_run.run_config.label, flower_run.data.get("scaling")
    if scaling != "per_array":
        right = "use a data set whose scaling is per_array"
        pooled = f"needs pooled rows, which no party has here; {right}"
        raise UserError(f"the scaling {scaling!r} of {flower_run.spec.dataset} {pooled}.")
    if not label:
        raise UserError(f'--run-config: data="{path}" needs label, the column that holds the classes.')
    matrix = read_matrix(str(Path(path).absolute()), "samples", [label])
    refuse(matrix.faults)
    classes = flower_run.data["classes"] or sorted(set(matrix.columns[label]))
    agreed = Agreement(list(matrix.features), list(classes), flower_run.data)
    rows = file_rows(path, label, agreed)
    known = replace(rows, clients=(), test=rows.clients[0])
    save(known, flower_run.draw_folder, {**flower_run.data, "genes": agreed.genes, "class_names": agreed.classes})
    return View(known, flower_run.draw_folder.parents[1], int(flower_run.data["clients"]), agreement=agreed)


def _report(phase: str, round_: int, total: int, metric: float) -> None:
    log(INFO, "%s round %s/%s, mean %.3f", phase, round_, total, metric)
