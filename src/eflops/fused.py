"""Passes over gates and weights that torch would make as many: compiled by numba, one read and one write a number.

Every function works number by number and never sums over them, so a number's bits depend neither on its place nor on
its company. Arrays are flat unless said. Constants come as tuples of numbers of the arrays' type: a bare float would
lift all to float64, and a tuple's fixed length lets the compiler unroll the loop over it and use vector instructions.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from torch import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Machine code, kept in __pycache__ for the next process; division by zero gives inf as in numpy."""
    return cast(Function, numba.njit(cache=True, error_model="numpy")(function))


def flat(values: Tensor) -> np.ndarray:
    """The numbers of a contiguous tensor, shared with it."""
    return values.view(-1).numpy()


@compiled
def stretch(squeezed: np.ndarray, constants: tuple, gates: np.ndarray, slopes: np.ndarray) -> None:
    """z = clip(s span + start, 0, 1), and dz/dphi = s (1 - s) steepness where z is not clipped."""
    span, start, steepness, zero, one = constants
    for index in range(squeezed.size):
        s = squeezed[index]
        stretched = s * span + start
        gates[index] = min(max(stretched, zero), one)
        slopes[index] = (s - s * s) * steepness if zero < stretched < one else zero


@compiled
def sum_of_fractions(values: np.ndarray, weights: tuple, shifts: tuple, total: np.ndarray) -> None:
    """total = sum_k weight_k / (value + shift_k)."""
    for index in range(values.size):
        value = values[index]
        result = weights[0] / (value + shifts[0])
        for node in range(1, len(weights)):
            result += weights[node] / (value + shifts[node])
        total[index] = result


@compiled
def add_odd_polynomial(values: np.ndarray, coefficients: tuple, total: np.ndarray) -> None:
    """total += v c(v^2) for a polynomial c, its highest power first."""
    for index in range(values.size):
        v = values[index]
        square = v * v
        result = coefficients[0]
        for power in range(1, len(coefficients)):
            result = result * square + coefficients[power]
        total[index] += v * result


@compiled
def add_slopes(
    slope: np.ndarray, gates: np.ndarray, gate_slopes: np.ndarray, by_theta: np.ndarray, by_gate: np.ndarray
) -> None:
    """by_theta += slope z, and by_gate += slope dz/dphi; all [runs, width]."""
    for run in range(slope.shape[0]):
        for index in range(slope.shape[1]):
            by_theta[run, index] += slope[run, index] * gates[run, index]
            by_gate[run, index] += slope[run, index] * gate_slopes[run, index]


@compiled
def descend(
    theta: np.ndarray,
    phi: np.ndarray,
    odds: np.ndarray,
    by_theta: np.ndarray,
    by_gate: np.ndarray,
    rates: np.ndarray,
    entropy: np.ndarray,
    constants: tuple,
) -> None:
    """One step of theta and phi; `odds`, which comes as e^phi, leaves as P(z != 0); all [runs, width].

    by_theta is the slope of the loss by theta, by_gate times theta that by phi; both leave as 0. rates [runs, 3]: of
    theta, of phi, and the multiplier of P(z != 0). entropy [runs, 2, 8]: `gates.entropy_polynomials` times T.
    """
    low, limit, zero, one = constants
    for run in range(theta.shape[0]):
        rate, gate_rate, multiplier = rates[run]
        a7, a6, a5, a4, a3, a2, a1, a0 = entropy[run, 0]
        b7, b6, b5, b4, b3, b2, b1, b0 = entropy[run, 1]
        for index in range(theta.shape[1]):
            ratio = odds[run, index]
            active = ratio / (ratio + low)
            q = ratio / (ratio + one)
            v = q + q - one
            a = ((((((a7 * v + a6) * v + a5) * v + a4) * v + a3) * v + a2) * v + a1) * v + a0
            b = ((((((b7 * v + b6) * v + b5) * v + b4) * v + b3) * v + b2) * v + b1) * v + b0
            slope = by_gate[run, index] * theta[run, index]
            slope += multiplier * (active - active * active)
            slope += (q - q * q) * (phi[run, index] * a + b)
            theta[run, index] -= rate * by_theta[run, index]
            phi[run, index] = min(max(phi[run, index] - gate_rate * slope, -limit), limit)
            odds[run, index] = active
            by_theta[run, index] = by_gate[run, index] = zero


@compiled
def ascend(multiplier: np.ndarray, excess: np.ndarray, rates: np.ndarray) -> None:
    """The multiplier of a constraint rises by what is in excess, and starts anew at 0 once nothing is."""
    for run in range(multiplier.size):
        multiplier[run] = multiplier[run] + rates[run] * excess[run] if excess[run] > 0 else 0


# SplitMix64 (Steele, Lea and Flood, 2014): the n-th number of a stream is a mix of key + n GOLDEN, so it can be asked
# for out of turn, and many at once.
GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S8, S27, S30, S31, S40 = (np.uint64(bits) for bits in (8, 27, 30, 31, 40))
LOWEST, STEP = np.uint64(0xFFFFFF), np.float32(2.0**-24)


@compiled
def mixed(number: np.uint64) -> np.uint64:
    """A 64-bit number whose every bit depends on every bit of `number`."""
    number = (number ^ (number >> S30)) * FIRST
    number = (number ^ (number >> S27)) * SECOND
    return number ^ (number >> S31)


@compiled
def fill_uniform(address: np.uint64, seeds: np.ndarray, numbers: np.ndarray) -> None:
    """Multiples of 2^-24 in [0, 1) as [count, runs, width]; a run's numbers depend on its seed and the address alone.

    One mix of 64 bits makes two numbers: one of the first half of a row, one of the second.
    """
    count, runs, width = numbers.shape
    half = (width + 1) // 2
    for run in range(runs):
        key = mixed(address ^ mixed(seeds[run] + GOLDEN))
        for turn in range(count):
            start = key + np.uint64(turn * half) * GOLDEN
            row = numbers[turn, run]
            for index in range(width // 2):
                bits = mixed(start + np.uint64(index) * GOLDEN)
                row[index] = np.float32(np.int32(bits >> S40)) * STEP
                row[half + index] = np.float32(np.int32((bits >> S8) & LOWEST)) * STEP
            if width % 2:
                row[half - 1] = np.float32(np.int32(mixed(start + np.uint64(half - 1) * GOLDEN) >> S40)) * STEP
