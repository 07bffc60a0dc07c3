"""What a method is: four parts, on tensors with a leading axis of runs. Nothing else in the code asks which one runs.

`start`      the server's state before the first round
`update`     what a client makes of the message it gets, which is its own to change
`aggregate`  how the server adds the answers up
`effective`  the parameters that the state would be judged by
and `download`, the message that the server sends. A method may also have `watched`: numbers [runs] of its state, by
name, that the curves of its runs show.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from eflops.errors import UserError
from eflops.training.methods.batches import Batches, Steps, draw_batches
from eflops.training.methods.settings import RunSettings
from eflops.training.models.base import Layer, Model, Rows
from eflops.training.numerics.kernels import add_weighted, clip_rows

State = dict[str, Tensor]


@dataclass(frozen=True)
class Task:
    """What a method knows of the problem: the model, how many weights to keep, and the settings of its runs."""

    model: Model
    target: int
    settings: RunSettings

    @property
    def size(self) -> int:
        """|theta|."""
        return self.model.size

    @property
    def gated(self) -> int:
        """How many parameters, the first ones, may be gated and cut."""
        return self.model.gated

    @property
    def ungated(self) -> int:
        """How many parameters, the last ones, are neither gated nor cut."""
        return self.model.size - self.model.gated

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The model's layers."""
        return self.model.layers

    def first_weights(self, seeds: Sequence[int]) -> Tensor:
        """The weights that runs start from, [runs, size]: the model's own, or 0 where `initial` is "zeros"."""
        zeros = self.settings.initial == "zeros"
        if zeros and len(self.layers) > 1:
            raise UserError("initial: zeros starts all units of a layer alike; a network needs initial: uniform.")
        initial = (
            getattr(self.model, "module_initial", None) if self.settings.initial == "module" else self.model.initial
        )
        if initial is None:
            raise UserError("initial: module takes the first weights of a model of your own; this one has uniform.")
        first = torch.stack([initial(seed) for seed in seeds])
        return first.zero_() if zeros else first


class Payload(NamedTuple):
    """A message between server and clients, for several runs at once, already as lossy as it is on the wire.

    values: [runs, size]; support: the mask [runs, size] of what is sent, None if all is; gates: [runs, gated]; off the
    support values are 0 and gates are `tail` [runs]; multiplier: [runs]; implicit: the receiver knows the support, and
    it is not sent; ungated: how many parameters, the last ones, are always sent, without indices and gates.
    """

    values: Tensor
    support: Tensor | None = None
    gates: Tensor | None = None
    tail: Tensor | None = None
    multiplier: Tensor | None = None
    implicit: bool = False
    ungated: int = 0

    def kept(self, size: int) -> int:
        """How many of `size` weights a run's message carries, the same for all runs."""
        return size if self.support is None else int(np.count_nonzero(self.support[0].numpy()))

    def dealt(self, index: Tensor, sizes: list[int]) -> Iterator["Payload"]:
        """Copies of the rows `index`, the first `sizes[0]` of them in one payload, the next `sizes[1]` in another."""
        whole = self.values, self.support, self.gates, self.tail, self.multiplier
        absent = (None,) * len(sizes)
        parts = (absent if part is None else part.index_select(0, index).split_with_sizes(sizes) for part in whole)
        return (Payload._make((*own, self.implicit, self.ungated)) for own in zip(*parts, strict=True))


class Work(NamedTuple):
    """What a client works with in one round: its data, the runs' seeds and settings, and where it stands."""

    data: Rows
    batches: Batches
    seeds: Sequence[int]
    settings: RunSettings
    round: int
    client: int


class Upload(NamedTuple):
    """A client's answer: which runs it is for, their aggregation weights [len(runs)], and the message."""

    runs: Tensor
    weights: Tensor
    payload: Payload


class Rounds(Protocol):
    """What a stretch of rounds needs of a method."""

    task: Task

    def download(self, state: State, round_: int) -> Payload: ...

    def update(self, received: Payload, work: Work) -> Payload: ...

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State: ...

    def effective(self, state: State) -> Tensor: ...


class Method(Rounds, Protocol):
    """A federated method; see the module's docstring."""

    def __init__(self, task: Task, **options: Any) -> None: ...

    def start(self, seeds: Sequence[int]) -> State: ...


def answer(
    method: Rounds,
    received: Payload,
    data: Rows,
    seeds: Sequence[int],
    round_: int,
    client: int,
    steps: Steps,
    batch_size: int | None,
    runs: Sequence[int] | np.ndarray = (0,),
) -> Payload:
    """What a client answers to a message, for the block's `runs`, which have these seeds."""
    batches = draw_batches(len(data), steps, batch_size, seeds, round_, client)
    sent = method.update(
        received, Work(data.at(seeds, round_, client), batches, seeds, method.task.settings.of(runs), round_, client)
    )
    check_message(method, sent, len(seeds), f"client {client}'s answer")
    return sent


def check_message(method: Rounds, message: Any, runs: int, what: str) -> None:
    """Refuse a message that compiled code would read beyond its ends: once per message, whatever the method is."""
    if not isinstance(message, Payload):
        raise UserError(f"{_named(method)}: {what} is {_described(message)}; it must be a Payload.")
    task = method.task
    expected: dict[str, tuple[torch.dtype, tuple[int, ...]]] = {
        "values": (torch.float32, (runs, task.size)),
        "gates": (torch.float32, (runs, task.gated)),
        "support": (torch.bool, (runs, task.size)),
        **dict.fromkeys(("tail", "multiplier"), (torch.float32, (runs,))),
    }
    for name, (kind, shape) in expected.items():
        part = getattr(message, name)
        if part is not None or name == "values":
            check_tensor(method, part, shape, f"part {name!r} of {what}", kind)


def check_tensor(
    method: Rounds, part: Any, shape: tuple[int, ...], what: str, kind: torch.dtype = torch.float32
) -> None:
    """Refuse what is not a tensor of this type and shape, in a sentence that names the method."""
    if not isinstance(part, Tensor) or part.dtype != kind or part.shape != shape:
        right = f"a tensor of {str(kind).removeprefix('torch.')} of shape {shape}"
        raise UserError(f"{_named(method)}: {what} is {_described(part)}; it must be {right}.")


def _named(method: Any) -> str:
    return f"method {type(method).__module__}:{type(method).__qualname__}"


def _described(part: Any) -> str:
    if isinstance(part, Tensor):
        return f"a tensor of {str(part.dtype).removeprefix('torch.')} of shape {tuple(part.shape)}"
    return "None" if part is None else f"of type {type(part).__name__}"


def average(uploads: Sequence[Upload], part: Callable[[Payload], Tensor], like: Tensor) -> Tensor:
    """The weighted sum of a part of the answers, run by run, in the order of the clients.

    Runs that no client answered for keep a sum of zero; the engine never lets that happen.
    """
    total = torch.zeros_like(like)
    rows = total.view(len(total), -1).numpy()
    for upload in uploads:
        runs = upload.runs.numpy()
        add_weighted(rows, runs, upload.weights.numpy(), part(upload.payload).numpy().reshape(len(runs), -1))
    return total


def clipped(gradient: Tensor, limit: float | Tensor | None) -> Tensor:
    """`gradient` [runs, width] shortened, run by run, to a Euclidean norm of at most `limit`, in place."""
    if limit is None:
        return gradient
    limits = limit[:, 0].float() if isinstance(limit, Tensor) else torch.full((len(gradient),), limit)
    clip_rows(gradient.numpy(), limits.numpy())
    return gradient
