"""Seconds per seed-round of each method at the paper's synthetic size, beside the floor that no engine can go below.

The floor is the matrix products and random numbers of the same rounds, bare: no gates, no averaging, no evaluation.
Each is measured several times in turn and the fastest is kept, because this machine's timings are noisy.

    python benchmarks/engine.py [--ratio 0.64] [--seeds 30] [--rounds 200] [--repeats 3]
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import torch

from eflops.config.load import read
from eflops.config.settings import TrainingSettings, settings_class
from eflops.data import build
from eflops.data.federation import Federation
from eflops.engines import batched
from eflops.engines.rounds import Server, sampled_clients
from eflops.gates import logistic_noise
from eflops.models.batch import BLOCK, pad, padded
from eflops.noise import uniform
from eflops.train import make_method, make_task

METHODS = ("fedavg", "fediht", "fediterht", "flops", "eflops")
STEPS, BATCH = 5, 16


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratio", type=float, default=0.64)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    batched.prepare()
    config = read("config.yaml")
    dataset = config.datasets["synthetic"]
    federation = build(dataset.model_dump(), arguments.ratio, 0)
    print(f"N/d {arguments.ratio}, {STEPS} steps of {BATCH} rows, {arguments.seeds} seeds; ms per seed-round")
    print(f"{'method':10} {'one seed':>9} {'batched':>9} {'floor':>9} {'x floor':>8} {'30 : 1':>7}")
    for name in METHODS:
        entry = config.methods[name]
        changes = {"rounds": arguments.rounds, "local_steps": STEPS, "batch_size": BATCH, "tune_rounds": 0}
        settings = settings_class(entry.method).model_validate({**entry.settings, **changes})
        job = {**_job(entry.method, dataset), "client_fraction": dataset.client_fraction}
        many = list(range(arguments.seeds))
        work = [
            partial(_train, job, settings, federation, [0]),
            partial(_train, job, settings, federation, many),
            partial(_floor, settings, federation, many, dataset.client_fraction, gated=entry.method == "eflops"),
        ]
        one, batch, floor = (seconds / arguments.rounds * 1e3 for seconds in _fastest(arguments.repeats, work))
        row = f"{one:9.3f} {batch / len(many):9.3f} {floor / len(many):9.3f} {batch / floor:8.2f} {batch / one:7.2f}"
        print(f"{name:10} {row}")


def _job(method: str, dataset: object) -> dict:
    return {"model": dataset.model, "density": dataset.density, "method": method, "options": {}, "name": method}


def _train(job: dict, settings: TrainingSettings, federation: Federation, seeds: list[int]) -> None:
    task, bench = make_task(job, [settings] * len(seeds), federation)
    transport = batched.transport(None, task, federation)
    Server(task, bench, transport, 10**9, lambda *_: None).run(make_method(job, task), seeds)


def _floor(settings: TrainingSettings, federation: Federation, seeds: list[int], fraction: float, gated: bool) -> None:
    """The products of every asked client and step, in blocks as the engine makes them, and the gates' noise."""
    width, clients = padded(federation.test.x.shape[1]), len(federation.clients)
    data = [pad(torch.from_numpy(block.x)) for block in federation.clients]
    columns = [x.T.contiguous() for x in data]
    theta = torch.zeros(BLOCK, width)
    for round_ in range(settings.rounds):
        asked = [set(sampled_clients(seed, round_, clients, int(fraction * clients)).tolist()) for seed in seeds]
        for client, x in enumerate(data):
            runs = [seed for seed, chosen in zip(seeds, asked, strict=True) if client in chosen]
            if gated and runs:
                logistic_noise(uniform(runs, "floor", (round_, client), settings.local_steps, width))
            for _ in range(settings.local_steps * -(-len(runs) // BLOCK)):
                (theta @ columns[client]) @ x


def _fastest(repeats: int, work: list[Callable[[], None]]) -> list[float]:
    """The shortest time of each piece of work, measured in turn."""
    best = [float("inf")] * len(work)
    for _ in range(repeats):
        for index, piece in enumerate(work):
            start = time.process_time()
            piece()
            best[index] = min(best[index], time.process_time() - start)
    return best


if __name__ == "__main__":
    main()
