"""A plain Flower app of federated averaging, as its tutorials write it: Flower's own strategy and a numpy client.

It trains the same linear model on the same federation as `benchmarks/flower.py`, which runs it, and prints the
milliseconds of a round in Flower's simulation. What it spends is Flower's share of any app.

    python benchmarks/plain_flower.py FOLDER ROUNDS FRACTION RATE STEPS
"""

import logging
import os
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path

import numpy as np

from eflops.data.federation import Federation, load
from eflops.flower.simulation import PROCESSES


@lru_cache(maxsize=1)
def federation(folder: str) -> Federation:
    """The federation, read once in each process."""
    return load(Path(folder))


def steps(weights: np.ndarray, x: np.ndarray, y: np.ndarray, rate: float, count: int) -> np.ndarray:
    """Gradient steps of mean squared error on all rows."""
    for _ in range(count):
        weights = weights - rate * x.T @ (x @ weights - y) / len(y)
    return weights.astype(np.float32)


def main(folder: str, rounds: int, fraction: float, rate: float, count: int) -> None:
    """Run the app in Flower's simulation."""
    from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
    from flwr.serverapp.strategy import FedAvg
    from flwr.simulation import run_simulation

    client, server = ClientApp(), ServerApp()

    @client.train()
    def train(message: Message, context: Context) -> Message:
        block = federation(folder).clients[int(context.node_config["partition-id"])]
        (weights,) = message.content.array_records["arrays"].to_numpy_ndarrays()
        trained = ArrayRecord([steps(weights, block.x, block.y, rate, count)])
        counted = MetricRecord({"num-examples": len(block)})
        return Message(RecordDict({"arrays": trained, "metrics": counted}), reply_to=message)

    @server.main()
    def serve(grid: Grid, context: Context) -> None:
        strategy = FedAvg(fraction_train=fraction, fraction_evaluate=0.0)
        start = ArrayRecord([np.zeros(federation(folder).test.x.shape[1], dtype=np.float32)])
        strategy.start(grid, start, num_rounds=2, train_config=ConfigRecord())
        begin = time.perf_counter()
        (trained,) = strategy.start(
            grid, start, num_rounds=rounds, train_config=ConfigRecord()
        ).arrays.to_numpy_ndarrays()
        spent = time.perf_counter() - begin
        if not trained.any():
            raise RuntimeError("the clients did not train")
        print(f"{1e3 * spent / rounds:.1f}", flush=True)

    logging.getLogger("flwr").setLevel(logging.ERROR)
    clients = len(federation(folder).clients)
    with tempfile.TemporaryDirectory(prefix="eflops-") as home:
        os.environ["FLWR_HOME"] = home
        cores = min(PROCESSES, os.cpu_count() or 1)
        init = {"address": "local", "num_cpus": cores, "include_dashboard": False, "_temp_dir": home}
        resources = {"num_cpus": 1, "num_gpus": 0.0}
        run_simulation(server, client, clients, backend_config={"init_args": init, "client_resources": resources})


if __name__ == "__main__":
    # Ray's processes must find `federation` in a module that they can import.
    from plain_flower import main

    place, *numbers = sys.argv[1:]
    main(place, int(numbers[0]), float(numbers[1]), float(numbers[2]), int(numbers[3]))
