"""First weights: the same rule for every model."""

import math
from collections.abc import Sequence

from torch import Tensor

from eflops.training.numerics.noise import uniform


def uniform_start(seed: int, layers: Sequence[tuple[int, int]]) -> Tensor:
    """Weights uniform within 1 / sqrt(incoming weights of a unit), which is torch's default for a layer.

    layers: how many weights (and biases) each has, and how many weights enter one of its units.
    """
    theta = uniform([seed], "first weights", (), 1, sum(count for count, _ in layers))[0, 0].mul_(2).sub_(1)
    for part, (_, incoming) in zip(theta.split([count for count, _ in layers]), layers, strict=True):
        part.div_(math.sqrt(incoming))
    return theta
