"""Gates and their KL in plain torch and closed form, which tests hold the compiled functions against."""

import numpy as np
import torch
from torch import Tensor

from eflops.training.numerics import gates


def logistic_noise(uniform: Tensor) -> Tensor:
    """ln(u / (1 - u)) for u in [0, 1), kept finite at the ends by half a step of the dtype."""
    return torch.logit(uniform, torch.finfo(uniform.dtype).eps / 2)


def sample(phi: Tensor, noise: Tensor) -> Tensor:
    """z = clip(sigmoid((phi + noise) / beta) (zeta - gamma) + gamma, 0, 1)."""
    return _stretch(_squeeze(phi, noise)).clamp_(0.0, 1.0)


def sample_with_gradient(phi: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """z and dz/dphi = (zeta - gamma) s (1 - s) / beta, which is 0 where z is clipped."""
    s = _squeeze(phi, noise)
    stretched = _stretch(s)
    inside = (stretched > 0.0) & (stretched < 1.0)
    return stretched.clamp(0.0, 1.0), torch.where(inside, (s - s * s) * ((gates.ZETA - gates.GAMMA) / gates.BETA), 0.0)


def kl(phi: Tensor, phi0: Tensor) -> Tensor:
    """KL(q || p) of the gates at phi and at phi0, in closed form. `phi0` is a scalar or broadcasts to phi.

    With delta = phi - phi0, Q(x) = sigmoid(x - phi), P(x) = sigmoid(x - phi0), Q0 = Q(LOW), Q1 = Q(HIGH):

        KL = Q0 ln(Q0 / P0) + (1 - Q1) ln((1 - Q1) / (1 - P1)) + int_Q0^Q1 (delta + 2 ln w(u)) du,
        w(u) = u + e^-delta (1 - u).

    The integral's antiderivative cancels near delta = 0, so there the integral itself is summed. Far away e^-delta must
    not overflow; open and closed are mirror images, so that phi and phi0 may change their signs and delta be positive.
    """
    delta = phi - phi0
    near, sign = delta.abs() < 0.5, torch.where(delta < 0, -1.0, 1.0).to(delta.dtype)
    far_delta = torch.where(near, torch.ones_like(delta), delta.abs())
    return torch.where(near, _kl_near(phi, delta.clamp(-1, 1)), _kl_far(sign * phi, sign * phi0, far_delta))


def _squeeze(phi: Tensor, noise: Tensor) -> Tensor:
    return torch.add(phi, noise).mul_(1.0 / gates.BETA).sigmoid_()


def _stretch(s: Tensor) -> Tensor:
    return s.mul(gates.ZETA - gates.GAMMA).add_(gates.GAMMA)


def _kl_near(phi: Tensor, delta: Tensor) -> Tensor:
    """KL for small delta: every logarithm is a log1p of something that is exactly 0 at delta = 0."""
    q0, q1 = torch.sigmoid(gates.LOW - phi), torch.sigmoid(gates.HIGH - phi)
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
    q0, q1, r0, r1 = (torch.sigmoid(x) for x in (gates.LOW - phi, gates.HIGH - phi, phi - gates.LOW, phi - gates.HIGH))
    clipped = q0 * (log_sigmoid(gates.LOW - phi) - log_sigmoid(gates.LOW - phi0))
    clipped += r1 * (log_sigmoid(phi - gates.HIGH) - log_sigmoid(phi0 - gates.HIGH))
    w0, w1 = q0 + torch.exp(-delta) * r0, q1 + torch.exp(-delta) * r1
    antiderivative = (torch.xlogy(w1, w1) - w1) - (torch.xlogy(w0, w0) - w0)
    return clipped + delta * (q1 - q0) - 2.0 / torch.expm1(-delta) * antiderivative
