"""Flower's simulation: clients are ClientApps in processes of Ray, the server's loop is a ServerApp in this process."""

import logging
import os
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from flwr.app import ConfigRecord, Context, Message
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from eflops.config.cells import Run
from eflops.data.federation import Federation, read_manifest
from eflops.engines import batched
from eflops.engines.flower.client import Assignment, introduce, respond, work_of
from eflops.engines.flower.grid import GridTransport, Patience, find_nodes
from eflops.engines.rounds import Connect
from eflops.errors import UserError
from eflops.methods.base import Task

WORK = "work"
PROCESSES = 2
LONGEST_FOLDER = 30


def run(job: Any, work: Callable[[Connect, int], None]) -> None:
    """Do `work` inside a simulation of the job's clients; runs come one by one, as on a real federation."""
    manifest = read_manifest(job.data_folder(job.runs[0].draw))
    clients = 1 if job.slice["pooled"] else len(manifest["clients"])
    simulate(clients, lambda grid, nodes: work(connector(job, grid, nodes, Patience()), 1))


def connector(job: Any, grid: Grid, nodes: dict[int, int], patience: Patience) -> Connect:
    """A way to reach simulated clients, which are told with every order what they work on."""

    def connect(task: Task, federation: Federation, run: Run) -> GridTransport:
        record = ConfigRecord(
            {"work": work_of(job.slice, run.variant), "data": str(job.data_folder(run.draw).resolve())}
        )
        return GridTransport(grid, nodes, task.size, patience, {WORK: record})

    return connect


def simulate(clients: int, work: Callable[[Grid, dict[int, int]], None]) -> None:
    """Do `work` with the grid of a simulation and the node of each client, as Flower's ServerApp."""
    if find_spec("ray") is None:
        raise UserError("engine: flower needs Ray; install it with: pip install 'eflops[simulation]'")
    from flwr.simulation import run_simulation

    server = ServerApp()

    @server.main()
    def main(grid: Grid, context: Context) -> None:
        batched.prepare()
        work(grid, find_nodes(grid, clients, Patience()))

    logging.getLogger("flwr").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="eflops-", dir=_short_folder()) as folder:
        os.environ["FLWR_HOME"] = folder
        run_simulation(server, client_app(), clients, backend_config=_backend(clients, folder))


def client_app() -> ClientApp:
    """The app of a simulated client, which finds what it works on in the message itself."""
    app = ClientApp()
    app.query()(_introduce)
    app.train()(_respond)
    return app


def _introduce(message: Message, context: Context) -> Message:
    return introduce(message, _client(context))


def _respond(message: Message, context: Context) -> Message:
    told = message.content.config_records[WORK]
    return respond(message, Assignment(str(told["work"]), str(told["data"]), _client(context)))


def _client(context: Context) -> int:
    return int(context.node_config["partition-id"])


def _short_folder() -> str:
    """Where temporary files go; the names of Ray's sockets have room for a short folder only."""
    usual = tempfile.gettempdir()
    return usual if len(usual) <= LONGEST_FOLDER else "/tmp"


def _backend(clients: int, folder: str) -> dict[str, dict[str, Any]]:
    """A Ray of our own, in a folder of its own, with as many processes as can be of use here."""
    processes = min(PROCESSES, clients, os.cpu_count() or 1)
    return {
        "init_args": {"address": "local", "num_cpus": processes, "include_dashboard": False, "_temp_dir": folder},
        "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
    }
