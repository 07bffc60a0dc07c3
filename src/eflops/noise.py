"""Addressed randomness as tensors, for methods."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eflops.fused import fill_uniform
from eflops.rng import address_key


def uniform(seeds: Sequence[int], purpose: str, address: Sequence[int], count: int, width: int) -> Tensor:
    """Numbers in [0, 1) as [count, runs, width]; a run's part depends on its seed, purpose and address alone."""
    numbers = torch.empty(count, len(seeds), width)
    fill_uniform(np.uint64(address_key(0, purpose, *address)), np.array(seeds, np.uint64), numbers.numpy())
    return numbers


def normal(seed: int, purpose: str, width: int) -> Tensor:
    """Standard normal numbers [width] of one run."""
    return torch.randn(width, generator=torch.Generator().manual_seed(address_key(seed, purpose)))
