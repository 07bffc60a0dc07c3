"""A client's local steps with gates, in one compiled call for all runs that select it.

Each step draws gates z, takes the loss's gradient at theta~ z, and applies the gradients of loss, entropy and
constraint: descent on (theta~, phi), ascent on the multiplier lam. All gradients of a step are taken at the same theta~
and phi. Messages carry mean gates, so phi is recovered from them at the start, and averaged over the noise at the end.
"""

from typing import NamedTuple

import numpy as np
import torch

from eflops.training.methods.batches import Batches, rows_of_step
from eflops.training.models.base import Layout, gradient
from eflops.training.numerics import gates as hard_concrete
from eflops.training.numerics.arithmetic import ONE, ZERO, exponential, fma, logarithm, total
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.kernels import add, clip_rows, exp, exponentials, kl_gradients, mean_gates, recover_phi
from eflops.training.numerics.noise import fill_uniform

# Half a step of the noise's type keeps the logistic quantile finite at u = 0.
LEAST_NOISE = np.float32(2.0**-24)

# A gate's shape, and the numbers of the mean gate, of the KL's gradient and of phi's recovery by either rule. They are
# part of the compiled code: handing them over takes longer than a step of one run.
SPAN, START, BETA, E_LOW = map(
    np.float32,
    (hard_concrete.ZETA - hard_concrete.GAMMA, hard_concrete.GAMMA, hard_concrete.BETA, exp(hard_concrete.LOW)),
)
MEAN, KL = hard_concrete.mean_numbers(torch.float32), hard_concrete.kl_numbers(torch.float32)
EXACT_NUMBERS, PAPER_NUMBERS = (hard_concrete.recovery_numbers(rule, torch.float32) for rule in ("exact", "paper"))

RAW, EXACT, PAPER = range(3)

# Columns of the runs' numbers: rates of theta, phi and lam, the clip, T, and T times `gates.entropy_polynomials`.
RATE, GATE_RATE, MULTIPLIER_RATE, CLIP, TEMPERATURE, ENTROPY = range(6)
TERMS = 8


class Local(NamedTuple):
    """What a step changes, in place: theta [runs, size], phi [runs, gated], lam [runs]."""

    theta: np.ndarray
    phi: np.ndarray
    lam: np.ndarray


class Limits(NamedTuple):
    """The limit of |phi|, and how many gates may be open."""

    phi: np.float32
    open: np.float32


@compiled
def gated_update(
    rows: Layout, theta: np.ndarray, gates: np.ndarray, lam: np.ndarray, numbers: np.ndarray, prior: np.ndarray,
    limits: Limits, rule: int, batches: Batches, noise: tuple, samples: int,
) -> None:  # fmt: skip
    """All local steps of a round on theta [runs, size], the mean gates [runs, gated] and lam [runs], in place.

    numbers [runs, ENTROPY + 2 TERMS]. prior [runs, gated]: each gate's phi_init if the entropy's gradient is not a
    polynomial, else empty. rule: how phi is recovered, EXACT or PAPER; RAW if `gates` holds phi itself. noise: the
    address of its numbers and the runs' seeds.
    """
    (steps, orders, size), (address, seeds) = batches, noise
    phi, weights = np.empty_like(gates), np.empty_like(theta)
    drawn, gradients = np.empty((samples, *gates.shape), np.float32), np.empty((samples, *theta.shape), np.float32)
    if rule == RAW:
        phi[:] = gates
    else:
        recover_phi(gates, EXACT_NUMBERS if rule == EXACT else PAPER_NUMBERS, limits.phi, phi)
    local = Local(theta, phi, lam)
    for step in range(steps):
        chosen = rows_of_step(orders, size, step)
        for sample in range(samples):
            open_gates(local, address, seeds, step * samples + sample, drawn[sample], weights)
            gradient(rows, weights, chosen, gradients[sample])
            # Before the chain rule: the limit is on the model's gradient, whatever share of it a gate lets through.
            clip_rows(gradients[sample], numbers[:, CLIP])
        gated_step(local, gradients, drawn, numbers, prior, limits)
    if rule == RAW:
        gates[:] = phi
    else:
        # The expectation, which is the limit of the paper's repeated sampling, without its noise.
        mean_gates(phi, MEAN, gates)


@compiled
def open_gates(
    local: Local, address: np.uint64, seeds: np.ndarray, turn: int, gates: np.ndarray, weights: np.ndarray
) -> None:
    """Draw z [runs, gated], and compute theta z [runs, size]; ungated parameters have no gate."""
    noise = np.empty(gates.shape[1], np.float32)
    for run in range(len(weights)):
        fill_uniform(address, seeds[run], turn, noise)
        _draw(local.phi[run], noise, gates[run])
        for index in range(noise.size):
            weights[run, index] = local.theta[run, index] * gates[run, index]
        weights[run, noise.size :] = local.theta[run, noise.size :]


@compiled
def _draw(phi: np.ndarray, uniform: np.ndarray, gates: np.ndarray) -> None:
    """Gates with logistic noise, ln(u / (1 - u)); flat.

    Two loops, because one would need more registers than the processor has.
    """
    # One division here in place of one for every gate.
    narrow = -ONE / BETA
    for index in range(phi.size):
        u = min(max(uniform[index], LEAST_NOISE), ONE - LEAST_NOISE)
        gates[index] = logarithm(u / (ONE - u))
    for index in range(phi.size):
        s = ONE / (ONE + exponential((phi[index] + gates[index]) * narrow))
        gates[index] = min(max(fma(s, SPAN, START), ZERO), ONE)


