"""The server's side of training: rounds, and runs that diverge.

An engine is a `Transport`: it takes the server's message to the clients and brings their answers back.
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
from eflops.results.labels import Run
from eflops.rng import numpy_generator
from eflops.training.methods.base import Method, Payload, Rounds, State, Task, Upload
from eflops.training.methods.batches import Steps
from eflops.training.methods.dense import SupportFinetuning
from eflops.training.numerics.kernels import finite_rows
from eflops.training.tally import Bench, Progress, Tally, judged

CHUNK = 64


@dataclass(frozen=True)
class Phase:
    """A stretch of rounds under one method."""

    name: str
    method: Rounds
    first_round: int
    rounds: int
    steps: Steps
    batch_size: int | None


class Transport(Protocol):
    """Brings a message to the clients that are asked and their answers back, in the order of the clients.

    `faults` says which clients failed and when, `channel` counts the bytes that the channel itself carried.
    """

    @property
    def faults(self) -> Sequence[str]: ...

    @property
    def channel(self) -> Mapping[str, int]: ...

    def exchange(self, phase: Phase, download: Payload, asked: "Asked", round_: int) -> list[Upload]: ...


@dataclass(frozen=True)
class Asked:
    """Which clients each run asks in a round: `weights` [runs, clients], zero where a client is not asked."""

    seeds: Sequence[int]
    weights: Tensor


Connect = Callable[[Task, Federation, Run], Transport]


class Server:
    """Trains all runs of a block: the method's rounds, then the finetuning rounds on the support that they found."""

    def __init__(self, task: Task, bench: Bench, transport: Transport, evaluate_every: int, progress: Progress) -> None:
        self.task, self.bench, self.transport = task, bench, transport
        self.evaluate_every, self.progress = evaluate_every, progress
        self.asked = max(1, math.floor(bench.client_fraction * len(bench.counts) + 1e-9))

    def run(self, method: Method, seeds: Sequence[int]) -> tuple[Tensor, Tally]:
        """The final sparse parameters [runs, width] and the tally."""
        settings, tally = self.task.settings, Tally()
        training = Phase("training", method, 0, settings.rounds, settings.local_steps, settings.batch_size)
        state = self._phase(training, method.start(seeds), seeds, tally)
        theta, support = judged(self.task, method.effective(state))
        finetuning = Phase(
            "finetuning",
            SupportFinetuning(self.task, support),
            settings.rounds,
            settings.finetune_rounds,
            settings.finetune_steps,
            settings.batch_size,
        )
        state = self._phase(finetuning, {"theta": theta}, seeds, tally)
        return state["theta"], tally

    def _phase(self, phase: Phase, state: State, seeds: Sequence[int], tally: Tally) -> State:
        tally.begin(phase.name)
        for turn in range(phase.rounds):
            round_ = phase.first_round + turn
            asked = self._ask(seeds, round_)
            download = phase.method.download(state, round_)
            uploads = self.transport.exchange(phase, download, asked, round_)
            tally.count(phase.name, self.asked, self.task.size, download, uploads[0].payload)
            state = self._stop_diverged(phase.method.aggregate(state, uploads, round_), round_, tally)
            last = turn == phase.rounds - 1
            if last or turn % self.evaluate_every == 0:
                watched = phase.method.watched(state) if hasattr(phase.method, "watched") else {}
                theta = phase.method.effective(state)
                tally.evaluate(self.task, self.bench, phase.name, round_, theta, watched, self.progress)
        return state

    def _ask(self, seeds: Sequence[int], round_: int) -> Asked:
        """K = floor(fraction C) clients for each run, weighted by their rows or evenly."""
        counts = self.bench.counts
        size = counts if self.task.settings.weighting == "samples" else np.ones(len(counts))
        chosen = sampled_clients(tuple(seeds), round_, len(counts), self.asked)
        weights = np.zeros((len(seeds), len(counts)), np.float32)
        weights[np.arange(len(seeds))[:, None], chosen] = size[chosen] / size[chosen].sum(1, keepdims=True)
        return Asked(seeds, torch.from_numpy(weights))

    def _stop_diverged(self, state: State, round_: int, tally: Tally) -> State:
        """Runs whose state stopped being finite are noted and set to zero, so that they cost nothing more."""
        finite = np.ones(len(next(iter(state.values()))), np.bool_)
        for part in state.values():
            if part.is_floating_point():
                finite_rows(part.view(len(part), -1).numpy(), finite)
        if finite.all():
            return state
        lost = np.flatnonzero(~finite).tolist()
        for run in lost:
            tally.diverged.setdefault(run, round_ + 1)
        state = {name: part.clone() for name, part in state.items()}
        for part in state.values():
            part[lost] = 0
        return state


def sampled_clients(seeds: tuple[int, ...], round_: int, clients: int, asked: int) -> np.ndarray:
    """The clients that each run asks in a round, [runs, asked] in ascending order."""
    chunk, turn = divmod(round_, CHUNK)
    return _sampled(seeds, chunk, clients, asked)[turn]


@lru_cache(maxsize=4)
def _sampled(seeds: tuple[int, ...], chunk: int, clients: int, asked: int) -> np.ndarray:
    """[CHUNK, runs, asked]: making a generator costs more than drawing from it."""
    draws = [numpy_generator(seed, "clients", chunk).random((CHUNK, clients)) for seed in seeds]
    return np.sort(np.argsort(draws, 2, kind="stable")[..., :asked], 2).swapaxes(0, 1)
