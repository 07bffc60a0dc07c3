"""One run at a time: a run's data, model and noise as torch sees them, and how its rounds become a record."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from eflops.data.federation import Federation
from eflops.errors import UserError
from eflops.training.engines.batched import prepare
from eflops.training.messages import Message, Part
from eflops.training.methods.base import Task, Upload
from eflops.training.methods.batches import Steps, chosen_rows, draw_batches
from eflops.training.models.base import Layer
from eflops.training.models.network import KERNEL, POOL, cnn_stages
from eflops.training.numerics.noise import normal, uniform
from eflops.training.rounds import Connect, sampled_clients
from eflops.training.training_log import EvaluationData, Progress, TrainingLog, pruned

PHASES = "training", "finetuning"


class State(NamedTuple):
    """What the server has: weights, gates and multiplier of gated methods, and which weights; None where all are."""

    theta: Tensor
    z: Any = None
    lam: Any = None
    support: Any = None

    def message(self, ungated: int, implicit: bool = False) -> Message:
        """The state as it is sent, in the form that bytes are counted in."""
        z, lam, support = (None if part is None else part[None] for part in self[1:])
        parts = {"theta": Part(self.theta[None], support)}
        if z is None:
            return Message(parts, {}, implicit, ungated)
        parts["gates"] = Part(z, support, None if support is None else lam)
        return Message(parts, {"multiplier": self.lam[None]}, implicit, ungated)


class Round(NamedTuple):
    """A round that is over: the server's message, a client's answer, the server's state, the weights it stands for.

    replays: a client also gets the messages that it missed.
    """

    phase: str
    number: int
    down: State | Message
    up: State | Message
    state: State
    weights: Tensor
    watched: Mapping[str, Tensor] = MappingProxyType({})
    replays: bool = False


@dataclass(frozen=True)
class Problem:
    """One run: the model as a torch module, rows (x, y) of each client, how many are selected, m, settings and seed.

    gated: how many parameters, the first ones, may be gated and cut; parts: the layers that they belong to.
    """

    module: nn.Module
    clients: Sequence[tuple[Tensor, Tensor]]
    selected: int
    gated: int
    parts: Sequence[Layer]
    target: int
    settings: Any
    seed: int

    @property
    def size(self) -> int:
        """|theta|."""
        return sum(part.numel() for part in self.module.parameters())

    def with_ones(self, z: Tensor) -> Tensor:
        """Gates of all parameters: those of gated ones, and 1 of the others."""
        return torch.cat([z, z.new_ones(self.size - self.gated)]) if self.gated < self.size else z

    def loss(self, weights: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """The mean loss of flat weights: squared error, or cross-entropy where labels are classes."""
        parameters = dict(self.module.named_parameters())
        parts = weights.split([part.numel() for part in parameters.values()])
        named = {name: part.view_as(like) for (name, like), part in zip(parameters.items(), parts, strict=True)}
        output = torch.func.functional_call(self.module, named, (x,))
        return mse_loss(output[:, 0], y) if y.is_floating_point() else cross_entropy(output, y)

    @property
    def layers(self) -> list[nn.Module]:
        """The layers that have weights."""
        return [layer for layer in self.module.modules() if list(layer.parameters(recurse=False))]

    def by_layer(self, values: Tensor) -> Sequence[Tensor]:
        """Flat values layer by layer."""
        return values.split([sum(part.numel() for part in layer.parameters()) for layer in self.layers])

    @property
    def first_weights(self) -> Tensor:
        """Uniform within 1 / sqrt(incoming weights of a unit), as torch starts a layer, or all 0."""
        if self.settings.initial == "zeros":
            return torch.zeros(self.size)
        numbers = uniform([self.seed], "first weights", (), 1, self.size)[0, 0] * 2 - 1
        parts = zip(self.by_layer(numbers), self.layers, strict=True)
        return torch.cat([part / math.sqrt(next(layer.parameters())[0].numel()) for part, layer in parts])

    def clients_of(self, round_: int) -> list[int]:
        """The clients of a round."""
        return sampled_clients((self.seed,), round_, len(self.clients), self.selected)[0].tolist()

    def selected_in(self, round_: int) -> list[tuple[int, float]]:
        """The clients of a round with their weights in averages: by rows, or even."""
        chosen = self.clients_of(round_)
        rows = [len(self.clients[client][0]) if self.settings.weighting == "samples" else 1 for client in chosen]
        return [(client, count / sum(rows)) for client, count in zip(chosen, rows, strict=True)]

    def batches(self, client: int, round_: int, steps: Steps) -> Iterator[tuple[Tensor, Tensor]]:
        """The rows of each local step."""
        x, y = self.clients[client]
        drawn = draw_batches(len(x), steps, self.settings.batch_size, [self.seed], round_, client)
        for step in range(drawn.steps):
            rows = chosen_rows(drawn, step)
            yield (x, y) if rows is None else (x[rows[0]], y[rows[0]])

    @property
    def first_noise(self) -> Tensor:
        """Standard normal numbers, one per gate."""
        return normal(self.seed, "first gates", self.gated)

    def gate_noise(self, client: int, round_: int) -> Iterator[Tensor]:
        """log u - log(1 - u) for uniform u, one draw of all gates after the other."""
        steps = sum(1 for _ in self.batches(client, round_, self.settings.local_steps))
        u = uniform([self.seed], "gates", (round_, client), steps * self.settings.samples, self.gated)
        yield from torch.logit(u[:, 0], torch.finfo(u.dtype).eps / 2)


@dataclass(frozen=True)
class Clients:
    """All clients in this process, the model as a torch module, and what trains it: takes the place of a transport."""

    module: nn.Module
    rows: Sequence[tuple[Tensor, Tensor]]
    train: Callable[[Problem], Iterator[Round]]
    faults: Sequence[str] = ()
    channel: Mapping[str, int] = field(default_factory=dict)


class Server:
    """Trains one run and keeps of it what every engine keeps."""

    def __init__(
        self, task: Task, evaluation: EvaluationData, clients: Clients, evaluate_every: int, progress: Progress
    ) -> None:
        self.task, self.evaluation, self.clients = task, evaluation, clients
        self.evaluate_every, self.progress = evaluate_every, progress
        self.selected = max(1, math.floor(evaluation.client_fraction * len(evaluation.counts) + 1e-9))

    @torch.enable_grad()
    def run(self, method: Any, seeds: Sequence[int]) -> tuple[Tensor, TrainingLog]:
        """The final sparse parameters [1, size] of a run, and its log."""
        (seed,) = seeds
        problem, log = self.problem(seed), TrainingLog()
        theta = torch.zeros(1, problem.size)
        for phase in PHASES:
            log.begin(phase, 1)
        for point in self.clients.train(problem):
            down, up = messages(point, self.task.ungated)
            selected = np.zeros((1, len(self.evaluation.counts)), np.bool_)
            selected[0, problem.clients_of(point.number)] = True
            uploads = [Upload(torch.tensor([0]), torch.ones(1), up)] * self.selected
            log.count(point.phase, problem.size, down, uploads, selected, point.replays)
            if not all(part.isfinite().all() for part in point.state if part is not None):
                log.diverged[0] = point.number + 1
                theta.zero_()
            else:
                theta[0] = point.weights
            if log.diverged or self.is_shown(point):
                watched = {name: value.detach()[None] for name, value in point.watched.items()}
                log.evaluate(self.task, self.evaluation, point.phase, point.number, theta, watched, self.progress)
            if log.diverged:
                break
        return pruned(self.task, theta)[0], log

    def problem(self, seed: int) -> Problem:
        """The run with this seed."""
        (settings,) = self.task.settings.runs
        task, clients = self.task, self.clients
        return Problem(
            clients.module, clients.rows, self.selected, task.gated, task.layers, task.target, settings, seed
        )

    def is_shown(self, point: Round) -> bool:
        """Whether the curve has a point after this round: some of each phase, and its last."""
        settings = self.task.settings
        starts = dict(zip(PHASES, (0, settings.rounds), strict=True))
        lasts = settings.rounds - 1, settings.rounds + settings.finetune_rounds - 1
        return point.number in lasts or (point.number - starts[point.phase]) % self.evaluate_every == 0


def messages(point: Round, ungated: int = 0) -> Iterator[Message]:
    """A round's messages in the form that their bytes are counted in."""
    for sent, implicit in ((point.down, False), (point.up, point.phase == PHASES[1])):
        yield sent if isinstance(sent, Message) else sent.message(ungated, implicit)


