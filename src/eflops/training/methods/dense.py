"""Federated averaging of plain weights: the common ground of the methods without gates."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from eflops.training.methods.base import Payload, State, Task, Upload, Work, average
from eflops.training.methods.cut import Cut, CutSchedule
from eflops.training.methods.descent import descend


class Weights:
    """Local gradient descent and weighted averaging; where the server and the clients cut is for subclasses to say."""

    server_cuts = False
    step_cuts = False

    def __init__(self, task: Task, **options: Any) -> None:
        self.task = task
        self.schedule = CutSchedule(task.settings, task.size, task.target)
        self.cut = Cut.of(task.layers, task.settings.layer_floor)

    def start(self, seeds: Sequence[int]) -> State:
        """The first weights."""
        return {"theta": self.task.first_weights(seeds)}

    def download(self, state: State, round_: int) -> Payload:
        """The weights; once the server has cut them, only those kept."""
        return Payload(state["theta"], state.get("support"))

    def update(self, received: Payload, work: Work) -> Payload:
        """Gradient descent on the client's rows."""
        theta = received.values
        descend(theta, work, "rate", self.cut, self.schedule.keep(work.round) if self.step_cuts else None)
        sends_top = self.server_cuts and (work.settings.sparse_upload or self.step_cuts)
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
        support = self.cut.top(theta, keep)
        return theta * support, support
