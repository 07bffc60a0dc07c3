"""A plain Flower app of federated averaging, as its tutorials write it: Flower's strategy, a numpy or torch client.

It trains the linear model of `benchmarks/flower.py` or the network of `benchmarks/model.py` on the same federation, and
prints the milliseconds of a round in Flower's simulation. Most of that is Flower's share of any app.

    python benchmarks/plain_flower.py FOLDER ROUNDS FRACTION RATE STEPS numpy|torch
"""

import logging
import os
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

import mlp
from eflops.data.federation import Federation, load
from eflops.flower.simulation import PROCESSES


@lru_cache(maxsize=1)
def federation(folder: str) -> Federation:
    """The federation, read once in each process."""
    return load(Path(folder))


Arrays = list[np.ndarray]


def linear_steps(arrays: Arrays, x: np.ndarray, y: np.ndarray, rate: float, count: int) -> Arrays:
    """Gradient steps of mean squared error on all rows."""
    (weights,) = arrays
    for _ in range(count):
        weights = weights - rate * x.T @ (x @ weights - y) / len(y)
    return [weights.astype(np.float32)]


def network_steps(arrays: Arrays, x: np.ndarray, y: np.ndarray, rate: float, count: int) -> Arrays:
    """Gradient steps of the network of `mlp.py` on all rows."""
    net = mlp.build(x.shape[1:], 10)
    names = list(net.state_dict())
    net.load_state_dict({name: torch.from_numpy(array) for name, array in zip(names, arrays, strict=True)})
    mlp.local_steps(net, torch.from_numpy(x), torch.from_numpy(y), rate, count)
    return [values.numpy() for values in net.state_dict().values()]


def first_arrays(client: str, features: int) -> Arrays:
    """What training starts from."""
    if client == "numpy":
        return [np.zeros(features, np.float32)]
    return [values.numpy() for values in mlp.build((features,), 10).state_dict().values()]


STEPS = {"numpy": linear_steps, "torch": network_steps}


def main(folder: str, rounds: int, fraction: float, rate: float, count: int, kind: str) -> None:
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
        arrays = message.content.array_records["arrays"].to_numpy_ndarrays()
        trained = ArrayRecord(STEPS[kind](arrays, block.x, block.y, rate, count))
        counted = MetricRecord({"num-examples": len(block)})
        return Message(RecordDict({"arrays": trained, "metrics": counted}), reply_to=message)

    @server.main()
    def serve(grid: Grid, context: Context) -> None:
        strategy = FedAvg(fraction_train=fraction, fraction_evaluate=0.0)
        first = first_arrays(kind, federation(folder).test.x.shape[1])
        start = ArrayRecord(first)
        strategy.start(grid, start, num_rounds=2, train_config=ConfigRecord())
        begin = time.perf_counter()
        trained = strategy.start(grid, start, num_rounds=rounds, train_config=ConfigRecord()).arrays.to_numpy_ndarrays()
        spent = time.perf_counter() - begin
        if all(np.array_equal(after, before) for after, before in zip(trained, first, strict=True)):
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

    data, rounds, fraction, rate, count, kind = sys.argv[1:]
    main(data, int(rounds), float(fraction), float(rate), int(count), kind)
