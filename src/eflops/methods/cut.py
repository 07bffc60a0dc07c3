"""The cut: which weights a sparse model keeps. One function for all methods."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eflops.fused import mark_largest
from eflops.methods.settings import RunSettings
from eflops.models.base import Layer


def top(magnitude: Tensor, keep: int, layers: Sequence[Layer], floor: float = 0.0) -> Tensor:
    """The mask [runs, width] of the `keep` largest magnitudes of each run, at least `floor` of every layer among them.

    Of equal magnitudes the first are kept, and what is not a number counts as largest. The padding behind the last
    layer is never kept.
    """
    mask = torch.zeros_like(magnitude, dtype=torch.bool)
    if floor > 0:
        for layer in layers:
            _mark(magnitude, layer.start, layer.stop, math.ceil(floor * (layer.stop - layer.start)), mask)
        magnitude = magnitude.masked_fill(mask, math.inf)
    _mark(magnitude, 0, layers[-1].stop, keep, mask)
    return mask


def _mark(magnitude: Tensor, start: int, stop: int, keep: int, mask: Tensor) -> None:
    """Set the mask from start to stop to the `keep` largest there."""
    mark_largest(magnitude.numpy().view(np.int32), start, stop, min(keep, stop - start), mask.numpy())


class CutSchedule:
    """How many weights stand after each round: none cut before the prune start, then m, or shrinking towards m."""

    def __init__(self, settings: RunSettings, size: int, target: int) -> None:
        self.size, self.target = size, target
        self.start = math.floor(settings.prune_from * settings.rounds)
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
        return self.target + math.floor((self.size - self.target) * left**3)
