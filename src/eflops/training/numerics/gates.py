"""Hard concrete gates: deterministic gates, moments, recovery of phi, and the KL to the prior.

A gate is a logistic variable x = phi + noise, squeezed, stretched and clipped:

    s = sigmoid(x / beta),    z = min(1, max(0, s (zeta - gamma) + gamma)).

So z = 0 where x <= LOW and z = 1 where x >= HIGH; only in between does z move with phi.

Every function works element by element on tensors of any shape, is compiled, and has the same bits everywhere;
`engines/reference.py` has gates and KL in plain torch. Integrals over [LOW, HIGH] are Gauss-Legendre sums: the logistic
density has no pole within pi of the real axis, so a few nodes reach the accuracy of the dtype, for any phi, without a
case distinction.
"""

from functools import cache
from math import inf

import numpy as np
import torch
from torch import Tensor

from eflops.training.numerics.fit import gauss_legendre, least_squares
from eflops.training.numerics.kernels import (
    exp,
    flat,
    kl_gradients,
    ln,
    logarithms,
    mean_gates,
    recover_phi,
    sigmoids,
    totals,
)

GAMMA = -0.1
ZETA = 1.1
BETA = 0.66

# Our own logarithm, because every gate depends on the bits of these two.
LOW = BETA * ln(-GAMMA / ZETA)
HIGH = BETA * ln((1 - GAMMA) / (ZETA - 1))

# Mean gates of exactly 0 or 1 have no finite phi; recovered phi stays within about +-14 (rule "exact").
RECOVERY_EPSILON = 1e-6

# Beyond this |phi| a gate is saturated (its gradient is below 1e-5); the KL gradient is held there, because in
# float32 the differences it is made of can no longer be distinguished from 0.
SATURATION = 14.0

# Nodes that reach the rounding error of each dtype: the squeezed gate has its poles nearer (beta pi).
DENSITY_NODES = {torch.float32: 6, torch.float64: 16}
GATE_NODES = {torch.float32: 10, torch.float64: 24}


def deterministic(phi: Tensor, variant: str) -> Tensor:
    """The gate without noise: "median" is clip(stretch(sigmoid(phi / beta))), "louizos" leaves beta out."""
    if variant == "median":
        return _stretch(_sigmoid(phi, 1.0 / BETA)).clamp_(0.0, 1.0)
    if variant == "louizos":
        return _stretch(_sigmoid(phi)).clamp_(0.0, 1.0)
    raise ValueError(f'deterministic gate variant is {variant!r}; it must be "median" or "louizos"')


def active_probability(phi: Tensor) -> Tensor:
    """P(z != 0) = sigmoid(phi - beta log(-gamma / zeta))."""
    return _sigmoid(phi, 1.0, -LOW)


def expected_active(phi: Tensor) -> Tensor:
    """The expected number of non-zero gates of each row, the sum of P(z != 0) over the last axis."""
    counts = torch.empty(phi.shape[:-1], dtype=phi.dtype)
    totals(_rows(active_probability(phi)), flat(counts))
    return counts


def mean_entropy(phi: Tensor) -> Tensor:
    """The entropy of a row's gates in nats, on average: a gate is taken as open (z != 0) or closed, whatever its z."""
    opened = active_probability(phi)
    terms = torch.zeros_like(phi)
    # Our own logarithm: torch's may differ in its last bit between processors, and curves are part of the result.
    for share in (opened, torch.ones_like(opened) - opened):
        logs = torch.empty_like(share)
        logarithms(flat(share), flat(logs))
        terms -= share * logs
    entropy = torch.empty(phi.shape[:-1], dtype=phi.dtype)
    totals(flat(terms).reshape(-1, phi.shape[-1]), flat(entropy))
    return entropy / phi.shape[-1]


def mean_gate(phi: Tensor) -> Tensor:
    """E[z] = int_0^1 P(z > t) dt = int_LOW^HIGH sigmoid(phi - x) z'(x) dx, with z'(x) the gate's gradient."""
    mean = torch.empty_like(phi)
    mean_gates(_rows(phi), mean_numbers(phi.dtype), _rows(mean))
    return mean


