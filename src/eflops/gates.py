"""Hard concrete gates: samples, deterministic gates, moments, recovery of phi, and the KL to the prior.

A gate is a logistic variable x = phi + noise, squeezed, stretched and clipped:

    s = sigmoid(x / beta),    z = min(1, max(0, s (zeta - gamma) + gamma)).

So z = 0 where x <= LOW and z = 1 where x >= HIGH; only in between does z move with phi.

Every function works element by element on tensors of any shape and has no branch that depends on other
elements, so a row's bits do not depend on the rows beside it as long as the last axis is a multiple of 64
(torch rounds differently in the last, incomplete vector of a tensor). Integrals over [LOW, HIGH] are
Gauss-Legendre sums: the logistic density has no pole within pi of the real axis, so a few nodes reach the
accuracy of the dtype, for any phi, without a case distinction.
"""

from functools import cache
from math import exp, log

import numpy as np
import torch
from torch import Tensor

from eflops.fused import bent_logits, flat, logits, sum_of_fractions

GAMMA = -0.1
ZETA = 1.1
BETA = 0.66

LOW = BETA * log(-GAMMA / ZETA)
HIGH = BETA * log((1 - GAMMA) / (ZETA - 1))

# Mean gates of exactly 0 or 1 have no finite phi; recovered phi stays within about +-14 (rule "exact").
RECOVERY_EPSILON = 1e-6

# Beyond this |phi| a gate is saturated (its slope is below 1e-5); the KL gradient is held there, because in
# float32 the differences it is made of can no longer be told from 0.
SATURATION = 14.0

# Nodes that reach the rounding error of each dtype: the squeezed gate has its poles nearer (beta pi).
DENSITY_NODES = {torch.float32: 6, torch.float64: 16}
GATE_NODES = {torch.float32: 10, torch.float64: 24}


def logistic_noise(uniform: Tensor) -> Tensor:
    """log u - log(1 - u) for u in [0, 1), kept finite at u = 0 by half a step of the dtype."""
    return _logit(uniform, torch.finfo(uniform.dtype).eps / 2)


def sample(phi: Tensor, noise: Tensor) -> Tensor:
    """z = clip(sigmoid((phi + noise) / beta) (zeta - gamma) + gamma, 0, 1)."""
    return _stretch(_squeeze(phi, noise)).clamp_(0.0, 1.0)


