"""The rows that each run uses in each local step of a round."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.noise import orders

Steps = int | Literal["epoch"]


class Batches(NamedTuple):
    """Passes over a client's rows, each in another order.

    orders: [passes, runs, rows]; size: rows per step, or 0 where each step takes all of them and there are no orders.
    """

    steps: int
    orders: np.ndarray
    size: int

    def chosen(self, step: int) -> np.ndarray:
        """The rows [runs, batch] of a local step; an empty batch means all rows."""
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


def draw_batches(
    rows: int, steps: Steps, batch_size: int | None, seeds: Sequence[int], round_: int, client: int
) -> Batches:
    """The rows of each local step: passes over the client's rows, each in another order; a pass may end short."""
    # No orders: the sum over all rows has one order, and unused addresses shift no other random number.
    if batch_size is None or batch_size >= rows:
        return Batches(1 if steps == "epoch" else steps, np.empty((1, len(seeds), 0), np.int64), 0)
    per_pass = -(-rows // batch_size)
    count = per_pass if steps == "epoch" else steps
    passes = -(-count // per_pass)
    return Batches(count, orders(seeds, "batches", (round_, client), passes, rows), batch_size)
