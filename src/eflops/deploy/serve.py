"""The server of a deployment: the rounds of one run over Flower's grid, written down as the same run record."""

from dataclasses import replace
from pathlib import Path

from flwr.serverapp import Grid

from eflops import code
from eflops.config.cells import Run, data_label
from eflops.deploy.deal import server_view
from eflops.engines import batched
from eflops.engines.flower.grid import GridTransport, Patience, find_nodes
from eflops.files import read_json
from eflops.progress import progress
from eflops.train import Job, make_task, train_block

PLAN = "plan.json"
RUNS = "runs"
START_SECONDS = 600.0


def serve(grid: Grid, folder: Path) -> None:
    """Train the run that the plan in the server's folder describes."""
    plan = read_json(folder / PLAN)
    slice_, patience, run = plan["job"], Patience(**plan["patience"]), Run(**plan["run"])
    batched.prepare()
    job = Job(slice_, folder / "data", folder / RUNS, (run,), 1)
    known, counts = server_view(folder, Path(slice_["dataset"]) / data_label(slice_["ratio"], run.draw))
    task, bench = make_task(slice_, [job.settings(run.variant)], known)
    nodes = find_nodes(grid, len(counts), replace(patience, seconds=START_SECONDS))
    roots = (*code.training_roots(slice_["method"], slice_["model"], slice_["engine"]), "eflops.deploy.app")
    transport = GridTransport(grid, nodes, task.size, patience)
    report = progress(f"seed {run.seed}")
    train_block(job, task, replace(bench, counts=counts), [run], code.code_hashes(*roots), transport, report)
