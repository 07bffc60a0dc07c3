"""Milliseconds per seed-round of the same runs on Flower's simulation and on the batched engine, side by side.

Flower trains one seed, as on a federation; the batched engine trains all of them at once. Both are measured in turn and
the fastest of each is kept; the seed that both trained must have the same weights. The second ratio adds the start-up
of each, spread over the rounds of a whole run of the config, with one start of Flower per seed.

Beside them stands a plain Flower app of FedAvg with a numpy client (`plain_flower.py`) on the same data. A round of
Flower's takes 0.1 s at the least: its simulation looks for new messages ten times a second.

    python benchmarks/flower.py [--ratio 0.64] [--seeds 30] [--rounds 20] [--repeats 3] [--methods eflops] [--show]
"""

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from eflops.config.load import read
from eflops.config.models import Config
from eflops.config.plan import cell_spec, plan_of
from eflops.data.build import build
from eflops.data.federation import Federation, save
from eflops.data.job import Job
from eflops.flower import simulation
from eflops.flower.grid import FaultPolicy
from eflops.results import labels
from eflops.training.engines import batched
from eflops.training.rounds import Connect, Server
from eflops.training.train import make_method, make_task

EXPERIMENT = "support_recovery"
IMPORTS = "import eflops.training.train, eflops.training.engines.batched"
PLAIN = "a plain Flower app of FedAvg, numpy client"
COLUMNS = ("method", "flower", "batched", "flower_with_start", "batched_with_start")
Row = tuple[str | float, ...]


@dataclass(frozen=True)
class Cell:
    """A method's runs: its job with few rounds, its data, and how many rounds a whole run has."""

    job: Job
    federation: Federation
    whole_run: int

    def train(self, connect: Connect, seeds: list[int], serve: type[Server] = Server) -> tuple[float, Tensor]:
        """Seconds of a training phase, and the weights that the first seed ends with; `serve`: the engine's server."""
        settings = [self.job.spec.variants[labels.BASE]] * len(seeds)
        task, bench = make_task(self.job.spec, settings, self.federation)
        transport = connect(task, self.federation, self.job.runs[0])
        server = serve(task, bench, transport, 10**9, lambda *_: None)
        method = make_method(self.job.spec, task)
        start = time.perf_counter()
        theta, _ = server.run(method, seeds)
        return time.perf_counter() - start, theta[0]


def main() -> None:
    """Measure and write a CSV, or read it; print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, nargs="+", default=[Path("config.yaml")])
    parser.add_argument("--ratio", type=float, default=0.64)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--methods", nargs="+", default=["fedavg", "fediht", "fediterht", "flops", "eflops"])
    parser.add_argument("--csv", type=Path, default=Path("benchmarks/flower.csv"))
    parser.add_argument("--show", action="store_true", help="print what the CSV holds and measure nothing")
    arguments = parser.parse_args()
    if not arguments.show:
        with arguments.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *measure(arguments)])
    with arguments.csv.open(newline="") as file:
        show(list(csv.DictReader(file)))


def measure(arguments: argparse.Namespace) -> list[Row]:
    """A row for the plain app and one for each method."""
    config = read(*arguments.config)
    batched.prepare()
    with tempfile.TemporaryDirectory() as folder:
        measured = [make_cell(config, name, arguments, Path(folder)) for name in arguments.methods]
        return [(PLAIN, round(plain(measured[0], arguments.rounds), 1)), *compare(measured, arguments)]


def show(rows: list[dict[str, str]]) -> None:
    """Print a table."""
    print("| method | Flower, ms per seed-round | batched | ratio | with start-up |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        times = [float(row[name]) for name in COLUMNS[1:] if row[name]]
        if len(times) == 1:
            print(f"| {row['method']} | {times[0]:.1f} | | | |")
        else:
            flower, batch, flower_whole, batch_whole = times
            ratios = f"{flower / batch:.0f} | {flower_whole / batch_whole:.0f}"
            print(f"| {row['method']} | {flower:.1f} | {batch:.2f} | {ratios} |")


def plain(cell: Cell, rounds: int, client: str = "numpy", rate: float = 0.001) -> float:
    """Milliseconds per round of a plain Flower app on the same data, in a process of its own."""
    numbers = [rounds, cell.job.spec.client_fraction, rate, 5, client]
    command = [sys.executable, str(Path(__file__).with_name("plain_flower.py")), str(cell.job.data_folder(0))]
    done = subprocess.run([*command, *map(str, numbers)], check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.split()[-1])


def make_cell(config: Config, name: str, arguments: argparse.Namespace, folder: Path) -> Cell:
    """A method's cell at the size of the config, but with few rounds and no tuning."""
    whole = cell_spec(config, EXPERIMENT, plan_of(config, EXPERIMENT).ratios[0], name)
    settings = whole.variants[labels.BASE]
    few = settings.model_copy(update={"rounds": arguments.rounds, "finetune_rounds": 0})
    spec = whole.model_copy(update={"variants": {labels.BASE: few}, "ratio": labels.ratio_label(arguments.ratio)})
    federation = build(config.datasets["synthetic"].model_dump(mode="json"), arguments.ratio, 0)
    made = Job(spec, folder, folder, (labels.Run(labels.BASE, 0, 0),), arguments.seeds)
    if not made.data_folder(0).exists():
        save(federation, made.data_folder(0), {})
    return Cell(made, federation, settings.rounds + settings.finetune_rounds)


def compare(measured: list[Cell], arguments: argparse.Namespace) -> list[Row]:
    """Train every cell on both engines in turn, inside one simulation."""
    begin = time.perf_counter()
    rows: list[Row] = []

    def work(grid: simulation.Grid, nodes: dict[int, int]) -> None:
        warm = measured[0]
        warm.train(simulation.connector(warm.job, grid, nodes, FaultPolicy()), [0])
        start_up = {"flower": time.perf_counter() - begin, "batched": _seconds_to_import()}
        for cell in measured:
            rows.append(compared(cell, simulation.connector(cell.job, grid, nodes, FaultPolicy()), start_up, arguments))
            print(f"{cell.job.spec.name} measured", file=sys.stderr)

    simulation.simulate(len(measured[0].federation.clients), work)
    return rows


def compared(cell: Cell, connect: Connect, start_up: dict[str, float], arguments: argparse.Namespace) -> Row:
    """Milliseconds per seed-round of a method on both engines, without and with the start-up."""
    best = {"flower": float("inf"), "batched": float("inf")}
    for _ in range(arguments.repeats):
        flower, one = cell.train(connect, [0])
        batch, same = cell.train(lambda task, data, _: batched.transport(task, data), list(range(arguments.seeds)))
        if not torch.equal(one, same):
            sys.exit(f"{cell.job.spec.name}: the engines disagree")
        best = {"flower": min(best["flower"], flower), "batched": min(best["batched"], batch)}
    runs = {"flower": 1, "batched": arguments.seeds}
    alone = {name: 1e3 * best[name] / arguments.rounds / runs[name] for name in best}
    whole = {name: alone[name] + 1e3 * start_up[name] / cell.whole_run / runs[name] for name in best}
    return (cell.job.spec.name, *(round(value, 3) for part in (alone, whole) for value in part.values()))


def _seconds_to_import() -> float:
    """How long a process of the batched engine takes before it can train."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
