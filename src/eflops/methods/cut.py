"""The cut: which weights a sparse model keeps. One function for all methods."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eflops.methods.settings import RunSettings
from eflops.models.base import Layer


def top(magnitude: Tensor, keep: int, layers: Sequence[Layer], floor: float = 0.0) -> Tensor:
    """The mask [runs, width] of the `keep` largest magnitudes of each run, at least `floor` of every layer among them.

    Of equal magnitudes the first are kept. The padding behind the last layer is never kept.
    """
    ranked = magnitude.numpy()[:, : layers[-1].stop]
    if floor > 0:
        ranked = ranked.copy()
        for layer in layers:
            share = ranked[:, layer.start : layer.stop]
            share[_largest(share, math.ceil(floor * share.shape[1]))] = np.inf
    mask = torch.zeros_like(magnitude, dtype=torch.bool)
    mask.numpy()[:, : layers[-1].stop] = _largest(ranked, keep)
    return mask


def _largest(values: np.ndarray, keep: int) -> np.ndarray:
    """The mask of the `keep` largest values of each row; what is not a number counts as largest."""
    size = values.shape[1]
    if keep >= size:
        return np.ones_like(values, dtype=bool)
    smallest = np.partition(values, size - keep, axis=1)[:, size - keep, None]
    mask = ~(values < smallest)
    for row in np.flatnonzero(mask.sum(1) > keep):
        equal = ~(values[row] > smallest[row])
        spare = np.flatnonzero(mask[row] & equal)
        mask[row, spare[keep - mask[row].sum() :]] = False
    return mask


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
