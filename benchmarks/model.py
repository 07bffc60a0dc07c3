"""Milliseconds per round of a custom torch model: by eflops, by a plain torch loop, and in Flower's simulation.

All train the multilayer perceptron of `mlp.py` on scikit-learn's digits: one seed, 6 of 10 clients, 5 local steps on
all rows. The plain loop and the plain Flower app (`plain_flower.py`) are federated averaging as one would write it,
with torch.optim.SGD. Everything is measured in turn in one invocation, and the fastest of each is kept.

    python benchmarks/model.py [--rounds 40] [--repeats 3] [--csv benchmarks/model.csv] [--show]
"""

import argparse
import csv
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import mlp
from eflops.config.load import check
from eflops.config.plan import cell_spec
from eflops.data.federation import save
from eflops.data.job import Job
from eflops.flower import simulation
from eflops.flower.grid import FaultPolicy
from eflops.results import labels
from eflops.training.engines import reference
from eflops.training.engines.single import Server
from flower import Cell, plain

CLIENTS, SELECTED, RATE, STEPS = 10, 6, 0.1, 5
LOOP, PLAIN = "plain torch loop, FedAvg", "a plain Flower app, FedAvg"
COLUMNS = ("what", "ms_per_round")


def cells(rounds: int, folder: Path) -> dict[str, Cell]:
    """FedAvg and E-FLoPS on the model, by label."""
    settings = {"rounds": rounds, "finetune_rounds": 0, "rate": RATE, "local_steps": STEPS}
    methods = {name: {"method": name, "label": label} for name, label in (("fedavg", "FedAvg"), ("eflops", "E-FLoPS"))}
    data = {"kind": "mlp:digits", "model": "mlp:build", "density": 0.1, "clients": CLIENTS, "client_fraction": 0.6}
    experiment = {"dataset": "digits", "methods": list(methods), "seeds": 1, "settings": settings}
    config = check({"datasets": {"digits": data}, "methods": methods, "experiments": {"digits": experiment}})
    federation = mlp.digits({"clients": CLIENTS}, None, 0)
    made = {}
    for name, method in methods.items():
        spec = cell_spec(config, "digits", labels.WHOLE, name)
        job = Job(spec, folder, folder, (labels.Run(labels.BASE, 0, 0),), 1)
        save(federation, job.data_folder(0), {})
        made[method["label"]] = Cell(job, federation, rounds)
    return made


def measure(rounds: int, repeats: int) -> dict[str, float]:
    """Milliseconds per round, by what was measured."""
    best: dict[str, float] = {}

    def keep(what: str, seconds: float) -> None:
        best[what] = min(best.get(what, float("inf")), 1e3 * seconds / rounds)

    with tempfile.TemporaryDirectory() as folder:
        made = cells(rounds, Path(folder))
        for _ in range(repeats):
            keep(LOOP, mlp.torch_loop(made["FedAvg"].federation, rounds, SELECTED, RATE, STEPS))
            for label, cell in made.items():
                keep(f"eflops, {label}", on_reference(cell))
        on_flower(made["FedAvg"], keep, repeats)
        best[PLAIN] = plain(made["FedAvg"], rounds, "torch", RATE)
    return best


def on_reference(cell: Cell) -> float:
    """Seconds of the run on the reference engine, which trains every custom model."""
    seconds = []
    reference.run(cell.job, lambda connect, _: seconds.append(cell.train(connect, [0], Server)[0]))
    return seconds[0]


def on_flower(cell: Cell, keep: Callable[[str, float], None], repeats: int) -> None:
    """The run on eflops' Flower engine, in a simulation that is started once."""

    def work(grid: simulation.Grid, nodes: dict[int, int]) -> None:
        connect = simulation.connector(cell.job, grid, nodes, FaultPolicy())
        cell.train(connect, [0])  # the clients' processes import torch
        for _ in range(repeats):
            keep("eflops on Flower's simulation, FedAvg", cell.train(connect, [0])[0])

    simulation.simulate(CLIENTS, work)


def show(rows: list[dict[str, str]]) -> None:
    """Print a table, the fastest first, with the ratio to the plain torch loop."""
    times = {row["what"]: float(row["ms_per_round"]) for row in rows}
    print("| what | ms per round | : plain torch loop |\n| --- | --- | --- |")
    for what, ms in sorted(times.items(), key=lambda item: item[1]):
        print(f"| {what} | {ms:.1f} | {ms / times[LOOP]:.1f} |")


def main() -> None:
    """Measure and write a CSV, or read it; print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--csv", type=Path, default=Path("benchmarks/model.csv"))
    parser.add_argument("--show", action="store_true", help="print what the CSV holds and measure nothing")
    arguments = parser.parse_args()
    if not arguments.show:
        # The processes of Flower's simulation import the model by its name.
        os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        best = measure(arguments.rounds, arguments.repeats)
        with arguments.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *((w, round(ms, 3)) for w, ms in best.items())])
    with arguments.csv.open(newline="") as file:
        show(list(csv.DictReader(file)))


if __name__ == "__main__":
    main()
