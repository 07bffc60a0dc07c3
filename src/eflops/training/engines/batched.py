"""The batched engine: all runs of a block side by side in one process, client by client."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from eflops.data.federation import Federation
from eflops.training.methods.base import Payload, Task, Upload, answer
from eflops.training.models.base import Rows
from eflops.training.rounds import ClientSelection, Connect, Phase


class InProcess:
    """Asks each client in turn for all the runs that chose it."""

    faults: Sequence[str] = ()
    channel: Mapping[str, int] = {}

    def __init__(self, clients: Sequence[Rows]) -> None:
        self.clients = clients

    def exchange(self, phase: Phase, download: Payload, selected: ClientSelection, round_: int) -> list[Upload]:
        """The answers of all clients that any run asks; what is sent to them is copied once for all."""
        weights = selected.weights.numpy().T
        clients, runs = weights.nonzero()
        counts = np.bincount(clients)
        named = counts.nonzero()[0]
        sizes = counts[named].tolist()
        rows, seeds = torch.from_numpy(runs), np.array(selected.seeds, np.uint64)
        shares = torch.from_numpy(weights[clients, runs]).split_with_sizes(sizes)
        uploads, method, steps, size = [], phase.method, phase.steps, phase.batch_size
        asking = zip(named.tolist(), rows.split_with_sizes(sizes), shares, download.dealt(rows, sizes), strict=True)
        for client, own, share, received in asking:
            data, index = self.clients[client], own.numpy()
            payload = answer(method, received, data, seeds[index], round_, client, steps, size, index)
            uploads.append(Upload(own, share, payload))
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
