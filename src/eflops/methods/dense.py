"""Federated averaging of plain weights: the common ground of the methods without gates."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from eflops.fused import descend
from eflops.methods.base import Payload, State, Task, Upload, Work, average, chosen_rows, clipped
from eflops.methods.cut import CutSchedule, top
from eflops.models.batch import with_room


class Weights:
    """Local gradient descent and weighted averaging; where the server and the clients cut is for subclasses to say."""

    server_cuts = False
    step_cuts = False

    def __init__(self, task: Task, **options: Any) -> None:
        self.task = task
        self.schedule = CutSchedule(task.settings, task.size, task.target)

    def start(self, seeds: Sequence[int]) -> State:
        """The model's own first weights."""
        return {"theta": torch.stack([self.task.model.initial(seed) for seed in seeds])}

    def download(self, state: State, round_: int) -> Payload:
        """The weights; once the server has cut them, only those kept."""
        return Payload(state["theta"], state.get("support"))

    def update(self, received: Payload, work: Work) -> Payload:
        """Gradient descent on the client's rows."""
        settings, theta = work.settings, with_room(*received.values.shape).copy_(received.values)
        rates = settings.numbers("rate")[:, 0]
        for step in range(work.batches.steps):
            gradient = self.task.model.gradient(theta, work.data, chosen_rows(work.batches, step))
            descend(theta.numpy(), clipped(gradient, settings.clip).numpy(), rates)
            if self.step_cuts:
                theta = self._cut(theta, work.round)[0]
        sends_top = self.server_cuts and (settings.sparse_upload or self.step_cuts)
        return Payload(*self._cut(theta, work.round)) if sends_top else Payload(theta)

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        """The weighted average of the clients' weights."""
        theta = average(uploads, lambda payload: payload.values, state["theta"])
        if not self.server_cuts:
            return {"theta": theta}
        theta, support = self._cut(theta, round_)
        return {"theta": theta} if support is None else {"theta": theta, "support": support}

    def effective(self, state: State) -> Tensor:
        """The weights themselves."""
        return state["theta"]

    def _cut(self, theta: Tensor, round_: int) -> tuple[Tensor, Tensor | None]:
        keep = self.schedule.keep(round_)
        if keep is None:
            return theta, None
        support = top(theta.abs(), keep, self.task.layers, self.task.settings.layer_floor)
        return theta * support, support
