"""Passes over gates and weights that torch would make as many: compiled by numba, one read and one write a number.

A run's bits depend neither on its place nor on its company: functions work number by number, and what they sum is of
one run and always of the same length. Constants are numbers of the arrays' type: a bare float would lift all to
float64. Loops are short and arrays few, because the compiler makes vector instructions of such loops only.

Functions that call one another stay in this file: numba knows a file's old machine code by the file's date alone.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.extending import overload
from torch import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])

# Division by zero gives inf as in numpy; "contract" lets a product and a sum be one instruction, rounded once.
OPTIONS: Any = {"error_model": "numpy", "fastmath": {"contract"}}

ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)


def compiled(function: Function) -> Function:
    """Machine code, kept in __pycache__ for the next process."""
    return cast(Function, numba.njit(cache=True, **OPTIONS)(function))


def flat(values: Tensor) -> np.ndarray:
    """The numbers of a contiguous tensor, shared with it."""
    return values.view(-1).numpy()


# Exponential and logarithm of float32 as polynomials (Cephes, expf and logf), because a call of the library's would
# keep the loops around it from using vector instructions. float64, which only tests use, has the library's.
INVERSE_LN2, LN2, LN2_REST = np.float32(1.44269504), np.float32(0.693359375), np.float32(-2.12194440e-4)
LARGEST, BIAS, MANTISSA = np.float32(87), np.int32(127), np.int32(23)
FRACTION, HALF_BITS, ROOT_HALF = np.int32(0x7FFFFF), np.int32(0x3F000000), np.float32(0.70710678)


def _float32(*numbers: float) -> tuple:
    return tuple(np.float32(number) for number in numbers)


E = _float32(1.9875691e-4, 1.3981999e-3, 8.3334519e-3, 4.1665796e-2, 1.6666665e-1, 5.0000001e-1)
L = _float32(
    7.0376836e-2, -1.1514610e-1, 1.1676998e-1, -1.2420141e-1, 1.4249323e-1,
    -1.6668058e-1, 2.0000715e-1, -2.4999994e-1, 3.3333331e-1,
)  # fmt: skip


def exponential(x: Any) -> Any:
    """e^x to within a rounding error or two, in float32 for x held within the range of its results."""
    return math.exp(x)


def logarithm(x: Any) -> Any:
    """ln x to within a rounding error or two, for normal x > 0."""
    return math.log(x)


@overload(exponential, jit_options=OPTIONS)
def _exponential(x: Any) -> Any:
    def by_polynomial(x: Any) -> Any:
        """e^x = 2^n e^r with n = round(x / ln 2); ln 2 as a sum of two numbers keeps r exact."""
        e5, e4, e3, e2, e1, e0 = E
        x = LARGEST if x > LARGEST else x
        x = -LARGEST if x < -LARGEST else x
        n = np.floor(x * INVERSE_LN2 + HALF)
        r = x - n * LN2 - n * LN2_REST
        rest = ((((e5 * r + e4) * r + e3) * r + e2) * r + e1) * r + e0
        return (rest * r * r + r + ONE) * np.int32((np.int32(n) + BIAS) << MANTISSA).view(np.float32)

    def by_library(x: Any) -> Any:
        return math.exp(x)

    return by_polynomial if x == numba.float32 else by_library


@overload(logarithm, jit_options=OPTIONS)
def _logarithm(x: Any) -> Any:
    def by_polynomial(x: Any) -> Any:
        """ln x = n ln 2 + ln(1 + r) with 1 + r between the roots of 1/2 and 2."""
        l8, l7, l6, l5, l4, l3, l2, l1, l0 = L
        bits = np.float32(x).view(np.int32)
        m = np.int32((bits & FRACTION) | HALF_BITS).view(np.float32)
        n = np.float32(np.int32((bits >> MANTISSA) - BIAS))
        r = (m + m if m < ROOT_HALF else m) - ONE
        n = n if m < ROOT_HALF else n + ONE
        square = r * r
        rest = (((((((l8 * r + l7) * r + l6) * r + l5) * r + l4) * r + l3) * r + l2) * r + l1) * r + l0
        return r + (rest * r * square + LN2_REST * n - HALF * square) + LN2 * n

    def by_library(x: Any) -> Any:
        return math.log(x)

    return by_polynomial if x == numba.float32 else by_library


@compiled
def logits(values: np.ndarray, low: float, high: float, one: float, result: np.ndarray) -> None:
    """ln(v / (1 - v)) of values held within [low, high]; flat."""
    for index in range(values.size):
        v = min(max(values[index], low), high)
        result[index] = logarithm(v / (one - v))


@compiled
def bent_logits(
    values: np.ndarray, low: float, high: float, one: float, coefficients: tuple, result: np.ndarray
) -> None:
    """ln(v / (1 - v)) + u c(u^2) with u = 2 v - 1 and a polynomial c, its highest power first; else as `logits`."""
    for index in range(values.size):
        v = min(max(values[index], low), high)
        u = v + v - one
        square = u * u
        bend = coefficients[0]
        for power in range(1, len(coefficients)):
            bend = bend * square + coefficients[power]
        result[index] = logarithm(v / (one - v)) + u * bend


@compiled
def sum_of_fractions(phi: np.ndarray, weights: tuple, shifts: tuple, limit: float, total: np.ndarray) -> None:
    """sum_k weight_k / (e^-phi + shift_k), at most `limit`; flat."""
    for index in range(phi.size):
        inverse_odds = exponential(-phi[index])
        result = weights[0] / (inverse_odds + shifts[0])
        for node in range(1, len(weights)):
            result += weights[node] / (inverse_odds + shifts[node])
        total[index] = min(result, limit)


@compiled
def open_gates(
    theta: np.ndarray, phi: np.ndarray, noise: np.ndarray, shape: tuple, gates: np.ndarray, weights: np.ndarray
) -> None:
    """z as `gates.sample` has it, and theta z; all [runs, width]. `shape` of a gate: zeta - gamma, gamma, beta."""
    span, start, beta = shape
    narrow = -ONE / beta
    for run in range(len(phi)):
        for index in range(phi.shape[1]):
            s = ONE / (ONE + exponential((phi[run, index] + noise[run, index]) * narrow))
            z = min(max(s * span + start, ZERO), ONE)
            gates[run, index] = z
            weights[run, index] = theta[run, index] * z


@compiled
def gated_step(
    theta: np.ndarray,
    phi: np.ndarray,
    lam: np.ndarray,
    slopes: np.ndarray,
    gates: np.ndarray,
    rates: np.ndarray,
    entropy: np.ndarray,
    shape: tuple,
    constraint: tuple,
) -> None:
    """Descent of theta and phi [runs, width], ascent of lam [runs].

    slopes: of the loss by theta z at each draw of the gates, both [samples, runs, width]. rates [runs, 3]: of theta,
    phi and lam. entropy [runs, 2, 8]: `gates.entropy_polynomials` times T. `shape` as in `open_gates`. `constraint`:
    how many weights there are, how many gates may be open, e^LOW, and the limit of |phi|. The multiplier rises by what
    sum_j P(z_j != 0) has in excess, and starts anew at 0 once there is none.
    """
    size, target, low, limit = constraint
    rows = np.empty((3, phi.shape[1]), np.float32)
    by_theta, by_phi, active = rows[0], rows[1], rows[2]
    for run in range(len(lam)):
        by_theta[:] = by_phi[:] = ZERO
        for sample in range(len(slopes)):
            _add_slopes(slopes[sample, run], gates[sample, run], theta[run], shape, by_theta, by_phi)
        _exponentials(phi[run], active)
        _descend_gates(phi[run], by_phi, rates[run, 1], lam[run], entropy[run], low, limit, active)
        _add(theta[run], by_theta, -rates[run, 0])
        excess = _sum(active[:size]) - target
        lam[run] = lam[run] + rates[run, 2] * excess if excess > ZERO else ZERO


@compiled
def _add_slopes(
    slope: np.ndarray, gates: np.ndarray, theta: np.ndarray, shape: tuple, by_theta: np.ndarray, by_phi: np.ndarray
) -> None:
    """by_theta += slope z, and by_phi += slope theta dz/dphi, as `gates.sample_with_slope` has it, but had from z."""
    span, start, beta = shape
    inverse, steepness = ONE / span, span / beta
    for index in range(slope.size):
        z = gates[index]
        s = (z - start) * inverse
        z_slope = (s - s * s) * steepness if (z > ZERO) & (z < ONE) else ZERO
        by_theta[index] += slope[index] * z
        by_phi[index] += slope[index] * theta[index] * z_slope


@compiled
def _exponentials(values: np.ndarray, powers: np.ndarray) -> None:
    for index in range(values.size):
        powers[index] = exponential(values[index])


@compiled
def _descend_gates(
    phi: np.ndarray,
    by_phi: np.ndarray,
    rate: np.float32,
    multiplier: np.float32,
    entropy: np.ndarray,
    low: np.float32,
    limit: np.float32,
    odds: np.ndarray,
) -> None:
    """One step of phi by loss, constraint and entropy; `odds`, which comes as e^phi, leaves as P(z != 0)."""
    a7, a6, a5, a4, a3, a2, a1, a0 = entropy[0]
    b7, b6, b5, b4, b3, b2, b1, b0 = entropy[1]
    for index in range(phi.size):
        ratio = odds[index]
        share = ratio / ((ratio + low) * (ratio + ONE))
        active = share * (ratio + ONE)
        q = share * (ratio + low)
        v = q + q - ONE
        a = ((((((a7 * v + a6) * v + a5) * v + a4) * v + a3) * v + a2) * v + a1) * v + a0
        b = ((((((b7 * v + b6) * v + b5) * v + b4) * v + b3) * v + b2) * v + b1) * v + b0
        slope = by_phi[index] + multiplier * (active - active * active)
        slope += (q - q * q) * (phi[index] * a + b)
        phi[index] = min(max(phi[index] - rate * slope, -limit), limit)
        odds[index] = active


@compiled
def _add(total: np.ndarray, values: np.ndarray, weight: np.float32) -> None:
    for index in range(total.size):
        total[index] += weight * values[index]


@numba.njit(cache=True, fastmath={"reassoc"})
def _sum(values: np.ndarray) -> np.float32:
    """The sum of numbers, in the order that vector instructions like best: always the same for as many numbers."""
    result = ZERO
    for index in range(values.size):
        result += values[index]
    return result


@compiled
def descend(theta: np.ndarray, slopes: np.ndarray, rates: np.ndarray) -> None:
    """theta -= rate slope, [runs, width] with a rate for each run."""
    for run in range(len(rates)):
        _add(theta[run], slopes[run], -rates[run])


@compiled
def add_weighted(total: np.ndarray, runs: np.ndarray, weights: np.ndarray, values: np.ndarray) -> None:
    """total[run] += weight values, for each of `runs`, which are the rows of values [len(runs), width]."""
    for row in range(len(runs)):
        _add(total[runs[row]], values[row], weights[row])


@compiled
def errors(outputs: np.ndarray, labels: np.ndarray, chosen: np.ndarray, weight: np.float32, result: np.ndarray) -> None:
    """(output - label) weight in each run's chosen rows; the others, which `result` has as 0, stay."""
    for run in range(chosen.shape[0]):
        for row in chosen[run]:
            result[run, row] = (outputs[run, row] - labels[row]) * weight


