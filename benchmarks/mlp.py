"""Scikit-learn's digits, a multilayer perceptron for them, and the same federated averaging in a plain torch loop."""

import time
from collections.abc import Mapping

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from eflops.data.federation import Block, Federation
from eflops.rng import numpy_generator


def digits(settings: Mapping[str, int], ratio: None, seed: int, raw: None = None) -> Federation:
    """450 images for testing; the others are dealt to the clients."""
    x, y = load_digits(return_X_y=True)
    order = numpy_generator(seed, "digits").permutation(len(x))
    test, training = order[:450], order[450:]
    blocks = [
        Block((x[rows] / 16).astype(np.float32), y[rows].astype(np.int64))
        for rows in (test, *np.array_split(training, settings["clients"]))
    ]
    return Federation(tuple(blocks[1:]), blocks[0], {}, {"task": "classification", "classes": 10})


def build(shape: tuple[int, ...], classes: int) -> nn.Module:
    """64 pixels, 128 hidden units, 10 classes."""
    return nn.Sequential(nn.Linear(shape[0], 128), nn.ReLU(), nn.Linear(128, classes))


@torch.enable_grad()  # the engines switch gradients off in their process
def local_steps(net: nn.Module, x: Tensor, y: Tensor, rate: float, steps: int) -> None:
    """Gradient steps on all rows, as a client of a plain loop takes them."""
    optimizer = torch.optim.SGD(net.parameters(), rate)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


def torch_loop(federation: Federation, rounds: int, selected: int, rate: float, steps: int) -> float:
    """Seconds of federated averaging of one seed, client after client."""
    torch.manual_seed(0)
    draw, net = np.random.default_rng(0), build((64,), 10)
    clients = [(torch.from_numpy(block.x), torch.from_numpy(block.y)) for block in federation.clients]
    start = time.perf_counter()
    for _ in range(rounds):
        chosen = draw.permutation(len(clients))[:selected]
        weights = federation.counts[chosen] / federation.counts[chosen].sum()
        server = {name: values.clone() for name, values in net.state_dict().items()}
        total = {name: torch.zeros_like(values) for name, values in server.items()}
        for client, weight in zip(chosen, weights, strict=True):
            net.load_state_dict(server)
            local_steps(net, *clients[client], rate, steps)
            for name, values in net.state_dict().items():
                total[name] += float(weight) * values
        net.load_state_dict(total)
    return time.perf_counter() - start
