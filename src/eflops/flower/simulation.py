"""Flower's simulation as an engine: clients are ClientApps in processes of Ray, the server is in this process."""

import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from eflops import code, trust
from eflops.data.federation import Federation, read_manifest
from eflops.data.job import Job
from eflops.errors import UserError
from eflops.flower.assignment import Assignment, code_hashes
from eflops.flower.client import app as client_app
from eflops.flower.grid import FaultPolicy, GridTransport, meet
from eflops.results.labels import Run
from eflops.training.engines import batched
from eflops.training.methods.base import Task
from eflops.training.rounds import Connect

PROCESSES = 2
# The path of a Unix socket may have 107 bytes, and Ray appends long names of its own.
LONGEST_FOLDER = 30
GRACE_SECONDS = 10.0


def run(job: Job, work: Callable[[Connect, int], None]) -> None:
    """Call `work` inside a simulation of the job's clients; runs are trained one at a time, as on a real federation."""
    # Flower's processes find what this one can import, so a module of the user's must be found before they start.
    trust.load("method", job.spec.method)
    trust.load("model", job.spec.model)
    manifest = read_manifest(job.data_folder(job.runs[0].draw))
    clients = 1 if job.spec.pooled else len(manifest["clients"])
    simulate(clients, lambda grid, nodes: work(connector(job, grid, nodes, FaultPolicy()), 1))


def stop_superlink() -> int:
    """Stop local SuperLinks that `flwr run .` started for this user, with all their processes; returns how many.

    Flower detaches its SuperLink from the terminal, so it outlives an interrupted run.
    """
    user = psutil.Process().username()
    superlinks = [
        process
        for process in psutil.process_iter(["username", "cmdline"])
        if process.info["username"] == user and _is_local_superlink(process.info["cmdline"] or [])
    ]
    # Listed before anything ends: the children of a process that is gone can no longer be found.
    processes = [each for superlink in superlinks for each in (superlink, *superlink.children(recursive=True))]
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, alive = psutil.wait_procs(processes, timeout=GRACE_SECONDS)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    return len(processes)


def _is_local_superlink(command: list[str]) -> bool:
    """Whether a command line is the SuperLink of a local simulation, as `flwr run .` starts it."""
    return any(Path(part).name == "flower-superlink" for part in command) and "--simulation" in command


def connector(job: Job, grid: Grid, nodes: Mapping[int, int], fault_policy: FaultPolicy) -> Connect:
    """The transport to simulated clients, which read the draw's folder themselves."""
    hashed = code.combined(code_hashes(job.spec.method, job.spec.model))

    def connect(task: Task, federation: Federation, run: Run) -> GridTransport:
        folder = str(job.data_folder(run.draw).resolve())
        return GridTransport(
            grid, nodes, Assignment(job.spec.alone(run.variant), hashed, task.size, folder), fault_policy
        )

    return connect


def simulate(clients: int, work: Callable[[Grid, dict[int, int]], None]) -> None:
    """Call `work` with the grid of a simulation and the node of each client, inside Flower's ServerApp."""
    if find_spec("ray") is None:
        raise UserError("engine: flower needs Ray; install it with: pip install 'eflops[simulation]'")
    from flwr.simulation import run_simulation

    # Flower runs the server in a thread of its own, which is to trust what this one does.
    server, context_here = ServerApp(), copy_context()

    @server.main()
    def main(grid: Grid, context: Context) -> None:
        batched.prepare()
        met = meet(grid, clients, None, FaultPolicy().seconds)
        context_here.run(work, grid, {client: node.number for client, node in met.items()})

    logging.getLogger("flwr").setLevel(logging.ERROR)
    # The names of Ray's sockets have room for a short folder only.
    usual = tempfile.gettempdir()
    with tempfile.TemporaryDirectory(prefix="eflops-", dir=usual if len(usual) <= LONGEST_FOLDER else "/tmp") as folder:
        # Nodes keep clients' memory below it. Set before Ray starts, whose processes inherit it.
        os.environ["FLWR_HOME"] = folder
        processes = min(PROCESSES, clients, os.cpu_count() or 1)
        # "local" starts a cluster of its own; otherwise Ray would join one that runs on this machine.
        backend: dict[str, dict[str, Any]] = {
            "init_args": {"address": "local", "num_cpus": processes, "include_dashboard": False, "_temp_dir": folder},
            "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
        }
        run_simulation(server, client_app, clients, backend_config=backend)
