"""Heterogeneity of clients: shifted features, unequal sample counts, skewed labels.

Each function has its own addressed random numbers, so changing one kind of heterogeneity does not affect the others.
"""

from collections.abc import Sequence

import numpy as np

from eflops.data.federation import Block
from eflops.errors import UserError
from eflops.rng import numpy_generator


def affine_shift(blocks: Sequence[Block], scale_sd: float, offset_sd: float, seed: int) -> tuple[Block, ...]:
    """Each client multiplies each feature by 1 + N(0, scale_sd) and adds N(0, offset_sd); y does not change.

    The draws are standard normals times the deviation, so a larger deviation scales the same shift.
    """
    shifted = []
    for client, block in enumerate(blocks):
        features = block.x.shape[1:]
        # One address per client, so that further clients leave the shifts of the others as they are.
        scale = 1.0 + scale_sd * numpy_generator(seed, "shift-scale", client).standard_normal(features)
        offset = offset_sd * numpy_generator(seed, "shift-offset", client).standard_normal(features)
        shifted.append(Block((block.x * scale + offset).astype(np.float32), block.y))
    return tuple(shifted)


def dirichlet_counts(rows: int, clients: int, concentration: float | None, minimum: int, seed: int) -> np.ndarray:
    """Sample counts [clients] int64 that add up to `rows`: Dirichlet shares, none below `minimum`.

    A client whose share is below the minimum gets the minimum, and the others divide the rest in proportion.
    Without a concentration, shares are equal. The shares depend only on the seed: twice the rows give the same
    split at twice the size.
    """
    _require_enough(rows, clients, minimum)
    if concentration is None:
        shares = np.full(clients, 1.0 / clients)
    else:
        shares = numpy_generator(seed, "client-counts").dirichlet(np.full(clients, concentration))
    return minimum + _apportion(_excess(shares, rows, minimum), rows - clients * minimum)


def _excess(shares: np.ndarray, rows: int, minimum: int) -> np.ndarray:
    """By how much each client's rows [clients] exceed the minimum, which every client gets."""
    low = np.zeros(len(shares), dtype=bool)
    while True:
        left = rows - minimum * low.sum()
        free = np.where(low, 0.0, shares)
        wanted = free / max(free.sum(), np.finfo(float).tiny) * left
        fallen = ~low & (wanted < minimum)
        if not fallen.any():
            return np.where(low, 0.0, wanted - minimum)
        # Raising some clients to the minimum leaves less for the others, so others may fall below it in the next turn.
        low |= fallen


def _apportion(weights: np.ndarray, total: int) -> np.ndarray:
    """Integers near weights / sum(weights) * total that add up to total (largest remainder method)."""
    if total == 0:
        return np.zeros(len(weights), dtype=np.int64)
    exact = weights / weights.sum() * total
    counts = np.floor(exact).astype(np.int64)
    # Stable: equal remainders must not make the split depend on numpy's sorting algorithm.
    by_remainder = np.argsort(counts - exact, kind="stable")
    counts[by_remainder[: total - counts.sum()]] += 1
    return counts


def dirichlet_labels(
    labels: np.ndarray, clients: int, concentration: float, minimum: int, seed: int
) -> list[np.ndarray]:
    """Split the rows with label skew: each class is divided among the clients by separate Dirichlet shares.

    labels: [rows] int. Returns one sorted index array per client; together they hold every row exactly once.
    Clients with fewer than `minimum` rows get the missing ones from the client that is currently largest.
    """
    _require_enough(len(labels), clients, minimum)
    parts: list[list[int]] = [[] for _ in range(clients)]
    for label in np.unique(labels):
        generator = numpy_generator(seed, "label-skew", int(label))
        members = generator.permutation(np.flatnonzero(labels == label))
        counts = _apportion(generator.dirichlet(np.full(clients, concentration)), len(members))
        for part, piece in zip(parts, np.split(members, np.cumsum(counts)[:-1]), strict=True):
            part.extend(piece.tolist())
    _fill_up(parts, minimum, numpy_generator(seed, "label-skew-minimum"))
    return [np.sort(np.array(part, dtype=np.int64)) for part in parts]


def _fill_up(parts: list[list[int]], minimum: int, generator: np.random.Generator) -> None:
    """Move randomly chosen rows from the largest part to every part that is below the minimum, in place."""
    for part in parts:
        while len(part) < minimum:
            largest = max(parts, key=len)
            part.append(largest.pop(int(generator.integers(len(largest)))))


def shortage(rows: int, clients: int, minimum: int) -> str:
    """Why the rows do not suffice for the clients and how many would, without a full stop; empty if they suffice."""
    if minimum * clients <= rows:
        return ""
    lower, fewer = f"lower min_rows to {rows // clients} or less", f"use at most {rows // minimum} clients"
    right = ", or ".join([lower] * (rows >= clients) + [fewer] * (rows >= minimum))
    # Where there are fewer rows than either number, no change of one of them suffices.
    right = right or (f"lower min_rows to 1 and use at most {rows} clients" if rows else "add rows")
    needed = f"{clients} clients with at least {minimum} rows each need {minimum * clients} rows"
    return f"{needed}, but there are {rows}: {right}"


def _require_enough(rows: int, clients: int, minimum: int) -> None:
    if lacking := shortage(rows, clients, minimum):
        raise UserError(lacking)