def sample_with_slope(phi: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """z and dz/dphi = (zeta - gamma) s (1 - s) / beta, which is 0 where z is clipped.

    Local steps have the same from `fused.open_gates`, in float32 and in one pass.
    """
    s = _squeeze(phi, noise)
    stretched = _stretch(s)
    inside = (stretched > 0.0) & (stretched < 1.0)
    return stretched.clamp(0.0, 1.0), torch.where(inside, (s - s * s) * ((ZETA - GAMMA) / BETA), 0.0)


def deterministic(phi: Tensor, variant: str) -> Tensor:
    """The gate without noise: "median" is clip(stretch(sigmoid(phi / beta))), "louizos" leaves beta out."""
    if variant == "median":
        return _stretch(torch.sigmoid(phi / BETA)).clamp_(0.0, 1.0)
    if variant == "louizos":
        return _stretch(torch.sigmoid(phi)).clamp_(0.0, 1.0)
    raise ValueError(f'deterministic gate variant is {variant!r}; it must be "median" or "louizos"')


def active_probability(phi: Tensor) -> Tensor:
    """P(z != 0) = sigmoid(phi - beta log(-gamma / zeta))."""
    return torch.sigmoid(phi - LOW)


def expected_active(phi: Tensor) -> Tensor:
    """The expected number of non-zero gates of each row, the sum of P(z != 0) over the last axis."""
    return active_probability(phi).sum(dim=-1)


def mean_gate(phi: Tensor) -> Tensor:
    """E[z] = int_0^1 P(z > t) dt = int_LOW^HIGH sigmoid(phi - x) z'(x) dx, with z'(x) the gate's slope."""
    nodes, weights = _gate_quadrature(GATE_NODES[phi.dtype])
    # sigmoid(phi - x) = e^-x / (e^-phi + e^-x)
    shifts = [exp(-x) for x in nodes]
    heights = [weight * shift for weight, shift in zip(weights, shifts, strict=True)]
    mean, (one,) = torch.empty_like(phi), _numbers(phi.dtype, 1.0)
    sum_of_fractions(flat(phi), _numbers(phi.dtype, *heights), _numbers(phi.dtype, *shifts), one, flat(mean))
    return mean


def recover(z: Tensor, rule: str) -> Tensor:
    """phi from a mean gate: rule "paper" is beta logit(z), rule "exact" is the inverse of `mean_gate`.

    The paper's rule inverts the noise-free, unstretched gate; applied to mean gates it draws phi toward 0.
    """
    if rule == "paper":
        return _logit(z, RECOVERY_EPSILON).mul_(BETA)
    if rule == "exact":
        return _invert_mean_gate(z)
    raise ValueError(f'gate recovery rule is {rule!r}; it must be "paper" or "exact"')


def kl(phi: Tensor, phi0: Tensor) -> Tensor:
    """KL(q || p) of the gates at phi and at phi0, in closed form. `phi0` is a scalar or broadcasts to phi.

    With delta = phi - phi0, Q(x) = sigmoid(x - phi), P(x) = sigmoid(x - phi0), Q0 = Q(LOW), Q1 = Q(HIGH):

        KL = Q0 ln(Q0 / P0) + (1 - Q1) ln((1 - Q1) / (1 - P1)) + int_Q0^Q1 (delta + 2 ln w(u)) du,
        w(u) = u + e^-delta (1 - u).

    The integral's antiderivative cancels near delta = 0, so there the integral itself is summed.
    """
    delta = phi - phi0
    near = delta.abs() < 0.5
    far_delta = torch.where(near, torch.ones_like(delta), delta)
    return torch.where(near, _kl_near(phi, delta), _kl_far(phi, phi0, far_delta))


def kl_gradient(phi: Tensor, phi0: Tensor) -> Tensor:
    """dKL/dphi; in a loop over one prior, make a `KlGradient` once instead."""
    return KlGradient(phi0)(phi)


class KlGradient:
    """dKL/dphi for a fixed prior phi0, which is a scalar tensor or broadcasts to phi.

    With k = e^(phi - phi0) - 1 and Q, P as in `kl`, differentiating and integrating by parts gives

        dKL/dphi = Q0 (1 - Q0) ln((1 - Q0) / (1 - P0)) - Q1 (1 - Q1) ln(Q1 / P1)
                   + 2 int_LOW^HIGH (P - Q) Q (1 - Q) dx.

    Each term has the sign of phi - phi0, and is exactly 0 at phi = phi0 because it is written with k:
        (1 - Q0) / (1 - P0) = 1 + k Q0,    Q1 / P1 = 1 - k Q1 e^(phi0 - HIGH),    P - Q = k Q (1 - P).
    So no large numbers cancel, near delta = 0 or elsewhere. With r(x) = 1 / (e^phi + e^x), which makes
    Q = e^x r and 1 - Q = e^phi r, a factor e^phi comes out of everything, and what depends on phi0 alone is
    computed once. The loop uses exp and log rather than expm1 and log1p, which cost 3 to 4 times as much:
    an absolute error of one rounding step is all a gradient needs.
    """

    def __init__(self, phi0: Tensor) -> None:
        self._phi0 = phi0.clamp(-SATURATION, SATURATION)
        prior = self._phi0.double()
        nodes, weights = _quadrature(DENSITY_NODES[phi0.dtype])
        self._nodes = [
            (exp(x), (torch.sigmoid(prior - x) * (2.0 * weight * exp(2.0 * x))).to(phi0.dtype))
            for x, weight in zip(nodes, weights, strict=True)
        ]
        self._odds0 = torch.exp(prior).to(phi0.dtype)
        self._one = torch.ones((), dtype=phi0.dtype)

    def __call__(self, phi: Tensor) -> Tensor:
        ratio = phi.clamp(-SATURATION, SATURATION).sub_(self._phi0).exp_()
        odds = ratio * self._odds0
        k = ratio.sub_(1.0)
        gradient = torch.zeros_like(phi)
        for exp_x, coefficient in self._nodes:
            gradient.addcmul_(odds.add(exp_x).reciprocal_().pow_(3), coefficient)
        gradient.mul_(k)
        r = odds.add(exp(LOW)).reciprocal_()
        log_ratio = torch.addcmul(self._one, k, r, value=exp(LOW)).log_()
        gradient.addcmul_(r.square_(), log_ratio, value=exp(LOW))
        r = odds.add(exp(HIGH)).reciprocal_()
        log_ratio = torch.addcmul(self._one, k.mul_(self._odds0), r, value=-1.0).log_()
        gradient.addcmul_(r.square_(), log_ratio, value=-exp(HIGH))
        return gradient.mul_(odds)


@cache
def entropy_polynomials(phi0: float) -> np.ndarray:
    """Polynomials a and b, [2, 8] from the highest power, with dKL/dphi = q (1 - q) (phi a(v) + b(v)) to within 1e-5.

    q = sigmoid(phi) and v = 2 q - 1. For one prior phi0 the gradient is a function of phi alone: beside the factor it
    shares with every slope of a gate it is linear in phi far from 0 and bends in between, which these terms follow.
    """
    phi = torch.linspace(-SATURATION, SATURATION, 2001, dtype=torch.float64)
    q = torch.sigmoid(phi).numpy()
    powers = np.vander(2 * q - 1, 8) * (q * (1 - q))[:, None]
    terms = np.hstack([powers * phi.numpy()[:, None], powers])
    gradient = kl_gradient(phi, torch.tensor(phi0, dtype=torch.float64)).numpy()
    return np.linalg.lstsq(terms, gradient, rcond=None)[0].reshape(2, 8)


def _squeeze(phi: Tensor, noise: Tensor) -> Tensor:
    return torch.add(phi, noise).mul_(1.0 / BETA).sigmoid_()


@cache
def _numbers(kind: torch.dtype, *values: float) -> tuple:
    """Numbers of a tensor's type."""
    number = np.float32 if kind == torch.float32 else np.float64
    return tuple(number(value) for value in values)


def _stretch(s: Tensor) -> Tensor:
    return s.mul(ZETA - GAMMA).add_(GAMMA)


def _kl_near(phi: Tensor, delta: Tensor) -> Tensor:
    """KL for small delta: every logarithm is a log1p of something that is exactly 0 at delta = 0."""
    q0, q1 = torch.sigmoid(LOW - phi), torch.sigmoid(HIGH - phi)
    total = q0 * torch.log1p(torch.expm1(-delta) * (1.0 - q0))
    total += (1.0 - q1) * torch.log1p(torch.expm1(delta) * q1)
    up, down = torch.expm1(delta / 2), torch.expm1(-delta / 2)
    nodes, weights = np.polynomial.legendre.leggauss(10)
    for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
        u = q0 + (q1 - q0) * ((1.0 + node) / 2)
        total += (q1 - q0) * weight * torch.log1p(u * up + (1.0 - u) * down)
    return total


def _kl_far(phi: Tensor, phi0: Tensor, delta: Tensor) -> Tensor:
    """KL by the antiderivative of ln w, which is (w ln w - w) / (1 - e^-delta)."""
    log_sigmoid = torch.nn.functional.logsigmoid
    q0, q1, r0, r1 = (torch.sigmoid(x) for x in (LOW - phi, HIGH - phi, phi - LOW, phi - HIGH))
    clipped = q0 * (log_sigmoid(LOW - phi) - log_sigmoid(LOW - phi0))
    clipped += r1 * (log_sigmoid(phi - HIGH) - log_sigmoid(phi0 - HIGH))
    w0, w1 = q0 + torch.exp(-delta) * r0, q1 + torch.exp(-delta) * r1
    antiderivative = (torch.xlogy(w1, w1) - w1) - (torch.xlogy(w0, w0) - w0)
    return clipped + delta * (q1 - q0) - 2.0 / torch.expm1(-delta) * antiderivative


def _logit(z: Tensor, epsilon: float) -> Tensor:
    """ln(z / (1 - z)) with z held epsilon away from 0 and 1."""
    result = torch.empty_like(z)
    low, high, one = _numbers(z.dtype, epsilon, 1.0 - epsilon, 1.0)
    logits(flat(z), low, high, one, flat(result))
    return result


def _invert_mean_gate(z: Tensor) -> Tensor:
    """phi = logit(z) + v c(v^2) with v = 2 z - 1: the correction is odd and smooth, so few terms suffice."""
    phi, (low, high, one) = torch.empty_like(z), _numbers(z.dtype, RECOVERY_EPSILON, 1.0 - RECOVERY_EPSILON, 1.0)
    bent_logits(flat(z), low, high, one, _numbers(z.dtype, *_recovery_coefficients()), flat(phi))
    return phi


@cache
def _recovery_coefficients() -> list[float]:
    """Coefficients of c in `_invert_mean_gate`, highest power first, fitted to (phi, mean_gate(phi))."""
    phi = torch.linspace(0.0, 16.0, 2001, dtype=torch.float64)[1:]
    # The complement 1 - E[z] at phi is E[z] at -phi, which keeps its digits where E[z] is close to 1.
    complement = mean_gate(-phi).numpy()
    v = 1.0 - 2.0 * complement
    correction = (phi.numpy() - np.log1p(-complement) + np.log(complement)) / v
    fit = np.polynomial.Chebyshev.fit(v * v, correction, deg=7, domain=[0.0, 1.0])
    return [float(c) for c in fit.convert(kind=np.polynomial.Polynomial).coef[::-1]]


@cache
def _quadrature(count: int) -> tuple[list[float], list[float]]:
    """Gauss-Legendre nodes and weights on [LOW, HIGH]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    half = (HIGH - LOW) / 2
    return (LOW + half * (1.0 + nodes)).tolist(), (half * weights).tolist()


@cache
def _gate_quadrature(count: int) -> tuple[list[float], list[float]]:
    """The same nodes, with weights that integrate against the gate's slope z'(x)."""
    nodes, weights = _quadrature(count)
    s = 1.0 / (1.0 + np.exp(-np.array(nodes) / BETA))
    return nodes, (np.array(weights) * (ZETA - GAMMA) * s * (1.0 - s) / BETA).tolist()
