"""Addressed randomness: a run's numbers depend only on its seed, a purpose and an address."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eflops.rng import address_key
from eflops.training.numerics.arithmetic import fma, logarithm
from eflops.training.numerics.compiled import compiled

# SplitMix64 (Steele, Lea and Flood, 2014): the n-th number of a stream is a mix of key + n GOLDEN, so it can be asked
# for out of turn, and many at once.
GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# A number takes 24 bits, as many as float32 holds exactly, so its conversion does not round.
S8, S27, S30, S31, S40 = (np.uint64(bits) for bits in (8, 27, 30, 31, 40))
LOWEST, STEP = np.uint64(0xFFFFFF), np.float32(2.0**-24)

# The normal quantile (Wichura, 1988, PPND7): quotients of polynomials in the middle and in the tail.
MIDDLE, MIDDLE_SQUARED, TAIL = 0.425, 0.180625, 1.6
# PPND7 is good to seven digits, which is what float32 keeps; it is computed in float64 and rounded once.
A = (59.109374720, 159.29113202, 50.434271938, 3.3871327179)
B = (67.187563600, 78.757757664, 17.895169469, 1.0)
C = (0.17023821103, 1.3067284816, 2.7568153900, 1.4234372777)
D = (0.12021132975, 0.73700164250, 1.0)
E = (0.017337203997, 0.42868294337, 3.0812263860, 6.6579051150)
F = (0.012258202635, 0.24197894225, 1.0)


@compiled
def _mixed(number: np.uint64) -> np.uint64:
    """A 64-bit number whose every bit depends on every bit of `number`."""
    number = (number ^ (number >> S30)) * FIRST
    number = (number ^ (number >> S27)) * SECOND
    return number ^ (number >> S31)


@compiled
def fill_uniform(address: np.uint64, seed: np.uint64, turn: int, row: np.ndarray) -> None:
    """The row number `turn` of a run's numbers: multiples of 2^-24 in [0, 1).

    One mix of 64 bits makes two numbers: one of the first half of a row, one of the second. The halves are arrays of
    their own, because the compiler makes no vector instructions of a loop that writes twice into one.
    """
    # An odd width leaves the second number of its last mix unused.
    width = row.size
    half = (width + 1) // 2
    # Mixing the seed first: neighbouring seeds and addresses must not give shifted copies of one stream.
    start = _mixed(address ^ _mixed(seed + GOLDEN)) + np.uint64(turn * half) * GOLDEN
    first, second = row[:half], row[half:]
    for index in range(second.size):
        # By way of int32 below: not every processor converts unsigned 64-bit numbers in vectors.
        bits = _mixed(start + np.uint64(index) * GOLDEN)
        first[index] = np.float32(np.int32(bits >> S40)) * STEP
        second[index] = np.float32(np.int32((bits >> S8) & LOWEST)) * STEP
    if width % 2:
        first[half - 1] = np.float32(np.int32(_mixed(start + np.uint64(half - 1) * GOLDEN) >> S40)) * STEP


@compiled
def _fill_uniforms(address: np.uint64, seeds: np.ndarray, numbers: np.ndarray) -> None:
    """Numbers [count, runs, width]."""
    for turn in range(numbers.shape[0]):
        for run in range(numbers.shape[1]):
            fill_uniform(address, seeds[run], turn, numbers[turn, run])


@compiled
def _fill_orders(address: np.uint64, seeds: np.ndarray, positions: np.ndarray) -> None:
    """Orders [count, runs, width], by Fisher and Yates: each position swaps with one not behind it."""
    numbers = np.empty(positions.shape[2], np.float32)
    for turn in range(positions.shape[0]):
        for run in range(positions.shape[1]):
            fill_uniform(address, seeds[run], turn, numbers)
            order = positions[turn, run]
            for index in range(order.size):
                # In float64 the product is exact, so truncation picks the same position on every processor.
                other = int(np.float64(numbers[index]) * (index + 1))
                order[index] = order[other]
                order[other] = index


@compiled
def _polynomial(coefficients: tuple, x: float) -> float:
    """The highest power comes first."""
    result = coefficients[0]
    for power in range(1, len(coefficients)):
        result = fma(result, x, coefficients[power])
    return result


@compiled
def _normal_quantiles(uniform: np.ndarray, result: np.ndarray) -> None:
    """The numbers below which a standard normal one lies with probability u + 2^-25, for u on the grid of 2^-24."""
    for index in range(uniform.size):
        # The middle of the grid's cell: u itself can be 0, where the quantile is infinite.
        p: float = np.float64(uniform[index]) + 2.0**-25
        q = p - 0.5
        if abs(q) <= MIDDLE:
            r = MIDDLE_SQUARED - q * q
            x = q * _polynomial(A, r) / _polynomial(B, r)
        else:
            # p is a multiple of 2^-25, so 1 - p is exact, and both tails have the same accuracy.
            r = np.sqrt(-logarithm(min(p, 1.0 - p)))
            if r <= 5.0:
                x = _polynomial(C, r - TAIL) / _polynomial(D, r - TAIL)
            else:
                x = _polynomial(E, r - 5.0) / _polynomial(F, r - 5.0)
            x = -x if q < 0 else x
        result[index] = np.float32(x)


def address_of(purpose: str, address: Sequence[int]) -> np.uint64:
    """The 64-bit number of an address, shared by all runs."""
    # 0 in place of a seed: `fill_uniform` mixes in that of each run, so that one hash serves the whole batch.
    return np.uint64(address_key(0, purpose, *address))


def uniform(seeds: Sequence[int], purpose: str, address: Sequence[int], count: int, width: int) -> Tensor:
    """Numbers in [0, 1) as [count, runs, width]; a run's part depends only on its seed, purpose and address."""
    numbers = torch.empty(count, len(seeds), width)
    _fill_uniforms(address_of(purpose, address), np.asarray(seeds, np.uint64), numbers.numpy())
    return numbers


def orders(seeds: Sequence[int], purpose: str, address: Sequence[int], count: int, width: int) -> np.ndarray:
    """Random orders of 0 .. width - 1 as [count, runs, width], addressed as `uniform` is."""
    positions = np.empty((count, len(seeds), width), np.int64)
    _fill_orders(address_of(purpose, address), np.asarray(seeds, np.uint64), positions)
    return positions


def normal(seed: int, purpose: str, width: int) -> Tensor:
    """Standard normal numbers [width] of one run."""
    numbers = uniform([seed], purpose, (), 1, width)[0, 0]
    _normal_quantiles(numbers.numpy(), numbers.numpy())
    return numbers
