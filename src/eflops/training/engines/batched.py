"""The batched engine: all runs of a block side by side in one process, client by client."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from eflops.data.federation import Federation
from eflops.training.client import answer
from eflops.training.methods.base import Payload, Task, Upload
from eflops.training.models.base import Rows
from eflops.training.rounds import Asked, Connect, Phase


class InProcess:
    """Asks each client in turn for all the runs that chose it."""

    faults: Sequence[str] = ()
    channel: Mapping[str, int] = {}

    def __init__(self, clients: Sequence[Rows]) -> None:
        self.clients = clients

    def exchange(self, phase: Phase, download: Payload, asked: Asked, round_: int) -> list[Upload]:
        """The answers of all clients that any run asks."""
        uploads = []
        for client, data in enumerate(self.clients):
            runs = asked.runs_of(client)
            if len(runs) == 0:
                continue
            index, rows = torch.from_numpy(runs), runs.tolist()
            seeds = [asked.seeds[row] for row in rows]
            received = download if len(rows) == len(asked.seeds) else download.rows(index)
            payload = answer(phase.method, received, data, seeds, round_, client, phase.steps, phase.batch_size, rows)
            uploads.append(Upload(index, asked.weights[index, client], payload))
        return uploads


def prepare() -> None:
    """One thread, because small tensors are faster so; no gradients, because models have theirs written out.

    Numbers too small for a full mantissa are kept, not set to 0: processors differ in which they are.
    """
    torch.set_num_threads(1)
    torch.set_flush_denormal(False)
    torch.set_grad_enabled(False)


def transport(job: Any, task: Task, federation: Federation) -> InProcess:
    """The transport of a block of runs."""
    return InProcess([task.model.rows(block.x, block.y) for block in federation.clients])


def run(job: Any, work: Callable[[Connect, int], None]) -> None:
    """Do `work` with a way to reach clients and the largest number of runs that may share a block."""
    prepare()
    work(lambda task, federation, run: transport(job, task, federation), job.block_size)
