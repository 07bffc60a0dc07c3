"""A client's local steps under gates: descent on (theta~, phi), ascent on the multiplier of the constraint."""

import math

import numpy as np
import torch
from torch import Tensor

from eflops import gates
from eflops.fused import add_slopes, ascend, descend
from eflops.methods.base import Task
from eflops.methods.settings import RunSettings


class GatedSteps:
    """theta~, phi [runs, width] and lam [runs] of the runs that a client trains; each step changes them in place."""

    def __init__(self, theta: Tensor, phi: Tensor, lam: Tensor, task: Task, settings: RunSettings) -> None:
        self.theta, self.phi, self.lam, self.task = theta, phi, lam, task
        self._by_theta, self._by_gate = torch.zeros_like(theta), torch.zeros_like(phi)
        self._rates = np.array([settings.values("rate"), settings.values("gate_rate"), [0.0] * len(lam)], np.float32).T
        self._lam_rates = np.array(settings.values("multiplier_rate"), np.float32) / np.float32(task.size)
        self._constants = tuple(np.float32(number) for number in (math.exp(gates.LOW), settings.phi_limit, 0.0, 1.0))

    def add(self, slope: Tensor, z: Tensor, z_slope: Tensor, samples: int) -> None:
        """Add the slope of the loss by theta~ z at one of `samples` draws of the gates."""
        slope = slope if samples == 1 else slope.div_(samples)
        add_slopes(slope.numpy(), z.numpy(), z_slope.numpy(), self._by_theta.numpy(), self._by_gate.numpy())

    def step(self, entropy: np.ndarray, entropy_slope: Tensor | None) -> None:
        """Move by the slopes added since the last step, those of the entropy and those of the constraint.

        The entropy is given as `gates.entropy_polynomials` times T, or as a slope of its own where they do not serve.
        """
        active = torch.exp(self.phi)
        if entropy_slope is not None:
            self.phi.sub_(entropy_slope.mul_(torch.from_numpy(self._rates[:, 1:2])))
        self._rates[:, 2] = self.lam.numpy()
        slopes = self._by_theta.numpy(), self._by_gate.numpy()
        descend(self.theta.numpy(), self.phi.numpy(), active.numpy(), *slopes, self._rates, entropy, self._constants)
        excess = active[:, : self.task.size].sum(1).sub_(self.task.target)
        ascend(self.lam.numpy(), excess.numpy(), self._lam_rates)
