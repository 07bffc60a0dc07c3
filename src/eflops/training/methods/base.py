"""What a method is: a few parts, on tensors with a leading axis of runs. No other code asks which method is running.

`start`      the server's state before the first round
`download`   the message that the server sends
`update`     what a client answers to the message it received, which it may change in place
`aggregate`  how the server combines the answers
`effective`  the parameters at which a state is evaluated

A method may also have
`watched`       numbers [runs] of its state, by name, that the curves of its runs show
`start_memory`  what a client remembers from one of its answers to the next, by name, [runs, ...]; `update` then gets
                it as `work.memory` and returns (message, memory)
`start_view`    what every client knows before the first round, as a message, and
`receive`       what a client that knew a view knows after a further message. The server then sends changes of the view,
                and a client that was not selected gets the messages that it missed with its next one

The engines keep memory and views, by run and client. A method object must not: it serves all clients and runs of a
block at once. So a method that changes itself in `update` is refused.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from eflops.errors import UserError
from eflops.training.messages import Message
from eflops.training.methods.batches import Batches, Steps, draw_batches
from eflops.training.methods.settings import RunSettings
from eflops.training.models.base import Layer, Model, Rows
from eflops.training.numerics.kernels import add_weighted, clip_rows

State = dict[str, Tensor]
# Where vectors come into compiled code, for messages.
STEPS = "at the start of local steps"


@dataclass(frozen=True)
class Task:
    """The problem that a method solves: the model, how many weights to keep, and the settings of its runs."""

    model: Model
    target: int
    settings: RunSettings

    @property
    def size(self) -> int:
        """|theta|."""
        return self.model.size

    @property
    def gated(self) -> int:
        """The number of parameters, the first ones, that may be gated and cut."""
        return self.model.gated

    @property
    def ungated(self) -> int:
        """The number of parameters, the last ones, that are neither gated nor cut."""
        return self.model.size - self.model.gated

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The model's layers."""
        return self.model.layers

    def first_weights(self, seeds: Sequence[int]) -> Tensor:
        """The initial weights of runs, [runs, size]: the model's, or 0 if `initial` is "zeros"."""
        zeros = self.settings.initial == "zeros"
        if zeros and len(self.layers) > 1:
            raise UserError(
                "initial: zeros gives all units of a layer the same weights; a network needs initial: uniform."
            )
        initial = (
            getattr(self.model, "module_initial", None) if self.settings.initial == "module" else self.model.initial
        )
        if initial is None:
            raise UserError(
                "initial: module uses the initial weights of a custom model; a built-in model needs initial: uniform."
            )
        first = torch.stack([initial(seed) for seed in seeds])
        return first.zero_() if zeros else first


class Work(NamedTuple):
    """The input of a client's local steps in one round.

    data: its rows. batches: the rows of each local step. seeds, settings: of the runs that selected it. memory: what
    `start_memory` or its last answer left, by name, [runs, ...]; it may be changed in place.
    """

    data: Rows
    batches: Batches
    seeds: Sequence[int]
    settings: RunSettings
    round: int
    client: int
    memory: State = {}


class Upload(NamedTuple):
    """A client's answer: which runs it is for, their aggregation weights [len(runs)], and the message."""

    runs: Tensor
    weights: Tensor
    message: Message


class Rounds(Protocol):
    """The part of a method that a phase of rounds needs."""

    task: Task

    def download(self, state: State, round_: int) -> Message:
        """The server's message to all clients that a round selects.

        Args:
            state: the server's, [runs, ...] by name.
            round_: from 0 on; finetuning continues the count.

        Returns:
            One message for all runs, its parts [runs, size] or [runs, gated].
        """

    def update(self, received: Message, work: Work) -> Message | tuple[Message, State]:
        """A client's answer; with its new memory if the method has `start_memory`.

        Args:
            received: the server's message, or the client's view after it; a copy, [runs, ...].
            work: the client's rows, batches and memory, and the runs' seeds and settings.

        Returns:
            A message with the same parts, [runs, ...]; the runs are those of `work`, not all of the block.
        """

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        """The server's next state.

        Args:
            state: the server's before the round, [runs, ...] by name.
            uploads: the answers in the order of the clients, each for the runs that selected the client. The weights of
                a run's answers sum to 1; `average` sums a part of the answers with these weights.
            round_: as in `download`.

        Returns:
            The state after the round; it may gain parts, such as a support.
        """

    def effective(self, state: State) -> Tensor:
        """The parameters [runs, size] at which a state is evaluated; the m largest are kept after training."""


