"""Federated averaging of plain weights: the methods without gates, and the finetuning phase of all.

A client's local steps are one compiled call for all runs that select it.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from eflops.training.messages import Message, Part
from eflops.training.methods.base import STEPS, State, Task, Upload, Work, average, check_vectors
from eflops.training.methods.batches import Batches, rows_of_step
from eflops.training.methods.cut import Cut, CutSchedule
from eflops.training.models.base import Layout, gradient, in_python
from eflops.training.numerics.arithmetic import ZERO
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.kernels import add, clip
from eflops.training.numerics.selection import cut

NO_SUPPORT = np.empty((0, 0), np.bool_)


class Weights:
    """Local gradient descent and weighted averaging; subclasses define the cuts at server and clients."""

    server_cuts = False
    step_cuts = False
    raw_limits = {"theta": math.inf}
    raw_drifting = ""

    def __init__(self, task: Task, **options: Any) -> None:
        self.task = task
        self.schedule = CutSchedule(task.settings, task.gated, task.target)
        self.cut = Cut.of(task.layers, task.settings.layer_floor)

    def start(self, seeds: Sequence[int]) -> State:
        """The first weights."""
        return {"theta": self.task.first_weights(seeds)}

    def download(self, state: State, round_: int) -> Message:
        """The weights; once the server has cut them, only those kept."""
        return self._message(state["theta"], state.get("support"))

    def update(self, received: Message, work: Work) -> Message:
        """Gradient descent on the client's rows."""
        theta = received["theta"]
        check_vectors(self, {"theta": theta}, len(work.seeds), STEPS)
        descend(theta, work, "rate", self.cut, self.schedule.keep(work.round) if self.step_cuts else None)
        # The same function tells the server how many entries to expect, so that both always agree.
        sends_all = self.upload_entries(work.round) is None
        theta, support = (theta, None) if sends_all else self._cut(theta, work.round)
        return self._message(theta, support)

    def upload_entries(self, round_: int) -> int | None:
        """The number of gated entries in a client's answer of a round; None: all."""
        sends_top = self.server_cuts and (self.task.settings.sparse_upload or self.step_cuts)
        return self.schedule.keep(round_) if sends_top else None

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        """The weighted average of the clients' weights."""
        theta = average(uploads, "theta", state["theta"])
        if not self.server_cuts:
            return {"theta": theta}
        theta, support = self._cut(theta, round_)
        return {"theta": theta} if support is None else {"theta": theta, "support": support}

    def effective(self, state: State) -> Tensor:
        """The weights themselves."""
        return state["theta"]

    def raw_scalars(self, view: State, scalars: State) -> State:
        """There are none."""
        return scalars

    def raw_effective(self, vectors: State) -> Tensor:
        """The weights themselves."""
        return vectors["theta"]

    def raw_start(self, seeds: Sequence[int]) -> tuple[State, State]:
        """The vectors and scalars whose changes `feedback` exchanges: the weights."""
        return {"theta": self.task.first_weights(seeds)}, {}

    def raw_steps(self, vectors: State, scalars: State, work: Work) -> None:
        """Gradient descent on the client's rows, in place."""
        check_vectors(self, vectors, len(work.seeds), STEPS)
        descend(vectors["theta"], work, "rate", self.cut)

    def _message(self, theta: Tensor, support: Tensor | None, implicit: bool = False) -> Message:
        return Message({"theta": Part(theta, support)}, {}, implicit, self.task.ungated)

    def _cut(self, theta: Tensor, round_: int) -> tuple[Tensor, Tensor | None]:
        keep = self.schedule.keep(round_)
        if keep is None:
            return theta, None
        support = self.cut.top(theta, keep)
        return theta * support, support


class SupportFinetuning(Weights):
    """The weights on a fixed support. A client receives the support, and answers with values only."""

    def __init__(self, task: Task, support: Tensor) -> None:
        super().__init__(task)
        self.support = support

    def download(self, state: State, round_: int) -> Message:
        """The kept weights."""
        return self._message(state["theta"], self.support)

    def update(self, received: Message, work: Work) -> Message:
        """Gradient descent on the client's rows, the gradient cut to the support."""
        descend(received["theta"], work, "finetune_rate", self.cut, only=received.support)
        # Without indices: the server sent this support itself, and the checksum notices another one.
        return self._message(received["theta"], received.support, implicit=True)


def descend(
    theta: Tensor, work: Work, rate: str, cut: Cut, keep: int | None = None, only: Tensor | None = None
) -> None:
    """Gradient descent of theta [runs, size] in place, at the setting `rate`.

    keep: the number of weights that each step keeps, None for all. only: the mask [runs, size] of weights that
    move.
    """
    settings = work.settings
    rows = work.data.arrays
    in_python(_descend, rows)(
        rows,
        theta.numpy(),
        work.batches,
        (settings.numbers(rate), settings.numbers("clip")),
        NO_SUPPORT if only is None else only.numpy(),
        0 if keep is None else keep,
        cut.bounds,
        cut.least,
    )


@compiled
def _descend(
    rows: Layout, theta: np.ndarray, batches: Batches, numbers: tuple, only: np.ndarray, keep: int, bounds: np.ndarray,
    least: np.ndarray,
) -> None:  # fmt: skip
    (steps, orders, size), (rates, limits) = batches, numbers
    gradients, marks = np.empty_like(theta), np.empty(theta.shape, np.bool_)
    for step in range(steps):
        # One call for all runs: products over the whole batch share each read of the client's rows.
        gradient(rows, theta, rows_of_step(orders, size, step), gradients)
        _step(theta, gradients, rates, limits, only)
        if keep:
            cut(theta, keep, bounds, least, marks)


@compiled
def _step(theta: np.ndarray, gradients: np.ndarray, rates: np.ndarray, limits: np.ndarray, only: np.ndarray) -> None:
    for run in range(len(theta)):
        gradient = gradients[run]
        if only.size:
            for index in range(gradient.size):
                # A choice, not a product with the mask: infinity times 0 would be NaN.
                gradient[index] = gradient[index] if only[run, index] else ZERO
        # After the mask, so that the norm covers only the weights that move.
        clip(gradient, limits[run])
        add(theta[run], gradient, -rates[run])
