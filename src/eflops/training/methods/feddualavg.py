"""Federated dual averaging with an L1 penalty (Yuan, Zaheer and Reddi, 2021, FedDualAvg): a federated lasso.

The server keeps a dual vector z and the elapsed rate h. The weights are their soft threshold, so that the penalty acts
on the average as it does on a client:

    w = soft(z, lambda h),    soft(z, t) = sign(z) max(|z| - t, 0)
    client:  z_k -= rate x gradient(w_k);  h_k += rate
    server:  z = sum_k w_k z_k;  h = sum_k w_k h_k

Averaging weights instead would make the average dense. Lambda takes the place of m; the m largest weights are kept
after training. Messages are dense.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eflops.training.messages import Message, Part
from eflops.training.methods.base import State, Task, Upload, Work, average
from eflops.training.methods.batches import Batches, rows_of_step
from eflops.training.models.base import Layout, gradient, in_python
from eflops.training.numerics.arithmetic import ZERO
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.kernels import add, clip

TRACE = 1e-6


class Method:
    """Clients descend on the dual vector at the soft threshold of it; the server averages dual vectors."""

    def __init__(self, task: Task, **options: Any) -> None:
        self.task = task

    def start(self, seeds: Sequence[int]) -> State:
        """z is the first weights, h = 0."""
        return {"dual": self.task.first_weights(seeds), "elapsed": torch.zeros(len(seeds))}

    def download(self, state: State, round_: int) -> Message:
        """z and h."""
        return Message({"dual": Part(state["dual"])}, {"elapsed": state["elapsed"]}, ungated=self.task.ungated)

    def update(self, received: Message, work: Work) -> Message:
        """Local steps on z at w = soft(z, lambda h), in place."""
        settings = work.settings
        numbers = settings.numbers("rate"), settings.numbers("clip"), settings.numbers("l1")
        rows = work.data.arrays
        in_python(_dual_steps, rows)(
            rows,
            received["dual"].numpy(),
            received["elapsed"].numpy(),
            work.batches,
            numbers,
            self.task.gated,
        )
        return received

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        """The weighted averages of z and h."""
        return {name: average(uploads, name, values) for name, values in state.items()}

    def effective(self, state: State) -> Tensor:
        """soft(z, lambda h); where it is 0, a trace of z ranks the weights, in case fewer than m are left."""
        weights = torch.empty_like(state["dual"])
        limits = state["elapsed"].numpy() * self.task.settings.numbers("l1")
        _soft_rows(state["dual"].numpy(), limits, self.task.gated, weights.numpy())
        # Only the cut and the curves see the trace; local steps use the soft threshold itself.
        return torch.where(weights == 0, state["dual"] * TRACE, weights)

    def watched(self, state: State) -> dict[str, Tensor]:
        """How many weights the penalty leaves."""
        left = self.effective(state).abs() > TRACE * state["dual"].abs()
        return {"nonzero_weights": torch.from_numpy(np.count_nonzero(left.numpy(), 1)).float()}


@compiled
def _dual_steps(
    rows: Layout, dual: np.ndarray, elapsed: np.ndarray, batches: Batches, numbers: tuple, gated: int
) -> None:
    """All local steps of a round on z [runs, size] and h [runs], in place."""
    (steps, orders, size), (rates, limits, penalties) = batches, numbers
    weights, gradients = np.empty_like(dual), np.empty_like(dual)
    for step in range(steps):
        _soft_rows(dual, elapsed * penalties, gated, weights)
        gradient(rows, weights, rows_of_step(orders, size, step), gradients)
        for run in range(len(dual)):
            clip(gradients[run], limits[run])
            add(dual[run], gradients[run], -rates[run])
            elapsed[run] += rates[run]


@compiled
def _soft_rows(dual: np.ndarray, limits: np.ndarray, gated: int, weights: np.ndarray) -> None:
    """soft(z, limit) of each run [runs, size]; parameters from `gated` on have no penalty."""
    for run in range(len(dual)):
        row, soft, limit = dual[run], weights[run], limits[run]
        for index in range(row.size):
            # Without a branch, so that the loop can be vectorised: one of the two terms is always 0.
            soft[index] = max(row[index] - limit, ZERO) + min(row[index] + limit, ZERO)
        soft[gated:] = row[gated:]
