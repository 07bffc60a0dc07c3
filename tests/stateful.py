"""Custom methods whose clients remember: they must train alike on every engine."""

from collections.abc import Sequence
from typing import Any

from eflops.training.messages import Message, Part
from eflops.training.methods import fedavg
from eflops.training.methods.base import State, Upload, Work


class Counting(fedavg.Method):
    """Federated averaging whose clients remember how often they answered, and answer accordingly."""

    def start_memory(self, seeds: Sequence[int]) -> State:
        return {"answers": self.task.first_weights(seeds)[:, 0] * 0}

    def update(self, received: Message, work: Work) -> Any:
        answers = work.memory["answers"] + 1
        sent = super().update(received, work)
        return Message({"theta": Part(sent["theta"] / answers[:, None])}), {"answers": answers}


class Shifting(Counting):
    """The same, and clients share a view; even rounds move all of it by one number, odd ones send every change."""

    def start(self, seeds: Sequence[int]) -> State:
        first = super().start(seeds)["theta"]
        return {"theta": first, "view": first}

    def start_view(self, seeds: Sequence[int]) -> Message:
        return Message({"theta": Part(self.task.first_weights(seeds))})

    def receive(self, view: Message, message: Message) -> Message:
        return Message({"theta": Part(view["theta"] + message["theta"])})

    def download(self, state: State, round_: int) -> Message:
        change = state["theta"] - state["view"]
        if round_ % 2:
            return Message({"theta": Part(change)})
        common = change.sum(1) / change.shape[1]
        return Message({"theta": Part(common[:, None].expand_as(change).contiguous(), change != change, common)})

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        view = state["view"] + self.download(state, round_)["theta"]
        return {**super().aggregate(state, uploads, round_), "view": view}