@runtime_checkable
class HasMemory(Protocol):
    """The additional part of a method whose clients keep a memory between their answers."""

    def start_memory(self, seeds: Sequence[int]) -> State:
        """The memory before a client's first answer, by name, [runs, ...]; `update` also returns it."""


@runtime_checkable
class HasView(Protocol):
    """The additional parts of a method whose server sends changes of a view that all clients share."""

    def start_view(self, seeds: Sequence[int]) -> Message:
        """The view of every client before the first round."""

    def receive(self, view: Message, message: Message) -> Message:
        """The view after a further message."""


class Method(Rounds, Protocol):
    """A federated method, which a config entry names by module or as `module:Class`.

    One object serves all clients and runs of a block, so only `__init__` may set attributes. Inherit from a
    built-in method and override what differs. This one is federated averaging whose server moves every weight
    towards zero:

        class SoftThreshold(fedavg.Method):
            def aggregate(self, state, uploads, round_):
                theta = super().aggregate(state, uploads, round_)["theta"]
                return {"theta": theta.sign() * (theta.abs() - 0.001).clamp(min=0)}
    """

    def __init__(self, task: Task, **options: Any) -> None:
        """Set up everything that depends only on the task.

        Args:
            task: the model, how many weights to keep (m), and the settings of the runs.
            options: the `options` of the config entry, unchanged.
        """

    def start(self, seeds: Sequence[int]) -> State:
        """The server's state before the first round: tensors [runs, ...] by name, for runs with these seeds."""


def answer(
    method: Rounds,
    received: Message,
    data: Rows,
    seeds: Sequence[int],
    round_: int,
    client: int,
    steps: Steps,
    batch_size: int | None,
    runs: Sequence[int] | np.ndarray = (0,),
    memory: State | None = None,
) -> tuple[Message, State]:
    """A client's answer to a message, for the block's `runs` with these seeds, and its new memory."""
    batches = draw_batches(len(data), steps, batch_size, seeds, round_, client)
    settings = method.task.settings.of(runs)
    work = Work(data.at(seeds, round_, client), batches, seeds, settings, round_, client, memory or {})
    # A state on `self` would mix clients and runs, and would differ on Flower, whose clients are in other processes.
    before = _contents(method, round_)
    result = method.update(received, work)
    _check_unchanged(method, before, _contents(method, round_))
    what = f"client {client}'s answer"
    if not hasattr(method, "start_memory"):
        check_message(method, result, len(seeds), what)
        return result, {}  # type: ignore[return-value]
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], dict):
        raise UserError(
            f"{_named(method)}: {what} is {_described(result)}; with `start_memory` it must be (message, memory)."
        )
    message, after = result
    check_message(method, message, len(seeds), what)
    for name, part in work.memory.items():
        check_tensor(method, after.get(name), tuple(part.shape), f"memory {name!r} with {what}", part.dtype)
    return message, after


def check_message(method: Rounds, message: object, runs: int, what: str) -> None:
    """Reject a message with wrong shapes or types, because compiled code does not check bounds."""
    if not isinstance(message, Message):
        raise UserError(f"{_named(method)}: {what} is {_described(message)}; it must be a Message.")
    task = method.task
    if not message.parts:
        raise UserError(f"{_named(method)}: {what} has no parts; it needs at least one, such as 'theta'.")
    if message.ungated != task.ungated:
        right = f"the model has {task.ungated}: pass ungated=self.task.ungated"
        raise UserError(f"{_named(method)}: {what} states {message.ungated} ungated parameters; {right}.")
    # Ungated parameters stand behind the others in the first part, and theta always has them.
    whole = {*list(message.parts)[:1], "theta"}
    for name, part in message.parts.items():
        gated = name not in whole and isinstance(part.values, Tensor) and part.values.shape == (runs, task.gated)
        shape = runs, task.gated if gated else task.size
        check_tensor(method, part.values, shape, f"part {name!r} of {what}")
        if part.support is not None:
            wide = isinstance(part.support, Tensor) and part.support.shape == (runs, task.size)
            shape = (runs, task.size) if wide else shape
            check_tensor(method, part.support, shape, f"support of part {name!r} of {what}", torch.bool)
        if part.common is not None:
            check_tensor(method, part.common, (runs,), f"common value of part {name!r} of {what}")
    for name, scalar in message.scalars.items():
        check_tensor(method, scalar, (runs,), f"scalar {name!r} of {what}")


def check_tensor(
    method: Rounds, part: object, shape: tuple[int, ...], what: str, kind: torch.dtype = torch.float32
) -> None:
    """Reject anything but a tensor of this type and shape, with an error that names the method."""
    if not isinstance(part, Tensor) or part.dtype != kind or part.shape != shape:
        right = f"a tensor of {str(kind).removeprefix('torch.')} of shape {shape}"
        raise UserError(f"{_named(method)}: {what} is {_described(part)}; it must be {right}.")


