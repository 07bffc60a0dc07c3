"""Error feedback: sparse changes in both directions from the first round; omitted parts are sent later.

Server and clients share a view v of the raw vectors (theta, or theta~ and phi). The server sends the compressed
difference between its vectors and the view, and everyone adds it to the view:

    down:    v += C(theta - v)
    client:  local steps from v to theta_k;  a = theta_k - v + e_k;  sends C(a), keeps e_k = a - C(a)
    server:  theta += sum_k w_k C(a_k)

C keeps the k largest entries. For phi, which the constraint shifts as a whole, it keeps the k largest deviations from
the median and one number, the mean of the others. A client that was not selected gets the messages that it missed with
its next one; their bytes count. Nothing is cut before the end of training.

Seide et al. (2014) for one worker; EF21 and EF21-P (Richtarik et al., 2021; Gruntkowska et al., 2023) for both ways;
Fed-EF (Li and Li, 2023) for local steps and clients that are not always selected. The pair (theta~ z, z), which E-FLoPS
normally averages, cannot be sent this way: theta~ = (theta~ z) / z would divide by outdated gates.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from eflops.errors import UserError
from eflops.training.messages import Message, Part
from eflops.training.methods.base import Method, State, Task, Upload, Work, average, check_vectors
from eflops.training.numerics.selection import compress


@runtime_checkable
class Raw(Protocol):
    """The interface that error feedback needs from a method: its raw vectors and scalars, and local steps on them.

    raw_limits: the largest magnitude of each vector's entries, by name. raw_drifting: the vector whose entries share a
    common drift, if there is one.
    """

    task: Task
    raw_limits: Mapping[str, float]
    raw_drifting: str

    def raw_start(self, seeds: Sequence[int]) -> tuple[State, State]: ...

    def raw_steps(self, vectors: State, scalars: State, work: Work) -> None: ...

    def raw_scalars(self, view: State, scalars: State) -> State: ...

    def raw_effective(self, vectors: State) -> Tensor: ...


def entries(share: float, gated: int) -> int:
    """k, the entries per vector and message."""
    # 0.29 * 100 is 28.999... in binary; the small number keeps floor from losing an entry.
    return max(1, math.floor(share * gated + 1e-9))


class Feedback:
    """A method whose messages are compressed changes. The state holds vectors, scalars, views and the next message."""

    def __init__(self, method: Raw) -> None:
        self.method, self.task = method, method.task
        self.keep = entries(self.task.settings.feedback, self.task.gated)

    def start(self, seeds: Sequence[int]) -> State:
        """The method's first vectors, which every client can compute from the seed, and a message without changes."""
        vectors, scalars = self.method.raw_start(seeds)
        # The view is the vectors themselves: clients compute them from the seed, so the first message has no changes.
        return self._state(vectors, scalars, vectors)

    def start_view(self, seeds: Sequence[int]) -> Message:
        """The first vectors and scalars."""
        vectors, scalars = self.method.raw_start(seeds)
        return Message({name: Part(values) for name, values in vectors.items()}, scalars, ungated=self.task.ungated)

    def start_memory(self, seeds: Sequence[int]) -> State:
        """e_k = 0."""
        widths = {name: self.task.size if name == "theta" else self.task.gated for name in self.method.raw_limits}
        return {name: torch.zeros(len(seeds), width) for name, width in widths.items()}

    def receive(self, view: Message, message: Message) -> Message:
        """v + C(theta - v), and the new scalars."""
        parts = {name: Part(self._moved(name, view[name], message[name])) for name in self.method.raw_limits}
        return Message(parts, message.scalars, ungated=self.task.ungated)

    def download(self, state: State, round_: int) -> Message:
        """C(theta - v), made at the end of the round before."""
        parts = {}
        for name in self.method.raw_limits:
            parts[name] = Part(state[f"sent {name}"], state[f"support {name}"], state.get(f"common {name}"))
        return Message(parts, self._scalars(state), ungated=self.task.ungated)

    def update(self, received: Message, work: Work) -> tuple[Message, State]:
        """Local steps from the view; sends their change plus the memory, compressed; the rest is the new memory."""
        vectors = {name: received[name].clone() for name in self.method.raw_limits}
        scalars = dict(received.scalars)
        self.method.raw_steps(vectors, scalars, work)
        parts, memory = {}, {}
        for name, values in vectors.items():
            # Two in-place steps in this order: (local - view) + memory. Another order would round differently.
            values -= received[name]
            values += work.memory[name]
            parts[name], memory[name] = self._compressed(name, values)
        return Message(parts, scalars, ungated=self.task.ungated), memory

    def upload_entries(self, round_: int) -> int | None:
        """k entries of each vector."""
        return self.keep

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        """theta + sum_k w_k C(a_k), and the next message."""
        vectors, view = {}, {}
        for name in self.method.raw_limits:
            change = average(uploads, name, state[name])
            # The server keeps all that arrives; only what it sends is compressed.
            vectors[name] = self._moved(name, state[name], change)
            view[name] = state[f"view {name}"]
        scalars = {name: average(uploads, name, values) for name, values in self._scalars(state).items()}
        return self._state(vectors, scalars, view)

    def effective(self, state: State) -> Tensor:
        """The method's effective parameters of the server's vectors."""
        return self.method.raw_effective(state)

    def watched(self, state: State) -> dict[str, Tensor]:
        """The method's `watched` numbers."""
        watch: Any = getattr(self.method, "raw_watched", None)
        return watch(state, self._scalars(state)) if watch else {}

    def _state(self, vectors: State, scalars: State, view: State) -> State:
        """The server's state with its next message, and the view after it."""
        state, views = dict(vectors), {}
        for name, values in vectors.items():
            part, _ = self._compressed(name, values - view[name])
            # Computed as clients compute theirs in `receive`, limit included, so that both stay equal bit by bit.
            views[name] = self._moved(name, view[name], part.values)
            state |= {f"view {name}": views[name], f"sent {name}": part.values}
            optional = {f"support {name}": part.support, f"common {name}": part.common}
            state |= {key: values for key, values in optional.items() if values is not None}
        # The multiplier restarts by the view and not by the server's vectors, because clients step from the view.
        return state | {f"scalar {name}": part for name, part in self.method.raw_scalars(views, scalars).items()}

    def _compressed(self, name: str, values: Tensor) -> tuple[Part, Tensor]:
        """C(values), computed in place, and the rest."""
        # Before compiled code, which does not check bounds.
        check_vectors(self.method, {name: values}, len(values), "of the raw vectors")  # type: ignore[arg-type]
        drift = name == self.method.raw_drifting
        # The rest is measured from what the receiver gets, so that message and memory together are the whole change.
        support, rest = torch.empty_like(values, dtype=torch.bool), torch.empty_like(values)
        common = values.new_empty(len(values))
        compress(values.numpy(), self.keep, self.task.gated, drift, support.numpy(), common.numpy(), rest.numpy())
        return Part(values, support, common if drift else None), rest

    def _moved(self, name: str, values: Tensor, change: Tensor) -> Tensor:
        limit = self.method.raw_limits[name]
        moved = values + change
        return moved if limit == math.inf else moved.clamp_(-limit, limit)

    def _scalars(self, state: State) -> State:
        return {name.removeprefix("scalar "): part for name, part in state.items() if name.startswith("scalar ")}


def with_feedback(method: Method, name: str) -> Method:
    """The method, with error feedback if its settings ask for it."""
    if getattr(method.task.settings.runs[0], "feedback", None) is None:
        return method
    if not isinstance(method, Raw) or getattr(method, "server_cuts", False):
        raise UserError(
            f"methods.{name}: feedback works only for methods that exchange raw vectors, E-FLoPS and FedAvg; remove it."
        )
    return Feedback(method)
