"""Choosing some of many by a seed that is printed, so that the choice can be repeated."""

import random
import secrets
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def new_seed() -> int:
    """A seed that nobody could know beforehand, short enough to be typed."""
    return secrets.randbelow(10**6)


def sample(items: Sequence[Item], count: int | None, seed: int) -> list[Item]:
    """So many of the items, chosen by the seed, in their order; all where no count is given."""
    if count is None or count >= len(items):
        return list(items)
    chosen = set(random.Random(seed).sample(range(len(items)), count))
    return [item for place, item in enumerate(items) if place in chosen]
