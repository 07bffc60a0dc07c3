"""Addressed randomness as tensors, for methods."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eflops.fused import compiled
from eflops.rng import address_key

# SplitMix64 (Steele, Lea and Flood, 2014): the n-th number of a stream is a mix of key + n GOLDEN, so it can be asked
# for out of turn, and many at once.
GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S8, S27, S30, S31, S40 = (np.uint64(bits) for bits in (8, 27, 30, 31, 40))
LOWEST, STEP = np.uint64(0xFFFFFF), np.float32(2.0**-24)


@compiled
def _mixed(number: np.uint64) -> np.uint64:
    """A 64-bit number whose every bit depends on every bit of `number`."""
    number = (number ^ (number >> S30)) * FIRST
    number = (number ^ (number >> S27)) * SECOND
    return number ^ (number >> S31)


@compiled
def _fill_uniform(address: np.uint64, seeds: np.ndarray, numbers: np.ndarray) -> None:
    """Multiples of 2^-24 in [0, 1) as [count, runs, width]; a run's numbers depend on its seed and the address alone.

    One mix of 64 bits makes two numbers: one of the first half of a row, one of the second.
    """
    count, runs, width = numbers.shape
    half = (width + 1) // 2
    for run in range(runs):
        key = _mixed(address ^ _mixed(seeds[run] + GOLDEN))
        for turn in range(count):
            start = key + np.uint64(turn * half) * GOLDEN
            row = numbers[turn, run]
            for index in range(width // 2):
                bits = _mixed(start + np.uint64(index) * GOLDEN)
                row[index] = np.float32(np.int32(bits >> S40)) * STEP
                row[half + index] = np.float32(np.int32((bits >> S8) & LOWEST)) * STEP
            if width % 2:
                row[half - 1] = np.float32(np.int32(_mixed(start + np.uint64(half - 1) * GOLDEN) >> S40)) * STEP


@compiled
def _shuffle(numbers: np.ndarray, places: np.ndarray) -> None:
    """An order for each row of numbers in [0, 1), by Fisher and Yates: each place swaps with one not behind it."""
    for turn in range(numbers.shape[0]):
        for run in range(numbers.shape[1]):
            order = places[turn, run]
            for index in range(order.size):
                other = int(np.float64(numbers[turn, run, index]) * (index + 1))
                order[index] = order[other]
                order[other] = index


def uniform(seeds: Sequence[int], purpose: str, address: Sequence[int], count: int, width: int) -> Tensor:
    """Numbers in [0, 1) as [count, runs, width]; a run's part depends on its seed, purpose and address alone."""
    numbers = torch.empty(count, len(seeds), width)
    _fill_uniform(np.uint64(address_key(0, purpose, *address)), np.array(seeds, np.uint64), numbers.numpy())
    return numbers


def orders(seeds: Sequence[int], purpose: str, address: Sequence[int], count: int, width: int) -> Tensor:
    """Random orders of 0 .. width - 1 as [count, runs, width], addressed as `uniform` is."""
    result = torch.empty(count, len(seeds), width, dtype=torch.int64)
    _shuffle(uniform(seeds, purpose, address, count, width).numpy(), result.numpy())
    return result


def normal(seed: int, purpose: str, width: int) -> Tensor:
    """Standard normal numbers [width] of one run."""
    return torch.randn(width, generator=torch.Generator().manual_seed(address_key(seed, purpose)))