@compiled
def gated_step(
    local: Local, gradients: np.ndarray, gates: np.ndarray, numbers: np.ndarray, prior: np.ndarray, limits: Limits
) -> None:
    """One step, with the loss's gradients averaged over the draws of the gates.

    gradients: [samples, runs, size]; gates: [samples, runs, gated]. The multiplier rises with the excess of sum_j
    P(z_j != 0) over the limit, and restarts at 0 without an excess.
    """
    by_theta, by = np.empty(local.theta.shape[1], np.float32), np.empty((3, local.phi.shape[1]), np.float32)
    by_phi, active, entropy = by[0], by[1], by[2]
    share = ONE / np.float32(len(gradients))
    for run in range(len(local.lam)):
        theta, phi, values = local.theta[run], local.phi[run], numbers[run]
        by_theta[:] = by_phi[:] = ZERO
        for sample in range(len(gradients)):
            _add_gradients(gradients[sample, run], gates[sample, run], theta, share, by_theta, by_phi)
        # Each gate has its own prior, which no polynomial fits, so this is the closed form.
        if prior.size:
            kl_gradients(phi, prior[run], KL, entropy)
            add(by_phi, entropy, values[TEMPERATURE])
        # `active` holds e^phi here; `_descend_gates` turns it into P(z != 0) in the pass that moves phi.
        exponentials(phi, active)
        _descend_gates(phi, by_phi, values[GATE_RATE], local.lam[run], values[ENTROPY:], limits.phi, active)
        add(theta, by_theta, -values[RATE])
        # After theta and phi moved, but from the gates before: all gradients of a step are taken at the same point.
        excess = total(active) - limits.open
        local.lam[run] = fma(values[MULTIPLIER_RATE], excess, local.lam[run]) if excess > ZERO else ZERO


@compiled
def _add_gradients(
    gradient: np.ndarray,
    gates: np.ndarray,
    theta: np.ndarray,
    share: np.float32,
    by_theta: np.ndarray,
    by_phi: np.ndarray,
) -> None:
    """by_theta += gradient z, and by_phi += gradient theta dz/dphi, the latter from z."""
    inverse, steepness = ONE / SPAN, SPAN / BETA
    for index in range(gates.size):
        z, part = gates[index], gradient[index] * share
        # From z, so that the noise of a draw need not be stored until here.
        s = (z - START) * inverse
        # A clipped gate does not move with phi, so its gradient is exactly 0.
        z_gradient = fma(-s, s, s) * steepness if (z > ZERO) & (z < ONE) else ZERO
        by_theta[index] = fma(part, z, by_theta[index])
        by_phi[index] = fma(part * theta[index], z_gradient, by_phi[index])
    for index in range(gates.size, gradient.size):
        by_theta[index] = fma(gradient[index], share, by_theta[index])


@compiled
def _descend_gates(
    phi: np.ndarray, by_phi: np.ndarray, rate: np.float32, multiplier: np.float32, entropy: np.ndarray,
    limit: np.float32, odds: np.ndarray,
) -> None:  # fmt: skip
    """One step of phi by loss, constraint and entropy; `odds` is e^phi on entry and P(z != 0) on return."""
    a7, a6, a5, a4, a3, a2, a1, a0 = entropy[:TERMS]
    b7, b6, b5, b4, b3, b2, b1, b0 = entropy[TERMS:]
    for index in range(phi.size):
        ratio = odds[index]
        # One division for two sigmoids: P(z != 0) = ratio / (ratio + E_LOW) and q = ratio / (ratio + 1).
        share = ratio / ((ratio + E_LOW) * (ratio + ONE))
        active = share * (ratio + ONE)
        q = share * (ratio + E_LOW)
        v = q + q - ONE
        a = fma(fma(fma(fma(fma(fma(fma(a7, v, a6), v, a5), v, a4), v, a3), v, a2), v, a1), v, a0)
        b = fma(fma(fma(fma(fma(fma(fma(b7, v, b6), v, b5), v, b4), v, b3), v, b2), v, b1), v, b0)
        # d P(z != 0) / d phi = P (1 - P); `active - active^2` in one fused step.
        gradient = fma(multiplier, fma(-active, active, active), by_phi[index])
        # T is already a factor of the polynomials' coefficients (ENTROPY), so that the loop needs no further product.
        gradient = fma(fma(-q, q, q), fma(phi[index], a, b), gradient)
        phi[index] = min(max(fma(-rate, gradient, phi[index]), -limit), limit)
        odds[index] = active


@compiled
def add_answer(
    sums: tuple, runs: np.ndarray, weights: np.ndarray, theta: np.ndarray, gates: np.ndarray, lam: np.ndarray
) -> None:
    """A client's answer for some runs, times their weights [len(runs)], to the sums of theta~ z, z and lam.

    theta: [len(runs), size]; gates: [len(runs), gated].
    """
    weighted_theta, weighted_gates, weighted_lam = sums
    for row in range(len(runs)):
        run, weight = runs[row], weights[row]
        total_theta = weighted_theta[run]
        for index in range(gates.shape[1]):
            # The product is of one client's values: the mean of theta~ z differs from the product of the means.
            total_theta[index] = fma(weight, theta[row, index] * gates[row, index], total_theta[index])
        for index in range(gates.shape[1], total_theta.size):
            total_theta[index] = fma(weight, theta[row, index], total_theta[index])
        add(weighted_gates[run], gates[row], weight)
        weighted_lam[run] = fma(weight, lam[row], weighted_lam[run])
