"""One run at a time: a run's data, model and noise as torch objects, and the record of its rounds."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from eflops.data.federation import Federation
from eflops.data.job import Job
from eflops.errors import UserError
from eflops.results.labels import Run
from eflops.training.engines.batched import prepare
from eflops.training.groups import Groups, groups_of
from eflops.training.messages import Message, Part
from eflops.training.methods.base import Method, Task, Upload
from eflops.training.methods.batches import Steps, chosen_rows, draw_batches
from eflops.training.models import model_facts
from eflops.training.modules import ModuleModel, built_in
from eflops.training.numerics.noise import normal, uniform
from eflops.training.rounds import Connect, sampled_clients
from eflops.training.training_log import EvaluationData, Progress, TrainingLog, pruned

PHASES = "training", "finetuning"


class State(NamedTuple):
    """The server's state: weights, gates and multiplier of gated methods, and the mask of kept weights (None for all).

    open_gates: the mask of kept gates, if weights share them.
    """

    theta: Tensor
    z: Any = None
    lam: Any = None
    support: Any = None
    open_gates: Any = None

    def message(self, ungated: int, implicit: bool = False) -> Message:
        """The state as a message, for counting bytes."""
        z, lam, support, open_gates = (None if part is None else part[None] for part in self[1:])
        parts = {"theta": Part(self.theta[None], support)}
        if z is None:
            return Message(parts, {}, implicit, ungated)
        parts["gates"] = Part(z, support if open_gates is None else open_gates, None if support is None else lam)
        return Message(parts, {"multiplier": self.lam[None]}, implicit, ungated)


class Round(NamedTuple):
    """A finished round: the server's message, a client's answer, the server's state, and the effective weights.

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
    """One run: the model, rows (x, y) of each client, how many are selected, m, settings and seed."""

    model: ModuleModel
    clients: Sequence[tuple[Tensor, Tensor]]
    selected: int
    target: int
    settings: Any
    seed: int

    @property
    def size(self) -> int:
        """|theta|."""
        return self.model.size

    @property
    def gated(self) -> int:
        """The number of parameters, the first ones, that may be gated and cut."""
        return self.model.gated

    @cached_property
    def groups(self) -> Groups | None:
        """The groups of weights that share gates; None if each weight has its own gate."""
        return groups_of(self.model, getattr(self.settings, "gates", "weight"))

    @property
    def gates(self) -> int:
        """How many gates there are."""
        return self.gated if self.groups is None else len(self.groups.sizes)

    def whole_groups(self, weights: Tensor) -> Tensor:
        """The weights; with shared gates, cut to the target group by group, so that a later cut by weight changes
        nothing."""
        if self.groups is None:
            return weights
        mask = self.groups.top(weights[: self.gated], self.target, self.settings.layer_floor)
        return torch.cat([weights[: self.gated] * mask, weights[self.gated :]])

    @property
    def group_sizes(self) -> Tensor | float:
        """How many weights each gate opens."""
        return 1.0 if self.groups is None else self.groups.sizes

    def with_ones(self, z: Tensor) -> Tensor:
        """Gates of all parameters: those of gated ones, and 1 of the others."""
        z = z if self.groups is None else z[self.groups.gate]
        return torch.cat([z, z.new_ones(self.size - self.gated)]) if self.gated < self.size else z

    @property
    def first_weights(self) -> Tensor:
        """The module's own, uniform within 1 / sqrt(incoming weights of a unit), or all 0."""
        kinds = {"module": self.model.module_initial, "uniform": self.model.initial}
        initial = kinds.get(self.settings.initial)
        return torch.zeros(self.size) if initial is None else initial(self.seed)

    def clients_of(self, round_: int) -> list[int]:
        """The clients of a round."""
        return sampled_clients((self.seed,), round_, len(self.clients), self.selected)[0].tolist()

    def selected_in(self, round_: int) -> list[tuple[int, float]]:
        """The clients of a round with their aggregation weights: by rows, or uniform."""
        chosen = self.clients_of(round_)
        rows = [len(self.clients[client][0]) if self.settings.weighting == "samples" else 1 for client in chosen]
        return [(client, count / sum(rows)) for client, count in zip(chosen, rows, strict=True)]

    def losses(self, client: int, round_: int, steps: Steps) -> Iterator[Callable[[Tensor], Tensor]]:
        """The loss of each local step, on its rows, as a function of the weights.

        Random numbers of the module follow from the seed, the round, the client, and how often a loss was computed.
        """
        x, y = self.clients[client]
        # The batches of the batched engine at the same address, so that both engines see the same rows in each step.
        drawn = draw_batches(len(x), steps, self.settings.batch_size, [self.seed], round_, client)
        turns = count()
        for step in range(drawn.steps):
            chosen = chosen_rows(drawn, step)
            rows = slice(None) if chosen is None else chosen[0]
            yield lambda weights, rows=rows: self.model.loss(  # type: ignore[misc]
                weights, x[rows], y[rows], (self.seed, round_, client, next(turns))
            )

    @property
    def first_noise(self) -> Tensor:
        """Standard normal numbers, one per gate."""
        return normal(self.seed, "first gates", self.gates)

    def gate_noise(self, client: int, round_: int) -> Iterator[Tensor]:
        """log u - log(1 - u) for uniform u, one draw of all gates after the other."""
        steps = sum(1 for _ in self.losses(client, round_, self.settings.local_steps))
        u = uniform([self.seed], "gates", (round_, client), steps * self.settings.samples, self.gates)
        # 2^-24, as LEAST_NOISE of the batched engine: the smallest step of the noise.
        yield from torch.logit(u[:, 0], torch.finfo(u.dtype).eps / 2)