def as_module(model: str, shape: tuple[int, ...], meta: dict[str, Any]) -> nn.Module:
    """The model as a torch module whose parameters, one after the other, are the flat weights."""
    if model == "linear":
        return nn.Linear(shape[0], 1, bias=False)
    if model == "softmax":
        return nn.Linear(shape[0], meta["classes"], bias=False)
    first, second, *dense = cnn_stages(shape, meta["classes"])
    layers: list[nn.Module] = []
    for stage in (first, second):
        layers += nn.Conv2d(stage.sources, stage.units, KERNEL), nn.MaxPool2d(POOL), nn.ReLU()
    layers.append(nn.Flatten())
    for stage in dense:
        layers += nn.Linear(stage.sources * stage.taps, stage.units), nn.ReLU()
    return nn.Sequential(*layers[:-1])


def run(job: Any, work: Callable[[Connect, int], None], methods: Mapping[str, Callable], train: Callable) -> None:
    """Do `work` with one run at a time, trained by one of these methods."""
    name = job.slice["method"]
    if name not in methods:
        raise UserError(f"methods.{job.slice['name']}.method: engine reference has {', '.join(methods)}, not {name}.")
    prepare()

    def connect(task: Task, federation: Federation, run: Any) -> Any:
        module = as_module(job.slice["model"], federation.test.x.shape[1:], federation.meta)
        rows = [(torch.from_numpy(block.x), torch.from_numpy(block.y)) for block in federation.clients]
        return Clients(module, rows, lambda problem: train(problem, methods[name]))

    work(connect, 1)
