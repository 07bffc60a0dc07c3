"""What is kept of runs while they train: metrics over rounds, bytes, divergence. The same for every engine."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from eflops.training.methods.base import Payload, Task
from eflops.training.methods.cut import top
from eflops.training.models.base import Rows
from eflops.training.numerics import wire

# A run has diverged, even while its numbers are finite, once its test error exceeds this many times the variance of the
# labels (1 - R2), or this cross-entropy. No finished run comes near: both stay below 100.
LARGEST_ERROR = 1e12

Progress = Callable[[str, int, int, float], None]


@dataclass(frozen=True)
class EvaluationData:
    """What the server may know of a federation: sizes, the test rows and the truth, never a client's rows."""

    counts: np.ndarray
    client_fraction: float
    test: Rows
    truth: np.ndarray | None


@dataclass
class TrainingLog:
    """Of each run: the metrics [runs] at each point of the curve, which round that was, bytes, and divergence."""

    curve: list[dict[str, Tensor]] = field(default_factory=list)
    marks: list[tuple[str, int]] = field(default_factory=list)
    traffic: dict[str, dict[str, int]] = field(default_factory=dict)
    diverged: dict[int, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    evaluation_seconds: float = 0.0
    support: Tensor | None = None
    watched: set[str] = field(default_factory=set)

    def begin(self, phase: str) -> None:
        """Start to count the bytes of a phase."""
        self.traffic[phase] = {"down": 0, "up": 0, "paper": 0, "last_round": 0, "messages": 0}

    def evaluate(
        self,
        task: Task,
        evaluation: EvaluationData,
        phase: str,
        round_: int,
        theta: Tensor,
        watched: Mapping[str, Tensor],
        progress: Progress,
    ) -> None:
        """Add a point to the curve: the metrics of the parameters [runs, width] cut to the target, and `watched`.

        `support_changed` counts the kept weights that were not kept at the point before.
        """
        start = time.process_time()
        theta, support = pruned(task, theta)
        metrics = task.model.measure(theta, evaluation.test)
        if evaluation.truth is not None:
            recovered = support[:, torch.from_numpy(evaluation.truth)]
            metrics["support_recovery"] = recovered.sum(1).double() / recovered.shape[1]
        error = 1 - metrics["r2"] if "r2" in metrics else metrics["cross_entropy"]
        for run in (error > LARGEST_ERROR).nonzero()[:, 0].tolist():
            self.diverged.setdefault(run, round_ + 1)
        metrics["support_changed"] = changed(self.support, support)
        self.support = support
        self.watched |= watched.keys()
        metrics |= watched
        absent = torch.full((len(theta),), math.nan)
        metrics = {name: metrics.get(name, absent) for name in (self.curve[0] if self.curve else metrics)}
        self.evaluation_seconds += time.process_time() - start
        self.curve.append(metrics)
        self.marks.append((phase, round_ + 1))
        total = task.settings.rounds + task.settings.finetune_rounds
        name = next((name for name in ("r2", "accuracy") if name in metrics), next(iter(metrics)))
        progress(phase, round_ + 1, total, float(np.mean(metrics[name].numpy())))

    def count(self, phase: str, clients: int, size: int, download: Payload, upload: Payload) -> None:
        """Add a round's bytes for one run: every run asks the same number of clients in messages of the same shape."""
        traffic = self.traffic[phase]
        down, up = (clients * _message_bytes(part, size) for part in (download, upload))
        traffic["down"] += down
        traffic["up"] += up
        traffic["paper"] += clients * sum(
            4 * part.ungated
            + wire.paper_bytes("gated" if part.gates is not None else "sparse", size, part.kept(size) - part.ungated)
            for part in (download, upload)
        )
        traffic["last_round"] = down + up
        traffic["messages"] += 2 * clients


def changed(before: Tensor | None, after: Tensor) -> Tensor:
    """How many weights of each run are in the second support [runs, width] only; not a number without a first."""
    if before is None:
        return torch.full((len(after),), math.nan, dtype=torch.float64)
    return torch.from_numpy(np.count_nonzero((after & ~before).numpy(), axis=1)).double()


def pruned(task: Task, theta: Tensor) -> tuple[Tensor, Tensor]:
    """Parameters cut to the target, and the support."""
    support = top(theta, task.target, task.layers, task.settings.layer_floor)
    return theta * support, support


def _message_bytes(payload: Payload, size: int) -> int:
    """The encoded size of a run's message."""
    return wire.encoded_size(
        size - payload.ungated,
        payload.kept(size) - payload.ungated,
        gates=payload.gates is not None,
        tail=payload.tail is not None,
        multiplier=payload.multiplier is not None,
        dense=payload.support is None,
        implicit=payload.implicit,
        ungated=payload.ungated,
    )
