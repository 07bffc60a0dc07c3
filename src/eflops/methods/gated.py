"""A client's local steps under gates: descent on (theta~, phi), ascent on the multiplier of the constraint."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eflops import gates
from eflops.fused import gated_step, open_gates
from eflops.methods.base import Task
from eflops.methods.settings import RunSettings
from eflops.models.batch import with_room

SHAPE = np.float32(gates.ZETA - gates.GAMMA), np.float32(gates.GAMMA), np.float32(gates.BETA)


class GatedSteps:
    """theta~, phi [runs, width] and lam [runs] of the runs that a client trains; each step changes them in place."""

    def __init__(self, theta: Tensor, phi: Tensor, lam: Tensor, task: Task, settings: RunSettings) -> None:
        self.theta, self.phi, self.lam = theta, phi, lam
        self._state = theta.numpy(), phi.numpy(), lam.numpy()
        self._weights = with_room(*theta.shape)
        self._room = self._weights.numpy()
        self._gates = np.empty((settings.samples, *theta.shape), np.float32)
        self._rates = settings.numbers("rate", "gate_rate", "multiplier_rate")
        self._rates[:, 2] /= task.size
        numbers = task.target, math.exp(gates.LOW), settings.phi_limit
        self._constraint = (task.size, *(np.float32(number) for number in numbers))

    def open(self, sample: int, noise: np.ndarray) -> Tensor:
        """theta~ z at a step's gates number `sample`, drawn with this noise [runs, width]; the next overwrites it."""
        open_gates(*self._state[:2], noise, SHAPE, self._gates[sample], self._room)
        return self._weights

    def step(self, slopes: Sequence[Tensor], entropy: np.ndarray, entropy_slope: Tensor | None) -> None:
        """Move by the mean of the loss's slopes at the samples, those of the entropy and those of the constraint.

        The entropy is given as `gates.entropy_polynomials` times T, or as a slope of its own where they do not serve.
        """
        if entropy_slope is not None:
            self.phi.sub_(entropy_slope.mul_(torch.from_numpy(self._rates[:, 1:2])))
        mean = slopes[0][None] if len(slopes) == 1 else torch.stack(list(slopes)).div_(len(slopes))
        gated_step(*self._state, mean.numpy(), self._gates, self._rates, entropy, SHAPE, self._constraint)