@cache
def mean_numbers(kind: torch.dtype) -> tuple:
    """The weights, shifts and 1 for `kernels.mean_gates`: sigmoid(phi - x) = e^-x / (e^-phi + e^-x)."""
    nodes, weights = _gate_quadrature(GATE_NODES[kind])
    shifts = [exp(-x) for x in nodes]
    heights = [weight * shift for weight, shift in zip(weights, shifts, strict=True)]
    return _numbers(kind, *heights), _numbers(kind, *shifts), _numbers(kind, 1.0)


def recover(z: Tensor, rule: str, limit: float = inf) -> Tensor:
    """phi from a mean gate, within `limit`: rule "paper" is beta logit(z), rule "exact" inverts `mean_gate`.

    The paper's rule inverts the noise-free, unstretched gate; applied to mean gates it draws phi toward 0.
    """
    phi = torch.empty_like(z)
    recover_phi(_rows(z), recovery_numbers(rule, z.dtype), _numbers(z.dtype, limit)[0], _rows(phi))
    return phi


@cache
def recovery_numbers(rule: str, kind: torch.dtype) -> tuple:
    """The constants of `kernels.recover_phi`: a polynomial's coefficients; the logit's factor, the limits of z, and 1.

    Exactly, phi = logit(z) + v c(v^2) with v = 2 z - 1: the correction is odd and smooth, so few terms suffice.
    """
    if rule not in ("paper", "exact"):
        raise ValueError(f'gate recovery rule is {rule!r}; it must be "paper" or "exact"')
    # The paper's rule has zeros as its correction, so that one compiled function serves both rules.
    coefficients = _recovery_coefficients() if rule == "exact" else [0.0] * 8
    scale = 1.0 if rule == "exact" else BETA
    return _numbers(kind, *coefficients), _numbers(kind, scale, RECOVERY_EPSILON, 1.0 - RECOVERY_EPSILON, 1.0)


def kl_gradient(phi: Tensor, phi0: Tensor) -> Tensor:
    """dKL/dphi of gates at phi and at phi0, which broadcasts to phi.

    With Q(x) = sigmoid(x - phi), P(x) = sigmoid(x - phi0), and their values Q0, P0 at LOW and Q1, P1 at HIGH, the KL is
    that of the masses at z = 0 and z = 1, and of the densities in between:

        KL = Q0 ln(Q0 / P0) + (1 - Q1) ln((1 - Q1) / (1 - P1)) + int_LOW^HIGH Q' ln(Q' / P') dx.

    With k = e^(phi - phi0) - 1, differentiating and integrating by parts gives

        dKL/dphi = Q0 (1 - Q0) ln((1 - Q0) / (1 - P0)) - Q1 (1 - Q1) ln(Q1 / P1)
                   + 2 int_LOW^HIGH (P - Q) Q (1 - Q) dx.

    Each term has the sign of phi - phi0, and is exactly 0 at phi = phi0 because it is written with k:
        (1 - Q0) / (1 - P0) = 1 + k Q0,    Q1 / P1 = 1 - k Q1 e^(phi0 - HIGH),    P - Q = k Q (1 - P).
    So no large numbers cancel, near delta = 0 or elsewhere. With r(x) = 1 / (e^phi + e^x), which makes
    Q = e^x r and 1 - Q = e^phi r, every term has a factor e^phi.
    """
    gradients = torch.empty_like(phi)
    kl_gradients(flat(phi), flat(phi0.expand_as(phi).contiguous()), kl_numbers(phi.dtype), flat(gradients))
    return gradients


@cache
def kl_numbers(kind: torch.dtype) -> tuple:
    """The nodes, heights and limits for `kernels.kl_gradients`."""
    nodes, weights = _quadrature(DENSITY_NODES[kind])
    # Whatever does not depend on phi is multiplied once in float64 and then rounded.
    heights = [2.0 * weight * exp(2.0 * x) for x, weight in zip(nodes, weights, strict=True)]
    # Ends and 1 are in the tuple because literals in compiled code would be float64.
    ends = exp(LOW), exp(HIGH), SATURATION, 1.0
    return _numbers(kind, *map(exp, nodes)), _numbers(kind, *heights), _numbers(kind, *ends)


