"""Milliseconds per run and gradient step of the paper's CNN, computed in four ways, and seconds of one evaluation.

The ways: PyTorch's grouped convolution with the runs as groups, vmap over runs (torch.func), a loop over runs with
autograd, and the loop with the backward pass written out that `eflops.models.cnn` has. Each is measured several times
in turn, in processor time, and the fastest is kept, because this machine's timings are noisy.

    python benchmarks/cnn.py [--runs 10] [--batch 32] [--repeats 20]
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.func import grad, vmap
from torch.nn import functional

from eflops.engines import batched
from eflops.models.cnn import Cnn, build

ROWS = 120
TEST_ROWS = 10_000


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=20)
    arguments = parser.parse_args()
    batched.prepare()
    model = build((1, 28, 28), {"classes": 10})
    theta = torch.stack([model.initial(seed) for seed in range(arguments.runs)])
    generator = np.random.default_rng(0)
    x = generator.random((ROWS, 1, 28, 28), dtype=np.float32)
    y = generator.integers(0, 10, ROWS)
    chosen = torch.from_numpy(np.stack([generator.permutation(ROWS)[: arguments.batch] for _ in theta]))
    images, labels, data = torch.from_numpy(x), torch.from_numpy(y), model.rows(x, y)

    ways: dict[str, Callable[[], Tensor]] = {
        "grouped convolution": lambda: grouped(model, theta, images[chosen], labels[chosen]),
        "vmap": lambda: vmap(grad(loss, argnums=1), (None, 0, 0, 0))(model, theta, images[chosen], labels[chosen]),
        "loop, autograd": lambda: looped(model, theta, images[chosen], labels[chosen]),
        "loop, written out": lambda: model.gradient(theta, data, chosen),
    }
    expected = ways["loop, autograd"]()
    print(f"{arguments.runs} runs, mini-batches of {arguments.batch} images, one thread\n")
    print("| way | ms a run and step | largest difference |\n| --- | --- | --- |")
    for name, way in ways.items():
        difference = (way() - expected).abs().max() / expected.abs().max()
        print(
            f"| {name} | {1e3 * fastest(way, arguments.repeats) / arguments.runs:.2f} | {difference:.0e} |", flush=True
        )
    test = model.rows(np.resize(x, (TEST_ROWS, 1, 28, 28)), np.resize(y, TEST_ROWS))
    seconds = fastest(lambda: model.measure(theta[:1], test), 3)
    print(f"\nOne evaluation of one run on {TEST_ROWS} images: {seconds:.2f} s")


def fastest(work: Callable[[], object], repeats: int) -> float:
    """The shortest of several timings, in processor time."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def loss(model: Cnn, theta: Tensor, images: Tensor, labels: Tensor) -> Tensor:
    """The mean cross-entropy of one run, with PyTorch's own layers."""
    conv1, conv2, *dense = model.stages
    out = images
    for stage in (conv1, conv2):
        kernel = theta[stage.weights].view(stage.units, stage.sources, 5, 5)
        out = functional.max_pool2d(functional.conv2d(out, kernel, theta[stage.biases]), 2).relu()
    out = out.flatten(1)
    for stage in dense:
        out = functional.linear(out, theta[stage.weights].view(stage.units, -1), theta[stage.biases])
        out = out if stage is dense[-1] else out.relu()
    return functional.cross_entropy(out, labels)


@torch.enable_grad()
def looped(model: Cnn, theta: Tensor, images: Tensor, labels: Tensor) -> Tensor:
    """Gradients by autograd, run by run."""
    leaves = [row.clone().requires_grad_() for row in theta]
    losses = [loss(model, *parts) for parts in zip(leaves, images, labels, strict=True)]
    return torch.stack([torch.autograd.grad(*parts)[0] for parts in zip(losses, leaves, strict=True)])


@torch.enable_grad()
def grouped(model: Cnn, theta: Tensor, images: Tensor, labels: Tensor) -> Tensor:
    """Gradients by autograd of all runs at once: a run is a group of channels, its dense layers a batched product."""
    leaf = theta.clone().requires_grad_()
    runs, batch = images.shape[:2]
    conv1, conv2, *dense = model.stages
    out = images.transpose(0, 1).flatten(1, 2)
    for stage in (conv1, conv2):
        kernels = leaf[:, stage.weights].reshape(runs * stage.units, stage.sources, 5, 5)
        out = functional.conv2d(out, kernels, leaf[:, stage.biases].reshape(-1), groups=runs)
        out = functional.max_pool2d(out, 2).relu()
    out = out.view(batch, runs, -1).transpose(0, 1)
    for stage in dense:
        weights = leaf[:, stage.weights].view(runs, stage.units, -1)
        out = torch.baddbmm(leaf[:, None, stage.biases], out, weights.transpose(1, 2))
        out = out if stage is dense[-1] else out.relu()
    total = functional.cross_entropy(out.flatten(0, 1), labels.flatten(), reduction="sum") / batch
    return torch.autograd.grad(total, leaf)[0]


if __name__ == "__main__":
    main()
