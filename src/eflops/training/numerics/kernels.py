"""Compiled passes over gates and weights, each with one read and one write per number, where torch would need several
passes.

A run's bits do not depend on its position or on other runs: functions are elementwise or sum within one run. Constants
are numbers of the arrays' type: a bare float would lift all to float64. Loops are short and arrays few, because the
compiler makes vector instructions of such loops only.
"""

import numpy as np
from torch import Tensor

from eflops.training.numerics.arithmetic import ONE, ZERO, exponential, fma, logarithm, sum_of_squares, total
from eflops.training.numerics.compiled import compiled

# In place of the norm of a gradient of zeros, by which the limit would be divided.
SMALLEST = np.float32(1e-30)


def flat(values: Tensor) -> np.ndarray:
    """The numbers of a contiguous tensor, shared with it."""
    return values.view(-1).numpy()


@compiled
def ln(x: float) -> float:
    """The natural logarithm of one number."""
    return logarithm(x)


@compiled
def exp(x: float) -> float:
    """The exponential of one number."""
    return exponential(x)


@compiled
def exponentials(values: np.ndarray, powers: np.ndarray) -> None:
    """e^x; flat."""
    for index in range(values.size):
        powers[index] = exponential(values[index])


@compiled
def logarithms(values: np.ndarray, result: np.ndarray) -> None:
    """ln x; flat."""
    for index in range(values.size):
        result[index] = logarithm(values[index])


@compiled
def recover_phi(gates: np.ndarray, numbers: tuple, limit: np.float32, phi: np.ndarray) -> None:
    """scale ln(v / (1 - v)) + u c(u^2) with u = 2 v - 1 and a polynomial c, its highest power first, within `limit`.

    gates, phi [runs, size]; numbers: the coefficients of c; scale, where v is held at both ends, and 1.
    """
    coefficients, (scale, low, high, one) = numbers
    for run in range(len(gates)):
        for index in range(gates.shape[1]):
            # Held off 0 and 1, where the logit is infinite.
            v = min(max(gates[run, index], low), high)
            # The correction is odd in u, so only even powers of it are left in the polynomial.
            u = v + v - one
            square = u * u
            bend = coefficients[0]
            for power in range(1, len(coefficients)):
                bend = fma(bend, square, coefficients[power])
            phi[run, index] = min(max(fma(u, bend, scale * logarithm(v / (one - v))), -limit), limit)


@compiled
def mean_gates(phi: np.ndarray, numbers: tuple, gates: np.ndarray) -> None:
    """sum_k weight_k / (e^-phi + shift_k), at most 1; both [runs, size]; numbers: weights, shifts, and 1."""
    weights, shifts, (one,) = numbers
    for run in range(len(phi)):
        for index in range(phi.shape[1]):
            # In e^-phi all terms of the sum are positive, so nothing cancels and small means keep their digits.
            inverse_odds = exponential(-phi[run, index])
            mean = weights[0] / (inverse_odds + shifts[0])
            for node in range(1, len(weights)):
                mean += weights[node] / (inverse_odds + shifts[node])
            # The weights add up to 1 only up to rounding.
            gates[run, index] = min(mean, one)


@compiled
def sigmoids(values: np.ndarray, numbers: tuple, result: np.ndarray) -> None:
    """1 / (1 + e^-(factor x + shift)); flat; numbers: factor, shift, and 1."""
    factor, shift, one = numbers
    for index in range(values.size):
        result[index] = one / (one + exponential(-fma(values[index], factor, shift)))


@compiled
def kl_gradients(phi: np.ndarray, phi0: np.ndarray, numbers: tuple, gradients: np.ndarray) -> None:
    """dKL/dphi as `gates.kl_gradient` has it; flat.

    numbers: e^x of the integral's nodes; 2 weight e^2x; and e^LOW, e^HIGH, the limit of |phi| and 1.
    """
    nodes, heights, (low, high, limit, one) = numbers
    for index in range(phi.size):
        prior = min(max(phi0[index], -limit), limit)
        ratio = exponential(min(max(phi[index], -limit), limit) - prior)
        odds0 = exponential(prior)
        # Near ratio = 1 the subtraction is exact (Sterbenz), and at phi = phi0 it gives exactly 0.
        odds, k = ratio * odds0, ratio - one
        # A zero of the arrays' type: a literal 0.0 would be float64.
        gradient = odds0 - odds0
        for node in range(len(nodes)):
            r = one / (odds + nodes[node])
            gradient = fma(r * r * r, heights[node] * (odds0 / (odds0 + nodes[node])), gradient)
        # k is a factor of the whole integral, so it is taken out: near phi0 the sum stays of ordinary size.
        gradient *= k
        r = one / (odds + low)
        gradient = fma(r * r * low, logarithm(fma(k * r, low, one)), gradient)
        r = one / (odds + high)
        gradient = fma(-r * r * high, logarithm(fma(-k * odds0, r, one)), gradient)
        gradients[index] = gradient * odds


@compiled
def totals(values: np.ndarray, sums: np.ndarray) -> None:
    """The sum of each row of values [runs, width]."""
    for run in range(len(values)):
        sums[run] = total(values[run])


@compiled
def add(result: np.ndarray, values: np.ndarray, weight: np.float32) -> None:
    """result += weight values; flat."""
    for index in range(result.size):
        result[index] = fma(weight, values[index], result[index])


@compiled
def add_weighted(result: np.ndarray, runs: np.ndarray, weights: np.ndarray, values: np.ndarray) -> None:
    """result[run] += weight values, for each of `runs`, which are the rows of values [len(runs), width]."""
    for row in range(len(runs)):
        add(result[runs[row]], values[row], weights[row])


@compiled
def clip(gradient: np.ndarray, limit: np.float32) -> None:
    """Clip a run's gradient [width] to a Euclidean norm of at most `limit`; an infinite limit changes nothing."""
    if limit == np.inf:
        return
    factor = limit / max(np.sqrt(sum_of_squares(gradient)), SMALLEST)
    if factor < ONE:
        for index in range(gradient.size):
            gradient[index] *= factor


@compiled
def clip_rows(gradients: np.ndarray, limits: np.ndarray) -> None:
    """`clip` for each run of gradients [runs, width]."""
    for run in range(len(gradients)):
        clip(gradients[run], limits[run])


@compiled
def finite_rows(values: np.ndarray, finite: np.ndarray) -> None:
    """finite [runs] becomes false where a run's numbers [runs, width] are not all finite."""
    for run in range(len(values)):
        # What is not finite, times 0, is not a number, and neither is a sum with it.
        sound = ZERO
        for index in range(values.shape[1]):
            sound += values[run, index] * ZERO
        finite[run] &= sound == ZERO
