"""Addressed randomness as tensors, for methods."""

from collections.abc import Sequence

import torch
from torch import Tensor

from eflops.rng import address_key


def uniform(seeds: Sequence[int], purpose: str, address: Sequence[int], count: int, width: int) -> Tensor:
    """Numbers in [0, 1) as [count, runs, width]; a run's part depends on its seed, the purpose and the address alone.

    The result is contiguous: torch rounds some functions of strided tensors in another way.
    """
    generator = torch.Generator()
    numbers = torch.empty(len(seeds), count, width)
    for row, seed in zip(numbers, seeds, strict=True):
        row.uniform_(generator=generator.manual_seed(address_key(seed, purpose, *address)))
    return numbers.transpose(0, 1).contiguous()


def normal(seed: int, purpose: str, width: int) -> Tensor:
    """Standard normal numbers [width] of one run."""
    return torch.randn(width, generator=torch.Generator().manual_seed(address_key(seed, purpose)))
