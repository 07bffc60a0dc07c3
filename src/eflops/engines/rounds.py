"""The server's side of training: rounds, evaluation, divergence, bytes. The same for every engine.

An engine is a `Transport`: it takes the server's message to the clients and brings their answers back.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from eflops import wire
from eflops.config.cells import Run
from eflops.data.federation import Federation
from eflops.engines.client import Steps
from eflops.methods.base import Method, Payload, Rounds, State, Task, Upload
from eflops.methods.cut import top
from eflops.methods.tuning import SupportTuning
from eflops.models.base import Rows
from eflops.rng import numpy_generator

CHUNK = 64


@dataclass(frozen=True)
class Bench:
    """What the server may know of a federation: sizes, the test rows and the truth, never a client's rows."""

    counts: np.ndarray
    client_fraction: float
    test: Rows
    truth: np.ndarray | None


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

    def runs_of(self, client: int) -> Tensor:
        """The runs that ask this client."""
        return self.weights[:, client].nonzero()[:, 0]


@dataclass
class Tally:
    """What is kept of each run while it trains."""

    curve: list[dict[str, Tensor]] = field(default_factory=list)
    marks: list[tuple[str, int]] = field(default_factory=list)
    traffic: dict[str, dict[str, int]] = field(default_factory=dict)
    diverged: dict[int, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    evaluation_seconds: float = 0.0


Progress = Callable[[str, int, int, float], None]
Connect = Callable[[Task, Federation, Run], Transport]


class Server:
    """Trains all runs of a block: the method's rounds, then the tuning rounds on the support that they found."""

    def __init__(self, task: Task, bench: Bench, transport: Transport, evaluate_every: int, progress: Progress) -> None:
        self.task, self.bench, self.transport = task, bench, transport
        self.evaluate_every, self.progress = evaluate_every, progress
        self.asked = max(1, math.floor(bench.client_fraction * len(bench.counts) + 1e-9))

    def run(self, method: Method, seeds: Sequence[int]) -> tuple[Tensor, Tally]:
        """The final sparse parameters [runs, width] and the tally."""
        settings, tally = self.task.settings, Tally()
        training = Phase("training", method, 0, settings.rounds, settings.local_steps, settings.batch_size)
        state = self._phase(training, method.start(seeds), seeds, tally)
        theta, support = self._judged(method.effective(state))
        tuner = SupportTuning(self.task, support)
        tuning = Phase("tuning", tuner, settings.rounds, settings.tune_rounds, settings.tune_steps, settings.batch_size)
        state = self._phase(tuning, {"theta": theta}, seeds, tally)
        return state["theta"], tally

    def _phase(self, phase: Phase, state: State, seeds: Sequence[int], tally: Tally) -> State:
        traffic = tally.traffic[phase.name] = {"down": 0, "up": 0, "paper": 0, "last_round": 0, "messages": 0}
        for turn in range(phase.rounds):
            round_ = phase.first_round + turn
            asked = self._ask(seeds, round_)
            download = phase.method.download(state, round_)
            uploads = self.transport.exchange(phase, download, asked, round_)
            self._count(traffic, phase, download, uploads)
            state = self._stop_diverged(phase.method.aggregate(state, uploads, round_), round_, tally)
            last = turn == phase.rounds - 1
            if last or turn % self.evaluate_every == 0:
                self._evaluate(phase, state, round_, tally)
        return state

    def _ask(self, seeds: Sequence[int], round_: int) -> Asked:
        """K = floor(fraction C) clients for each run, weighted by their rows or evenly."""
        counts = self.bench.counts
        size = counts if self.task.settings.weighting == "samples" else np.ones(len(counts))
        weights = np.zeros((len(seeds), len(counts)))
        chosen = np.array([sampled_clients(seed, round_, len(counts), self.asked) for seed in seeds])
        np.put_along_axis(weights, chosen, size[chosen] / size[chosen].sum(1, keepdims=True), 1)
        return Asked(seeds, torch.from_numpy(weights).float())

    def _judged(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Parameters cut to the target, and the support."""
        support = top(theta.abs(), self.task.target, self.task.layers, self.task.settings.layer_floor)
        return theta * support, support

    def _evaluate(self, phase: Phase, state: State, round_: int, tally: Tally) -> None:
        start = time.process_time()
        theta, support = self._judged(phase.method.effective(state))
        metrics = self.task.model.measure(theta, self.bench.test)
        if self.bench.truth is not None:
            found = support[:, torch.from_numpy(self.bench.truth)]
            metrics["support_recovery"] = found.double().mean(1)
        tally.evaluation_seconds += time.process_time() - start
        tally.curve.append(metrics)
        tally.marks.append((phase.name, round_ + 1))
        total = self.task.settings.rounds + self.task.settings.tune_rounds
        name = "r2" if "r2" in metrics else "accuracy"
        self.progress(phase.name, round_ + 1, total, metrics[name].mean().item())

    def _stop_diverged(self, state: State, round_: int, tally: Tally) -> State:
        """Runs whose state stopped being finite are noted and set to zero, so that they cost nothing more."""
        floats = [part for part in state.values() if part.is_floating_point()]
        finite = torch.stack(
            [part.isfinite().flatten(1).all(1) if part.dim() > 1 else part.isfinite() for part in floats]
        )
        lost = (~finite.all(0)).nonzero()[:, 0].tolist()
        if not lost:
            return state
        for run in lost:
            tally.diverged.setdefault(run, round_ + 1)
        state = {name: part.clone() for name, part in state.items()}
        for part in state.values():
            part[lost] = 0
        return state

    def _count(self, traffic: dict[str, int], phase: Phase, download: Payload, uploads: list[Upload]) -> None:
        """Add a round's bytes for one run: every run asks the same number of clients in messages of the same shape."""
        clients = self.asked
        down = clients * _message_bytes(download, self.task.size)
        up = clients * _message_bytes(uploads[0].payload, self.task.size)
        traffic["down"] += down
        traffic["up"] += up
        traffic["paper"] += clients * sum(
            wire.paper_bytes("gated" if part.gates is not None else "sparse", self.task.size, part.kept(self.task.size))
            for part in (download, uploads[0].payload)
        )
        traffic["last_round"] = down + up
        traffic["messages"] += 2 * clients


def sampled_clients(seed: int, round_: int, clients: int, asked: int) -> np.ndarray:
    """The clients that a run asks in a round, in ascending order."""
    chunk, turn = divmod(round_, CHUNK)
    return np.sort(_client_orders(seed, chunk, clients)[turn, :asked])


@lru_cache(maxsize=1024)
def _client_orders(seed: int, chunk: int, clients: int) -> np.ndarray:
    """Random orders of the clients for CHUNK rounds: making a generator costs more than drawing from it."""
    return numpy_generator(seed, "clients", chunk).random((CHUNK, clients)).argsort(1)


def _message_bytes(payload: Payload, size: int) -> int:
    """The encoded size of a run's message."""
    return wire.encoded_size(
        size,
        payload.kept(size),
        gates=payload.gates is not None,
        tail=payload.tail is not None,
        multiplier=payload.multiplier is not None,
        dense=payload.support is None,
        implicit=payload.implicit,
    )