@cache
def entropy_polynomials(phi0: float) -> np.ndarray:
    """Polynomials a and b, [2, 8] from the highest power, with dKL/dphi = q (1 - q) (phi a(v) + b(v)) to within 1e-5.

    q = sigmoid(phi) and v = 2 q - 1. For one prior phi0 the gradient is a function of phi alone: beside the factor it
    shares with every gradient of a gate it is linear in phi far from 0 and bends in between, which these terms follow.
    """
    # Multiples of an integer, not linspace, and our own least squares: the coefficients must have the same bits
    # everywhere, because every gate's gradient is made of them.
    phi = torch.from_numpy(np.arange(-1000, 1001) * (SATURATION / 1000))
    q = _sigmoid(phi).numpy()
    # The factor is part of the terms, so that the fit minimises the error of the gradient and not of the quotient.
    powers = np.vander(2 * q - 1, 8) * (q * (1 - q))[:, None]
    terms = np.hstack([powers * phi.numpy()[:, None], powers])
    gradient = kl_gradient(phi, torch.tensor(phi0, dtype=torch.float64)).numpy()
    return least_squares(terms, gradient).reshape(2, 8)


@cache
def _numbers(kind: torch.dtype, *values: float) -> tuple:
    """Numbers of a tensor's type."""
    number = np.float32 if kind == torch.float32 else np.float64
    return tuple(number(value) for value in values)


def _rows(values: Tensor) -> np.ndarray:
    """A contiguous tensor's numbers as [rows, width], shared with it."""
    return values.view(-1, values.shape[-1]).numpy()


def _sigmoid(x: Tensor, factor: float = 1.0, shift: float = 0.0) -> Tensor:
    """1 / (1 + e^-(factor x + shift))."""
    result = torch.empty_like(x)
    sigmoids(flat(x), _numbers(x.dtype, factor, shift, 1.0), flat(result))
    return result


def _stretch(s: Tensor) -> Tensor:
    return s.mul(ZETA - GAMMA).add_(GAMMA)


@cache
def _recovery_coefficients() -> list[float]:
    """Coefficients of c in `recovery_numbers`, highest power first, fitted to (phi, mean_gate(phi))."""
    # Up to 16, beyond the 14 at which recovery ends. The correction is odd, so positive phi suffice; phi = 0 is left
    # out because v is 0 there.
    phi = torch.from_numpy(np.arange(1, 2001) * (16.0 / 2000))
    # The complement 1 - E[z] at phi is E[z] at -phi, which keeps its digits where E[z] is close to 1.
    complement = mean_gate(-phi).numpy()
    v = 1.0 - 2.0 * complement
    logs = np.empty((2, len(v)))
    logarithms(1.0 - complement, logs[0])
    logarithms(complement, logs[1])
    # Dividing by v leaves an even function, of which powers of v^2 are enough.
    correction = (phi.numpy() - logs[0] + logs[1]) / v
    return least_squares(np.vander(v * v, 8), correction).tolist()


@cache
def _quadrature(count: int) -> tuple[list[float], list[float]]:
    """Gauss-Legendre nodes and weights on [LOW, HIGH]."""
    nodes, weights = gauss_legendre(count)
    half = (HIGH - LOW) / 2
    return [LOW + half * (1.0 + node) for node in nodes], [half * weight for weight in weights]


@cache
def _gate_quadrature(count: int) -> tuple[list[float], list[float]]:
    """The nodes of `_quadrature`, with weights that integrate against the gate's gradient z'(x)."""
    nodes, weights = _quadrature(count)
    s = [1.0 / (1.0 + exp(-x / BETA)) for x in nodes]
    return nodes, [w * (ZETA - GAMMA) * p * (1.0 - p) / BETA for w, p in zip(weights, s, strict=True)]
