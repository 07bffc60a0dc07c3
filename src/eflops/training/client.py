"""The client's side of a round, the same for every engine."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from eflops.training.methods.base import Payload, Rounds, Work
from eflops.training.methods.batches import Batches
from eflops.training.models.base import Rows
from eflops.training.numerics.noise import orders

Steps = int | Literal["epoch"]


def answer(
    method: Rounds,
    received: Payload,
    data: Rows,
    seeds: Sequence[int],
    round_: int,
    client: int,
    steps: Steps,
    batch_size: int | None,
    runs: Sequence[int] | np.ndarray = (0,),
) -> Payload:
    """What a client answers to a message, for the block's `runs`, which have these seeds."""
    batches = draw_batches(len(data), steps, batch_size, seeds, round_, client)
    return method.update(received, Work(data, batches, seeds, method.task.settings.of(runs), round_, client))


def draw_batches(
    rows: int, steps: Steps, batch_size: int | None, seeds: Sequence[int], round_: int, client: int
) -> Batches:
    """The rows of each local step: passes over the client's rows, each in an order of its own; a pass may end short."""
    if batch_size is None or batch_size >= rows:
        return Batches(1 if steps == "epoch" else steps, np.empty((1, len(seeds), 0), np.int64), 0)
    per_pass = -(-rows // batch_size)
    count = per_pass if steps == "epoch" else steps
    passes = -(-count // per_pass)
    return Batches(count, orders(seeds, "batches", (round_, client), passes, rows), batch_size)
