"""A client's local steps on plain weights, in one compiled call for all runs that ask it."""

from typing import Any

import numpy as np
from torch import Tensor

from eflops.training.methods.base import Work
from eflops.training.methods.batches import Batches, rows_of_step
from eflops.training.methods.cut import Cut
from eflops.training.models.gradients import gradient
from eflops.training.numerics.arithmetic import ZERO
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.kernels import add, clip
from eflops.training.numerics.selection import cut

NO_SUPPORT = np.empty((0, 0), np.bool_)


def descend(
    theta: Tensor, work: Work, rate: str, cut: Cut, keep: int | None = None, only: Tensor | None = None
) -> None:
    """Gradient descent of theta [runs, size] in place, at the setting `rate`.

    keep: weights that each step leaves standing, None for all. only: the mask [runs, size] of weights that move.
    """
    settings = work.settings
    _descend(
        work.data.arrays,
        theta.numpy(),
        work.batches,
        (settings.numbers(rate), settings.numbers("clip")),
        NO_SUPPORT if only is None else only.numpy(),
        0 if keep is None else keep,
        cut.bounds,
        cut.least,
    )


@compiled
def _descend(
    rows: Any, theta: np.ndarray, batches: Batches, numbers: tuple, only: np.ndarray, keep: int, bounds: np.ndarray,
    least: np.ndarray,
) -> None:  # fmt: skip
    (steps, orders, size), (rates, limits) = batches, numbers
    slopes, marks = np.empty_like(theta), np.empty(theta.shape, np.bool_)
    for step in range(steps):
        gradient(rows, theta, rows_of_step(orders, size, step), slopes)
        _step(theta, slopes, rates, limits, only)
        if keep:
            cut(theta, keep, bounds, least, marks)


@compiled
def _step(theta: np.ndarray, slopes: np.ndarray, rates: np.ndarray, limits: np.ndarray, only: np.ndarray) -> None:
    for run in range(len(theta)):
        slope = slopes[run]
        if only.size:
            for index in range(slope.size):
                slope[index] = slope[index] if only[run, index] else ZERO
        clip(slope, limits[run])
        add(theta[run], slope, -rates[run])