def check_vectors(method: Rounds, vectors: State, runs: int, what: str) -> None:
    """Refuse vectors that compiled steps would read beyond their ends: theta has all parameters, gates only gated ones.

    Here and not only at messages, because a method may hand anything to the steps of the one that it inherits from.
    """
    for name, part in vectors.items():
        width = method.task.size if name == "theta" else method.task.gated
        check_tensor(method, part, (runs, width), f"{name!r} {what}")


def check_state(method: Rounds, state: object, runs: int, what: str) -> None:
    """Reject a state without one row per run, because compiled code does not check bounds."""
    if not isinstance(state, dict) or not state:
        raise UserError(f"{_named(method)}: {what} is {_described(state)}; it must be a dict of tensors by name.")
    for name, part in state.items():
        if not isinstance(part, Tensor) or part.ndim == 0 or len(part) != runs:
            right = f"a tensor with {runs} rows, one of each run"
            raise UserError(f"{_named(method)}: {name!r} of {what} is {_described(part)}; it must be {right}.")


def _contents(method: Rounds, round_: int) -> dict[str, object]:
    """A method's attributes by identity; in the first two rounds also by content, which is slower.

    Only objects of the method's module are inspected: settings cache computed values.
    """
    attributes = getattr(method, "__dict__", {})
    contents: dict[str, object] = {name: id(value) for name, value in attributes.items()}
    if round_ < 2:
        shared = {name: value for kind in reversed(type(method).__mro__) for name, value in vars(kind).items()}
        for name, value in {**shared, **attributes}.items():
            if not name.startswith("__"):
                contents[name] = id(value), _content(value, type(method).__module__)
    return contents


def _content(value: object, module: str, depth: int = 4) -> object:
    if depth and isinstance(value, Tensor | np.ndarray):
        return hash((value.detach().numpy() if isinstance(value, Tensor) else value).tobytes())
    if depth and type(value).__module__ == module and hasattr(value, "__dict__"):
        value = vars(value)
    if depth and isinstance(value, dict):
        return {key: _content(part, module, depth - 1) for key, part in value.items()}
    if depth and isinstance(value, list | tuple | set | deque):
        return [_content(part, module, depth - 1) for part in value]
    return id(value)


def _check_unchanged(method: Rounds, before: dict[str, object], after: dict[str, object]) -> None:
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            right = "store a client's state in the memory that `start_memory` creates and `update` returns"
            raise UserError(
                f"{_named(method)}: `update` changed self.{name}, which all clients and runs share; {right}."
            )


def _named(method: Rounds) -> str:
    return f"method {type(method).__module__}:{type(method).__qualname__}"


def _described(part: object) -> str:
    if isinstance(part, Tensor):
        return f"a tensor of {str(part.dtype).removeprefix('torch.')} of shape {tuple(part.shape)}"
    return "None" if part is None else f"of type {type(part).__name__}"


def average(uploads: Sequence[Upload], name: str, like: Tensor) -> Tensor:
    """The weighted sum of a part or a scalar of the answers, run by run, in the order of the clients.

    A run without answers would have a sum of zero; engines always select at least one client per run.
    """
    total = torch.zeros_like(like)
    rows = total.view(len(total), -1).numpy()
    for upload in uploads:
        runs, values = upload.runs.numpy(), upload.message[name].numpy().reshape(len(upload.runs), -1)
        # Compiled code would go beyond the ends.
        if values.shape[1] != rows.shape[1]:
            raise UserError(f"{name!r} of an answer has {values.shape[1]} values; the average has {rows.shape[1]}.")
        if runs.max(initial=0) >= len(rows):
            raise UserError(f"{name!r} is averaged for {len(rows)} runs, and run {runs.max()} has an answer.")
        add_weighted(rows, runs, upload.weights.numpy(), values)
    return total


def clipped(gradient: Tensor, limit: float | Tensor | None) -> Tensor:
    """`gradient` [runs, width] clipped, run by run, to a Euclidean norm of at most `limit`, in place."""
    if limit is None:
        return gradient
    limits = limit[:, 0].float() if isinstance(limit, Tensor) else torch.full((len(gradient),), limit)
    if len(limits) != len(gradient):
        raise UserError(f"{len(gradient)} gradients are clipped with {len(limits)} limits; give one for each run.")
    clip_rows(gradient.numpy(), limits.numpy())
    return gradient
