"""Which rows each run takes in each local step of a round."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from eflops.training.numerics.compiled import compiled


class Batches(NamedTuple):
    """Passes over a client's rows, each in an order of its own.

    orders: [passes, runs, rows]; size: rows per step, or 0 where each step takes all of them and there are no orders.
    """

    steps: int
    orders: np.ndarray
    size: int

    def chosen(self, step: int) -> np.ndarray:
        """The rows [runs, batch] of a local step; an empty batch stands for all rows."""
        return rows_of_step(self.orders, self.size, step)


@compiled
def rows_of_step(orders: np.ndarray, size: int, step: int) -> np.ndarray:
    """The rows of a local step; a pass may end with fewer than `size`."""
    per_pass = -(-orders.shape[2] // size) if size else 1
    start = step % per_pass * size
    return orders[step // per_pass if size else 0, :, start : start + size]


def chosen_rows(batches: Batches, step: int) -> Tensor | None:
    """The rows [runs, batch] of a local step, for methods written in torch; None for all."""
    return torch.from_numpy(batches.chosen(step)) if batches.size else None
