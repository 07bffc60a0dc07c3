"""The batched engine: all runs of a block together in one process, client by client."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch

from eflops.data.federation import Federation
from eflops.data.job import Job
from eflops.training.messages import Message
from eflops.training.methods.base import HasMemory, HasView, Rounds, State, Task, Upload, answer, check_message
from eflops.training.models.base import Rows
from eflops.training.rounds import ClientSelection, Connect, Phase


class InProcess:
    """A transport that lets each client answer for all runs that selected it, and stores the clients' memory and views.

    One view is enough for all clients: a client that was not selected receives the missed messages before its next
    use.
    """

    faults: Sequence[str] = ()
    channel: Mapping[str, int] = {}

    def __init__(self, clients: Sequence[Rows]) -> None:
        self.clients = clients
        self._method: Rounds | None = None
        self._memory: list[State] = []
        self._view: Message | None = None

    def exchange(self, phase: Phase, download: Message, selected: ClientSelection, round_: int) -> list[Upload]:
        """The answers of all clients that any run selects; the server's message is copied once for all of them."""
        # Memory and view belong to a phase, and each phase has a method object of its own.
        if self._method is not phase.method:
            self._begin(phase.method, selected.seeds)
        if self._view is not None:
            download = self._view = phase.method.receive(self._view, download)  # type: ignore[attr-defined]
            check_message(phase.method, download, len(selected.seeds), "the view after `receive`")
        # Transposed, so that `nonzero` lists clients in ascending order, each with its runs: sums are made in this
        # order.
        weights = selected.weights.numpy().T
        clients, runs = weights.nonzero()
        counts = np.bincount(clients)
        named = counts.nonzero()[0]
        sizes = counts[named].tolist()
        rows, seeds = torch.from_numpy(runs), np.array(selected.seeds, np.uint64)
        shares = torch.from_numpy(weights[clients, runs]).split_with_sizes(sizes)
        uploads, method, steps, size = [], phase.method, phase.steps, phase.batch_size
        parts = zip(named.tolist(), rows.split_with_sizes(sizes), shares, download.split(rows, sizes), strict=True)
        for client, client_runs, share, received in parts:
            data, index, kept = self.clients[client], client_runs.numpy(), self._memory[client]
            memory = {name: part.index_select(0, client_runs) for name, part in kept.items()}
            message, memory = answer(method, received, data, seeds[index], round_, client, steps, size, index, memory)
            # Written back by run: a client's memory has a row for every run, also for those that did not select it.
            for name, part in memory.items():
                kept[name].index_copy_(0, client_runs, part)
            uploads.append(Upload(client_runs, share, message))
        return uploads

    def _begin(self, method: Rounds, seeds: Sequence[int]) -> None:
        """The clients' memory and view at the start of a phase, [runs, ...]."""
        self._method = method
        self._memory = [method.start_memory(seeds) if isinstance(method, HasMemory) else {} for _ in self.clients]
        self._view = method.start_view(seeds) if isinstance(method, HasView) else None


def prepare() -> None:
    """Use one thread, because small tensors are faster that way, and no autograd, because models have explicit
    gradients.

    Subnormal numbers are kept, because processors differ in which of them they flush to 0.
    """
    # Snakemake's cores provide the parallelism: several threads in each job would compete for them.
    torch.set_num_threads(1)
    torch.set_flush_denormal(False)
    torch.set_grad_enabled(False)


def transport(task: Task, federation: Federation) -> InProcess:
    """The transport of a block of runs."""
    return InProcess([task.model.rows(block.x, block.y) for block in federation.clients])


def run(job: Job, work: Callable[[Connect, int], None]) -> None:
    """Call `work` with a transport factory and the largest number of runs per block."""
    prepare()
    work(lambda task, federation, run: transport(task, federation), job.block_size)
