"""Linear regression without intercept under the squared loss."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from eflops.fused import errors
from eflops.models.base import Layer, Operations, Rows
from eflops.models.batch import filled_up, pad, padded, product, with_room


class Linear:
    """y = x theta; loss (x theta - y)^2."""

    def __init__(self, features: int) -> None:
        self.size = features
        self.layers = (Layer("weights", 0, features),)

    def rows(self, x: np.ndarray, y: np.ndarray) -> Rows:
        """Rows with the features padded to the parameters' width."""
        return filled_up(pad(torch.from_numpy(x)), torch.from_numpy(y))

    def initial(self, seed: int) -> Tensor:
        """All zero: the loss is convex in theta, so no symmetry has to be broken."""
        return torch.zeros(padded(self.size))

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """2/n X'(X theta - y); residuals outside a run's mini-batch are 0, so that all runs share one product."""
        outputs = product(theta, data.columns)
        if chosen is None:
            residual = outputs.sub_(data.y).mul_(2 / len(data))
        else:
            residual = with_room(*outputs.shape)
            weight = np.float32(2 / chosen.shape[1])
            errors(outputs.numpy(), data.y.numpy(), chosen.numpy(), weight, residual.numpy())
        return product(residual, data.x)

    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """Mean squared error and R2."""
        error = product(theta, data.columns).sub_(data.y)[:, : len(data)].double().square_().mean(1)
        spread = data.y[: len(data)].double().var(correction=0)
        return {"mse": error, "r2": 1 - error / spread}

    def macs(self, kept: np.ndarray) -> Operations:
        """One operation a kept weight."""
        return Operations({"weights": int(kept.sum())})


def build(shape: tuple[int, ...], meta: dict[str, Any]) -> Linear:
    """The model for rows of this shape."""
    return Linear(shape[0])
