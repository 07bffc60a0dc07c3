"""The finetuning phase: federated averaging of the weights on a support that no longer changes."""

from collections.abc import Sequence

from torch import Tensor

from eflops.training.methods.base import Payload, State, Task, Upload, Work, average
from eflops.training.methods.cut import Cut
from eflops.training.methods.descent import descend


class SupportFinetuning:
    """Only the kept weights move. A client is told which they are; its answer holds their values alone."""

    def __init__(self, task: Task, support: Tensor) -> None:
        self.task, self.support = task, support
        self._cut = Cut.of(task.layers, 0.0)

    def download(self, state: State, round_: int) -> Payload:
        """The kept weights."""
        return Payload(state["theta"], self.support)

    def update(self, received: Payload, work: Work) -> Payload:
        """Gradient descent on the client's rows, the gradient cut to the support."""
        descend(received.values, work, "finetune_rate", self._cut, only=received.support)
        return Payload(received.values, received.support, implicit=True)

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        """The weighted average of the clients' weights."""
        return {"theta": average(uploads, lambda payload: payload.values, state["theta"])}

    def effective(self, state: State) -> Tensor:
        """The weights themselves."""
        return state["theta"]
