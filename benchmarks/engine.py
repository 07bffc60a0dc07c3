"""CPU time per seed-round of each method at the paper's synthetic size, beside a plain numpy loop and a floor.

The numpy loop is federated averaging of one seed as one would write it down. The floor is the matrix products and
random numbers of the same rounds, in one compiled call per client: no gates, no step, no averaging, no evaluation. All
are measured in turn in one invocation and the fastest of each is kept, because timings are noisy; ratios are what
counts. Methods have the settings of config.yaml, per data set too, but for the number of local steps, which is the same
for all. A run that diverges is not timed.

    python benchmarks/engine.py [--ratio 0.64] [--rounds 100] [--repeats 3] [--csv benchmarks/engine.csv] [--show]
"""

import argparse
import csv
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from eflops.config.cell import CellSpec
from eflops.config.load import read
from eflops.config.models import Config
from eflops.config.plan import cell_spec
from eflops.config.settings import TrainingSettings
from eflops.data.build import build
from eflops.training.engines import batched
from eflops.training.methods.batches import Batches, draw_batches, rows_of_step
from eflops.training.models.base import gradient
from eflops.training.models.linear import Linear
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.noise import uniform
from eflops.training.rounds import Server, sampled_clients
from eflops.training.train import make_method, make_task

METHODS = ("fedavg", "fediht", "fediterht", "feddualavg", "flops", "eflops", "fedavg_feedback", "eflops_feedback")
RATIO = "nd0.64"  # of the experiment whose settings are taken
STEPS, MANY, FEW = 5, 30, 3
BATCHES = {"whole": None, "16 rows": 16}
COLUMNS = ("method", "batch", "seeds", "ms_per_seed_round")
# Methods beyond the paper beside those that they extend: a name, the two, and the ratio that is wanted at most.
BESIDE = (
    ("E-FLoPS with error feedback : E-FLoPS", "eflops_feedback", "eflops", "1.5"),
    ("FedAvg with error feedback : FedAvg", "fedavg_feedback", "fedavg", ""),
    ("FedDualAvg : FedAvg", "feddualavg", "fedavg", ""),
)


class SyntheticBenchmark:
    """The synthetic problem, and how each piece of work on it is done for a number of rounds."""

    def __init__(self, config: Config, ratio: float, rounds: int) -> None:
        self.config, self.rounds = config, rounds
        self.dataset = config.datasets["synthetic"]
        self.federation = build(self.dataset.model_dump(), ratio, 0)

    def cell(self, name: str) -> CellSpec:
        """The first cell of config.yaml that trains a method at this ratio."""
        experiments = ("curves", "support_recovery", "feedback14")
        experiment = next(each for each in experiments if name in self.config.experiments[each].methods)
        return cell_spec(self.config, experiment, RATIO, name)

    def settings(self, name: str, batch: int | None) -> TrainingSettings:
        """What config.yaml sets for a method on this data, with the benchmark's number of steps."""
        (settings,) = self.cell(name).variants.values()
        changes = {"rounds": self.rounds, "local_steps": STEPS, "batch_size": batch, "finetune_rounds": 0}
        return type(settings).model_validate({**settings.model_dump(), **changes})

    def train(self, name: str, batch: int | None, seeds: Sequence[int]) -> float:
        """CPU seconds of the batched engine's rounds, without evaluation; a diverged run is refused."""
        job = self.cell(name)
        task, bench = make_task(job, [self.settings(name, batch)] * len(seeds), self.federation)
        transport = batched.transport(task, self.federation)
        for rows in transport.clients:
            assert rows.arrays
        server, method, start = (
            Server(task, bench, transport, 10**9, lambda *_: None),
            make_method(job, task),
            cpu_seconds(),
        )
        _, log = server.run(method, seeds)
        spent = cpu_seconds() - start - log.evaluation_seconds
        if log.diverged:
            sys.exit(f"{name} diverged in {len(log.diverged)} of {len(seeds)} runs, so its time means nothing.")
        return spent

    def asked(self, seeds: Sequence[int], round_: int) -> Iterator[tuple[int, list[int]]]:
        """The clients of a round, each with the seeds that ask it."""
        clients = len(self.federation.clients)
        chosen = sampled_clients(tuple(seeds), round_, clients, int(self.dataset.client_fraction * clients))
        for client in range(clients):
            runs = [seed for seed, own in zip(seeds, chosen, strict=True) if client in own]
            if runs:
                yield client, runs

    def floor(self, gated: bool, batch: int | None, seeds: Sequence[int]) -> float:
        """CPU seconds of the products of every asked client and step, and of the gates' noise."""
        model = Linear(self.federation.test.x.shape[1])
        data = [model.rows(block.x, block.y) for block in self.federation.clients]
        assert all(rows.arrays for rows in data)
        rounds = [list(self.asked(seeds, round_)) for round_ in range(self.rounds)]
        theta, start = np.zeros((len(seeds), model.size), np.float32), cpu_seconds()
        for round_, asked in enumerate(rounds):
            for client, runs in asked:
                if gated:
                    torch.logit(uniform(runs, "floor", (round_, client), STEPS, model.size), 2.0**-24)
                drawn = draw_batches(len(data[client]), STEPS, batch, runs, round_, client)
                _products(data[client].arrays, theta[: len(runs)], drawn)
        return cpu_seconds() - start

    def numpy_loop(self, batch: int | None) -> float:
        """CPU seconds of federated averaging of one seed, client after client, in twenty lines of numpy."""
        settings, federation = self.settings("fedavg", batch), self.federation
        draw, theta = np.random.default_rng(0), np.zeros(federation.test.x.shape[1], np.float32)
        rate, clip, start = np.float32(settings.rate), settings.clip or np.inf, cpu_seconds()
        for _ in range(self.rounds):
            asked = draw.permutation(len(federation.clients))[: int(self.dataset.client_fraction * 10)]
            weights = federation.counts[asked] / federation.counts[asked].sum()
            total = np.zeros_like(theta)
            for client, weight in zip(asked, weights, strict=True):
                x, y, own = federation.clients[client].x, federation.clients[client].y, theta.copy()
                order = draw.permutation(len(y))
                for step in range(STEPS):
                    if batch is not None and batch < len(y):
                        rows = order[np.arange(step * batch, (step + 1) * batch) % len(y)]
                        gradient = _gradient(x[rows], y[rows], own)
                    else:
                        gradient = _gradient(x, y, own)
                    norm = np.sqrt(gradient @ gradient)
                    own -= rate * (gradient * np.float32(clip / norm) if norm > clip else gradient)
                total += np.float32(weight) * own
            theta = total
        return cpu_seconds() - start


