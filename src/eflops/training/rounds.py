"""The server's side of training: rounds, and runs that diverge.

An engine provides a `Transport`, which delivers the server's messages to clients and returns their answers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from eflops.data.federation import Federation
from eflops.errors import UserError
from eflops.results.labels import Run
from eflops.rng import numpy_generator
from eflops.training.messages import Message
from eflops.training.methods.base import Method, Rounds, State, Task, Upload, check_message, check_state, check_tensor
from eflops.training.methods.batches import Steps
from eflops.training.methods.dense import SupportFinetuning
from eflops.training.numerics.kernels import finite_rows
from eflops.training.training_log import EvaluationData, Progress, TrainingLog, pruned

# Rounds whose clients are drawn at once.
CHUNK = 64


@dataclass(frozen=True)
class Phase:
    """A sequence of rounds with one method: training or finetuning."""

    name: str
    method: Rounds
    first_round: int
    rounds: int
    steps: Steps
    batch_size: int | None


class Transport(Protocol):
    """Delivers a message to the selected clients and returns their answers, in the order of the clients.

    `faults` lists failed clients with their rounds, `channel` counts the bytes on the channel.
    """

    @property
    def faults(self) -> Sequence[str]: ...

    @property
    def channel(self) -> Mapping[str, int]: ...

    def exchange(self, phase: Phase, download: Message, selected: "ClientSelection", round_: int) -> list[Upload]: ...


@dataclass(frozen=True)
class ClientSelection:
    """The selected clients of each run in a round: `weights` [runs, clients], zero if a client is not selected."""

    seeds: Sequence[int]
    weights: Tensor


Connect = Callable[[Task, Federation, Run], Transport]


class Server:
    """Trains all runs of a block: the method's rounds, then the finetuning rounds on the resulting support."""

    def __init__(
        self, task: Task, evaluation: EvaluationData, transport: Transport, evaluate_every: int, progress: Progress
    ) -> None:
        self.task, self.evaluation, self.transport = task, evaluation, transport
        self.evaluate_every, self.progress = evaluate_every, progress
        # 0.29 * 100 is 28.999... in binary; the small number keeps floor from losing a client.
        self.selected = max(1, math.floor(evaluation.client_fraction * len(evaluation.counts) + 1e-9))

    def run(self, method: Method, seeds: Sequence[int]) -> tuple[Tensor, TrainingLog]:
        """The final sparse parameters [runs, width] and the log."""
        settings, log = self.task.settings, TrainingLog()
        if getattr(settings.runs[0], "gates", "weight") != "weight":
            raise UserError(f"gates: {settings.gates} is trained by the reference engine alone, and not on Flower.")
        training = Phase("training", method, 0, settings.rounds, settings.local_steps, settings.batch_size)
        first = method.start(seeds)
        check_state(method, first, len(seeds), "what `start` returns")
        state = self._phase(training, first, seeds, log)
        # Cut by the effective parameters, at which the state was evaluated, not by the raw weights behind the gates.
        theta, support = pruned(self.task, effective(method, state, len(seeds)))
        finetuning = Phase(
            "finetuning",
            SupportFinetuning(self.task, support),
            settings.rounds,  # rounds go on counting, so that finetuning draws other random numbers than training
            settings.finetune_rounds,
            settings.finetune_steps,
            settings.batch_size,
        )
        state = self._phase(finetuning, {"theta": theta}, seeds, log)
        return state["theta"], log

    def _phase(self, phase: Phase, state: State, seeds: Sequence[int], log: TrainingLog) -> State:
        log.begin(phase.name, len(seeds))
        for turn in range(phase.rounds):
            round_ = phase.first_round + turn
            selected = self._select(seeds, round_)
            download = phase.method.download(state, round_)
            # Once per message, before compiled code reads it without checking bounds.
            check_message(phase.method, download, len(seeds), "the server's message")
            uploads = self.transport.exchange(phase, download, selected, round_)
            replays = hasattr(phase.method, "receive")
            log.count(phase.name, self.task.size, download, uploads, selected.weights.numpy() > 0, replays)
            state = phase.method.aggregate(state, uploads, round_)
            check_state(phase.method, state, len(seeds), "what `aggregate` returns")
            state = self._stop_diverged(state, len(seeds), round_, log)
            # The last round always, because the run's final metrics are the last point of its curve.
            last = turn == phase.rounds - 1
            if last or turn % self.evaluate_every == 0:
                watched = phase.method.watched(state) if hasattr(phase.method, "watched") else {}
                theta = effective(phase.method, state, len(seeds))
                log.evaluate(self.task, self.evaluation, phase.name, round_, theta, watched, self.progress)
        return state

    def _select(self, seeds: Sequence[int], round_: int) -> ClientSelection:
        """K = floor(fraction C) clients for each run, weighted by their rows or evenly."""
        counts = self.evaluation.counts
        size = counts if self.task.settings.weighting == "samples" else np.ones(len(counts))
        chosen = sampled_clients(tuple(seeds), round_, len(counts), self.selected)
        # A matrix with zeros, not a list for each run: the engine finds all runs of a client in one column.
        weights = np.zeros((len(seeds), len(counts)), np.float32)
        weights[np.arange(len(seeds))[:, None], chosen] = size[chosen] / size[chosen].sum(1, keepdims=True)
        return ClientSelection(seeds, torch.from_numpy(weights))

    def _stop_diverged(self, state: State, runs: int, round_: int, log: TrainingLog) -> State:
        """Log runs whose state is no longer finite, and set them to zero."""
        finite = np.ones(runs, np.bool_)
        for part in state.values():
            if part.is_floating_point():
                finite_rows(part.reshape(runs, -1).numpy(), finite)
        if finite.all():
            return state
        # Zeros keep the batch in shape. The other runs do not notice, because no operation mixes rows.
        lost = np.flatnonzero(~finite).tolist()
        for run in lost:
            log.diverged.setdefault(run, round_ + 1)
        # A copy: parts of the state may still be those of the message that was sent.
        state = {name: part.clone() for name, part in state.items()}
        for part in state.values():
            part[lost] = 0
        return state


def effective(method: Rounds, state: State, runs: int) -> Tensor:
    """The parameters [runs, size] at which a state is evaluated, after checking their shape."""
    theta = method.effective(state)
    check_tensor(method, theta, (runs, method.task.size), "what `effective` returns")
    return theta


def sampled_clients(seeds: tuple[int, ...], round_: int, clients: int, selected: int) -> np.ndarray:
    """The clients that each run selects in a round, [runs, selected] in ascending order."""
    chunk, turn = divmod(round_, CHUNK)
    return _sampled(seeds, chunk, clients, selected)[turn]


@lru_cache(maxsize=4)
def _sampled(seeds: tuple[int, ...], chunk: int, clients: int, selected: int) -> np.ndarray:
    """[CHUNK, runs, selected]: making a generator costs more than drawing from it."""
    # A stable sort, and then ascending clients: the order of summation must not depend on the draw.
    draws = [numpy_generator(seed, "clients", chunk).random((CHUNK, clients)) for seed in seeds]
    return np.sort(np.argsort(draws, 2, kind="stable")[..., :selected], 2).swapaxes(0, 1)
