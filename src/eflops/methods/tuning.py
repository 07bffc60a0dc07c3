"""The tuning phase: federated averaging of the weights on a support that no longer changes."""

from collections.abc import Sequence

from torch import Tensor

from eflops.fused import descend
from eflops.methods.base import Payload, State, Task, Upload, Work, average, chosen_rows, clipped
from eflops.models.batch import with_room


class SupportTuning:
    """Only the kept weights move. A client is told which they are; its answer holds their values alone."""

    def __init__(self, task: Task, support: Tensor) -> None:
        self.task, self.support = task, support

    def download(self, state: State, round_: int) -> Payload:
        """The kept weights."""
        return Payload(state["theta"], self.support)

    def update(self, received: Payload, work: Work) -> Payload:
        """Gradient descent on the client's rows, the gradient cut to the support."""
        settings, theta = work.settings, with_room(*received.values.shape).copy_(received.values)
        rates = settings.numbers("tune_rate")[:, 0]
        assert received.support is not None
        for step in range(work.batches.steps):
            gradient = self.task.model.gradient(theta, work.data, chosen_rows(work.batches, step))
            gradient = clipped(gradient.mul_(received.support), settings.clip)
            descend(theta.numpy(), gradient.numpy(), rates)
        return Payload(theta, received.support, implicit=True)

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        """The weighted average of the clients' weights."""
        return {"theta": average(uploads, lambda payload: payload.values, state["theta"])}

    def effective(self, state: State) -> Tensor:
        """The weights themselves."""
        return state["theta"]
