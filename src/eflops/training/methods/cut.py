"""The cut: which weights a sparse model keeps. One function for all methods.

Layers cover the gated parameters. Ungated parameters come after them, and a cut always keeps them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from eflops.errors import UserError
from eflops.training.methods.settings import RunSettings
from eflops.training.models.base import Layer
from eflops.training.numerics.selection import mark_top


@dataclass(frozen=True)
class Cut:
    """The layers' bounds [layers, 2] and how many weights of each are always kept, [layers]."""

    bounds: np.ndarray
    least: np.ndarray

    @classmethod
    def of(cls, layers: Sequence[Layer], floor: float) -> "Cut":
        """The cut that keeps at least `floor` of every layer."""
        bounds = np.array([(layer.start, layer.stop) for layer in layers])
        # Rounded up, so that a floor keeps at least one weight of every layer.
        return cls(bounds, np.array([math.ceil(floor * (stop - start)) for start, stop in bounds.tolist()]))

    def top(self, values: Tensor, keep: int) -> Tensor:
        """The mask [runs, size] of the `keep` largest magnitudes of each run, and of all ungated parameters.

        Of equal magnitudes the first are kept, and NaN counts as largest.
        """
        if values.dtype != torch.float32 or values.ndim != 2 or values.shape[1] < self.bounds[-1, 1]:
            have = f"{str(values.dtype).removeprefix('torch.')} of shape {tuple(values.shape)}"
            right = f"float32 of shape (runs, size) with all {self.bounds[-1, 1]} gated weights"
            raise UserError(f"the values of a cut are {have}; they must be {right}.")
        mask = torch.empty_like(values, dtype=torch.bool)
        mark_top(values.numpy(), keep, self.bounds, self.least, mask.numpy())
        return mask


def top(values: Tensor, keep: int, layers: Sequence[Layer], floor: float = 0.0) -> Tensor:
    """The mask [runs, size] of each run's `keep` largest magnitudes, at least `floor` of every layer among them."""
    return Cut.of(layers, floor).top(values, keep)


class CutSchedule:
    """How many gated weights a cut keeps after each round: all before the prune start, then m, or shrinking towards
    m."""

    def __init__(self, settings: RunSettings, gated: int, target: int) -> None:
        self.gated, self.target = gated, target
        # .29 of 100 rounds is 28.999999999999996 in floating point, and means 29.
        self.start = math.floor(settings.prune_from * settings.rounds + 1e-9)
        self.shrinking = settings.keep_schedule == "shrinking"

    def keep(self, round_: int) -> int | None:
        """Weights kept from round `round_` (from 0) on; None while the model is dense.

        Shrinking follows a cubic from all weights in round 0 to the target at the prune start: fast while weights
        are many, slow when each matters.
        """
        if round_ >= self.start:
            return self.target
        if not self.shrinking:
            return None
        left = 1 - (round_ + 1) / (self.start + 1)
        # Products, because ** calls the C library's pow, whose last bit differs between machines.
        return self.target + math.floor((self.gated - self.target) * (left * left * left))