def _gradient(x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
    return np.float32(2 / len(y)) * (x.T @ (x @ theta - y))


@compiled
def _products(rows: Any, theta: np.ndarray, batches: Batches) -> None:
    steps, orders, size = batches
    slopes = np.empty_like(theta)
    for step in range(steps):
        gradient(rows, theta, rows_of_step(orders, size, step), slopes)


def measured(bench: SyntheticBenchmark, repeats: int) -> dict[tuple[str, str, int], float]:
    """CPU ms per seed-round of each piece of work, by method, batch and number of seeds."""
    work: dict[tuple[str, str, int], Callable[[], float]] = {}
    many, few = list(range(MANY)), list(range(FEW))
    for label, batch in BATCHES.items():
        work["numpy loop", label, 1] = partial(bench.numpy_loop, batch)
        for name in METHODS:
            for seeds in (many, few, [0]):
                work[name, label, len(seeds)] = partial(bench.train, name, batch, seeds)
        for seeds in (many, few):
            work["floor", label, len(seeds)] = partial(bench.floor, False, batch, seeds)
            work["floor with noise", label, len(seeds)] = partial(bench.floor, True, batch, seeds)
    best = dict.fromkeys(work, float("inf"))
    for _ in range(repeats):
        for key, piece in work.items():
            best[key] = min(best[key], piece() / bench.rounds / key[2] * 1e3)
    return best


def cpu_seconds() -> float:
    """What this process has used, by the kernel's account."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime


def ratios(ms: dict[tuple[str, str, int], float]) -> Iterator[tuple[str, str, float, str]]:
    """What was wanted: a name, the batch, the ratio and its aim."""
    for batch, aim in (("whole", "0.4"), ("16 rows", "0.5")):
        yield "FedAvg, 30 seeds : numpy loop", batch, ms["fedavg", batch, MANY] / ms["numpy loop", batch, 1], aim
    for batch in BATCHES:
        yield "FedAvg, one seed : numpy loop", batch, ms["fedavg", batch, 1] / ms["numpy loop", batch, 1], "1.5"
        yield "E-FLoPS : FedAvg, 30 seeds", batch, ms["eflops", batch, MANY] / ms["fedavg", batch, MANY], "2"
        yield "FedAvg, three seeds : thirty", batch, ms["fedavg", batch, FEW] / ms["fedavg", batch, MANY], "1.3"
        yield "E-FLoPS, three seeds : thirty", batch, ms["eflops", batch, FEW] / ms["eflops", batch, MANY], "1.3"
        for name, method, base, wanted in BESIDE:
            if (method, batch, MANY) in ms:
                yield f"{name}, 30 seeds", batch, ms[method, batch, MANY] / ms[base, batch, MANY], wanted
        yield "floor, three seeds : thirty", batch, ms["floor", batch, FEW] / ms["floor", batch, MANY], ""
        yield "FedAvg : floor", batch, ms["fedavg", batch, MANY] / ms["floor", batch, MANY], "1.5"
        yield "E-FLoPS : floor", batch, ms["eflops", batch, MANY] / ms["floor with noise", batch, MANY], "1.7"


def show(ms: dict[tuple[str, str, int], float]) -> None:
    """Print both tables."""
    print("| method | batch | seeds | ms per seed-round |\n| --- | --- | --- | --- |")
    for (method, batch, seeds), value in ms.items():
        print(f"| {method} | {batch} | {seeds} | {value:.3f} |")
    print("\n| ratio | batch | measured | target, at most |\n| --- | --- | --- | --- |")
    for name, batch, value, aim in ratios(ms):
        print(f"| {name} | {batch} | {value:.2f} | {aim} |")


def main() -> None:
    """Measure and write a CSV, or read it; print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratio", type=float, default=0.64)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--csv", type=Path, default=Path("benchmarks/engine.csv"))
    parser.add_argument("--show", action="store_true", help="print what the CSV holds and measure nothing")
    arguments = parser.parse_args()
    if not arguments.show:
        batched.prepare()
        config = read("config.yaml")
        measured(SyntheticBenchmark(config, arguments.ratio, 2), 1)
        ms = measured(SyntheticBenchmark(config, arguments.ratio, arguments.rounds), arguments.repeats)
        with arguments.csv.open("w", newline="") as file:
            rows = [COLUMNS, *((*key, round(value, 4)) for key, value in ms.items())]
            csv.writer(file, lineterminator="\n").writerows(rows)
    with arguments.csv.open(newline="") as file:
        rows = list(csv.DictReader(file))
    show({(row["method"], row["batch"], int(row["seeds"])): float(row["ms_per_seed_round"]) for row in rows})


if __name__ == "__main__":
    main()
