"""The log of runs during training: metrics over rounds, bytes, divergence. All engines use it."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from eflops.training.messages import Message
from eflops.training.methods.base import Task, Upload
from eflops.training.methods.cut import top
from eflops.training.models.base import Rows

# A run has diverged, even while its numbers are finite, once its test error exceeds this many times the variance of the
# labels (1 - R2), or this cross-entropy or loss. No finished run comes near: the first two stay below 100.
LARGEST_ERROR = 1e12

Progress = Callable[[str, int, int, float], None]


@dataclass(frozen=True)
class EvaluationData:
    """The data that the server may know: clients' row counts, the test rows and the truth, never a client's rows."""

    counts: np.ndarray
    client_fraction: float
    test: Rows
    truth: np.ndarray | None


@dataclass
class TrainingLog:
    """The log of a block: the metrics [runs] at each point of the curve with its round, bytes, and divergence.

    traffic: by phase, the bytes of messages to clients (down) and from them (up), by the paper's formula for both
    (paper), and of the last round only; and the number of messages. Each is [runs].
    """

    curve: list[dict[str, Tensor]] = field(default_factory=list)
    marks: list[tuple[str, int]] = field(default_factory=list)
    traffic: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    diverged: dict[int, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    evaluation_seconds: float = 0.0
    support: Tensor | None = None
    watched: set[str] = field(default_factory=set)
    # What the server has sent so far in a phase, and of it what each client has, in bytes: encoded, by the formula.
    _sent: np.ndarray = field(default_factory=lambda: np.zeros((2, 0, 1), np.int64))
    _received: np.ndarray = field(default_factory=lambda: np.zeros((2, 0, 0), np.int64))

    def begin(self, phase: str, runs: int) -> None:
        """Start to count the bytes of a phase."""
        names = "down", "up", "paper", "last_round", "messages"
        self.traffic[phase] = {name: np.zeros(runs, np.int64) for name in names}
        self._sent, self._received = np.zeros((2, runs, 1), np.int64), np.zeros((2, runs, 1), np.int64)

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

        `support_changed` counts the kept weights that were not kept at the point before, `bytes_sent` all bytes so far.
        """
        start = time.process_time()
        theta, support = pruned(task, theta)
        metrics = task.model.measure(theta, evaluation.test)
        if evaluation.truth is not None:
            recovered = support[:, torch.from_numpy(evaluation.truth)]
            metrics["support_recovery"] = recovered.sum(1).double() / recovered.shape[1]
        if "r2" in metrics:
            error = 1 - metrics["r2"]
        else:
            error = metrics["cross_entropy"] if "cross_entropy" in metrics else metrics["loss"]
        for run in (error > LARGEST_ERROR).nonzero()[:, 0].tolist():
            self.diverged.setdefault(run, round_ + 1)
        metrics["support_changed"] = changed(self.support, support)
        metrics["bytes_sent"] = self.bytes_sent()
        self.support = support
        self.watched |= watched.keys()
        metrics |= watched
        # Finetuning has no gates to watch; every point has the columns of the first.
        absent = torch.full((len(theta),), math.nan)
        metrics = {name: metrics.get(name, absent) for name in (self.curve[0] if self.curve else metrics)}
        self.evaluation_seconds += time.process_time() - start
        self.curve.append(metrics)
        self.marks.append((phase, round_ + 1))
        total = task.settings.rounds + task.settings.finetune_rounds
        name = next((name for name in ("r2", "accuracy") if name in metrics), next(iter(metrics)))
        progress(phase, round_ + 1, total, float(np.mean(metrics[name].numpy())))

    def count(
        self,
        phase: str,
        size: int,
        download: Message,
        uploads: Sequence[Upload],
        selected: np.ndarray,
        replays: bool = False,
    ) -> None:
        """Add a round's bytes, run by run and client by client.

        size: the model's parameters. selected: the mask [runs, clients] of clients that got the message. replays: each
        also got the messages that it missed since it was selected last.
        """
        traffic = self.traffic[phase]
        message = np.stack(download.sizes(size))[..., None]
        self._sent = self._sent + message
        # All that was sent since the client's last message, by differences of running sums: no list of rounds is kept.
        sent = self._sent - self._received if replays else np.broadcast_to(message, (2, *selected.shape))
        down = (sent * selected).sum(2)
        self._received = np.where(selected, self._sent, self._received)
        up = np.zeros_like(down)
        for upload in uploads:
            up[:, upload.runs.numpy()] += np.stack(upload.message.sizes(size))
        traffic["down"] += down[0]
        traffic["up"] += up[0]
        traffic["paper"] += down[1] + up[1]
        traffic["last_round"] = down[0] + up[0]
        traffic["messages"] += 2 * selected.sum(1)

    def bytes_sent(self) -> Tensor:
        """The bytes of all messages of each run so far, [runs]."""
        return torch.from_numpy(sum(part["down"] + part["up"] for part in self.traffic.values())).double()


def changed(before: Tensor | None, after: Tensor) -> Tensor:
    """How many weights of each run are in the second support [runs, width] only; NaN without a first."""
    if before is None:
        return torch.full((len(after),), math.nan, dtype=torch.float64)
    return torch.from_numpy(np.count_nonzero((after & ~before).numpy(), axis=1)).double()


def pruned(task: Task, theta: Tensor) -> tuple[Tensor, Tensor]:
    """Parameters cut to the target, and the support."""
    support = top(theta, task.target, task.layers, task.settings.layer_floor)
    return theta * support, support