@compiled
def mark_largest(bits: np.ndarray, start: int, stop: int, keep: int, marks: np.ndarray) -> None:
    """Mark the `keep` largest of the numbers from start to stop in each row, of equal ones the first.

    Numbers that are not negative are in the order of their bits read as whole numbers, and what is not a number comes
    last. So the keep-th largest is found bit by bit: it has a bit if enough numbers are as large as that makes it.
    """
    for run in range(len(bits)):
        row, marked, least = bits[run, start:stop], marks[run, start:stop], np.int32(0)
        for place in range(30, -1, -1):
            larger = np.int32(least | (1 << place))
            if _count(row, larger) >= keep:
                least = larger
        for index in range(row.size):
            marked[index] = row[index] >= least
        spare, index = _count(row, least) - keep, row.size - 1
        while spare > 0:
            if row[index] == least:
                marked[index] = False
                spare -= 1
            index -= 1


@compiled
def _count(row: np.ndarray, least: np.int32) -> np.int32:
    """How many numbers are at least `least`; a count that is not of the numbers' own width would be slower."""
    count = np.int32(0)
    for index in range(row.size):
        count = np.int32(count + np.int32(row[index] >= least))
    return count


@compiled
def keep_marked(theta: np.ndarray, gates: np.ndarray, marks: np.ndarray, size: int, tails: np.ndarray) -> None:
    """Weights that are not marked become 0, and their gates the average of theirs, `tails` [runs]; all [runs, width].

    The padding behind `size` weights counts as not marked, and does not count in the average.
    """
    for run in range(len(tails)):
        rest, left = _sum_unmarked(gates[run, :size], marks[run, :size])
        tails[run] = rest / np.float32(left if left > 0 else 1)
        _set_unmarked(theta[run], marks[run], ZERO)
        _set_unmarked(gates[run], marks[run], tails[run])


@numba.njit(cache=True, fastmath={"reassoc"})
def _sum_unmarked(values: np.ndarray, marks: np.ndarray) -> tuple[np.float32, np.int32]:
    """The sum of the values that are not marked, and how many they are."""
    result, left = ZERO, np.int32(0)
    for index in range(values.size):
        result += ZERO if marks[index] else values[index]
        left += np.int32(not marks[index])
    return result, left


@compiled
def _set_unmarked(values: np.ndarray, marks: np.ndarray, value: np.float32) -> None:
    for index in range(values.size):
        values[index] = values[index] if marks[index] else value