@dataclass(frozen=True)
class Clients:
    """All clients in this process, the model, and the training function; takes the place of a transport."""

    model: ModuleModel
    rows: Sequence[tuple[Tensor, Tensor]]
    train: Callable[[Problem], Iterator[Round]]
    faults: Sequence[str] = ()
    channel: Mapping[str, int] = field(default_factory=dict)


class Server:
    """Trains one run and logs what every engine logs."""

    def __init__(
        self, task: Task, evaluation: EvaluationData, clients: Clients, evaluate_every: int, progress: Progress
    ) -> None:
        self.task, self.evaluation, self.clients = task, evaluation, clients
        self.evaluate_every, self.progress = evaluate_every, progress
        self.selected = max(1, math.floor(evaluation.client_fraction * len(evaluation.counts) + 1e-9))

    # `prepare` turns autograd off for the other engines.
    @torch.enable_grad()
    def run(self, method: Method, seeds: Sequence[int]) -> tuple[Tensor, TrainingLog]:
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
            # All answers of a round have as many bytes as this one; the weights do not matter for a count.
            uploads = [Upload(torch.tensor([0]), torch.ones(1), up)] * self.selected
            log.count(point.phase, problem.size, down, uploads, selected, point.replays)
            if not all(part.isfinite().all() for part in point.state if part is not None):
                log.diverged[0] = point.number + 1
                # As in the batched engine, a diverged run ends with weights of 0, so records have no NaN.
                theta.zero_()
            else:
                theta[0] = problem.whole_groups(point.weights) if point.phase == PHASES[0] else point.weights
            if log.diverged or self.is_shown(point):
                watched = {name: value.detach()[None] for name, value in point.watched.items()}
                log.evaluate(self.task, self.evaluation, point.phase, point.number, theta, watched, self.progress)
            if log.diverged:
                break
        return pruned(self.task, theta)[0], log

    def problem(self, seed: int) -> Problem:
        """The run with this seed."""
        (settings,) = self.task.settings.runs
        return Problem(self.clients.model, self.clients.rows, self.selected, self.task.target, settings, seed)

    def is_shown(self, point: Round) -> bool:
        """Whether the curve has a point after this round: some of each phase, and its last."""
        settings = self.task.settings
        starts = dict(zip(PHASES, (0, settings.rounds), strict=True))
        lasts = settings.rounds - 1, settings.rounds + settings.finetune_rounds - 1
        return point.number in lasts or (point.number - starts[point.phase]) % self.evaluate_every == 0


def messages(point: Round, ungated: int = 0) -> Iterator[Message]:
    """A round's messages, for counting bytes."""
    for sent, implicit in ((point.down, False), (point.up, point.phase == PHASES[1])):
        yield sent if isinstance(sent, Message) else sent.message(ungated, implicit)


def run(job: Job, work: Callable[[Connect, int], None], methods: Mapping[str, Callable], train: Callable) -> None:
    """Call `work` with one run at a time, trained by one of these methods."""
    name = job.spec.method
    if name not in methods:
        raise UserError(f"methods.{job.spec.name}.method: engine reference has {', '.join(methods)}, not {name}.")
    prepare()

    def connect(task: Task, federation: Federation, run: Run) -> Any:
        built: Any = task.model
        if not isinstance(built, ModuleModel):
            built = built_in(job.spec.model, federation.test.x.shape[1:], model_facts(job.spec, federation))
        rows = [(torch.from_numpy(block.x), torch.from_numpy(block.y)) for block in federation.clients]
        return Clients(built, rows, lambda problem: train(problem, methods[name]))

    work(connect, 1)
