"""A convolution followed by 2 x 2 max pooling, as one matrix product a pass.

The four outputs that are pooled together, the phases, need a patch of 6 x 6 pixels between them. So one product of the
patches with the weights at four shifts gives all phases at once. That is 1.44 times the arithmetic of a convolution,
but on matrices that a processor multiplies several times as fast, and pooling is a maximum of four whole tensors.

Images are stored in blocks, [channels, 2, 2, height / 2, width / 2, n]: the parity of row and column comes first, so
that a patch is 3 x 3 neighbours in the last axes, and n, the images, come last, so that copies move runs of numbers.
"""

import numpy as np
import torch
from torch import Tensor

from eflops.models.network import KERNEL, POOL, Stage

PATCH = KERNEL + POOL - 1
REACH = PATCH // POOL
PHASES = POOL * POOL


def in_blocks(images: np.ndarray) -> np.ndarray:
    """Images [n, channels, height, width] to [n, channels, 2, 2, height / 2, width / 2]."""
    n, channels, height, width = images.shape
    return images.reshape(n, channels, height // POOL, POOL, width // POOL, POOL).transpose(0, 1, 3, 5, 2, 4)


def patches(images: Tensor, blocks: bool) -> Tensor:
    """Images in blocks to the patches [9 * channels * 4, windows * n] of their windows.

    blocks: the windows in the order of images in blocks, for a convolution behind this one; otherwise row by row.
    """
    windows = [side - REACH + 1 for side in images.shape[3:5]]
    cut = images.unfold(3, windows[0], 1).unfold(4, windows[1], 1).permute(3, 4, 0, 1, 2, 6, 7, 5)
    if blocks:
        cut = cut.unflatten(6, (-1, POOL)).unflatten(5, (-1, POOL)).permute(0, 1, 2, 3, 4, 6, 8, 5, 7, 9)
    return cut.reshape(PATCH * PATCH * images.shape[0], -1)


def unpatch(slope: Tensor, like: Tensor) -> Tensor:
    """Slopes of patches to slopes of the images in blocks: a pixel in several patches has the sum of their slopes."""
    channels, _, _, height, width, n = like.shape
    rows, columns = height - REACH + 1, width - REACH + 1
    parts = slope.view(REACH, REACH, channels * PHASES, rows, columns, n)
    images = slope.new_zeros(channels * PHASES, height, width, n)
    for row in range(REACH):
        for column in range(REACH):
            images[:, row : row + rows, column : column + columns] += parts[row, column]
    return images


class Shifts:
    """The weights of a convolution laid out for its patches, with a copy for each phase, and back."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        weights = np.arange(stage.weights.start, stage.weights.stop).reshape(stage.units, -1, KERNEL, KERNEL)
        at = np.full((POOL, POOL, *weights.shape[:2], PATCH, PATCH), -1)
        for row, column in np.ndindex(POOL, POOL):
            at[row, column, :, :, row : row + KERNEL, column : column + KERNEL] = weights
        at = at.reshape(*at.shape[:4], REACH, POOL, REACH, POOL).transpose(0, 1, 2, 4, 6, 3, 5, 7).reshape(-1)
        self._weight_of_entry = torch.from_numpy(np.where(at < 0, stage.weights.start, at))
        self._is_weight = torch.from_numpy(at >= 0).float()
        places = np.argsort(at, kind="stable")[(at < 0).sum() :]
        self._entries_of_weight = torch.from_numpy(np.ascontiguousarray(places.reshape(-1, PHASES).T).reshape(-1))

    def spread(self, theta: Tensor) -> Tensor:
        """Parameters [runs, width] to matrices [runs, 4 * units, 36 * channels] that give all phases of a patch."""
        entries = theta.index_select(1, self._weight_of_entry).mul_(self._is_weight)
        return entries.view(len(theta), PHASES * self.stage.units, -1)

    def collect(self, slope: Tensor) -> Tensor:
        """Slopes of the matrices to slopes [runs, weights]: the sum over the four copies of each weight."""
        copies = slope.flatten(1).index_select(1, self._entries_of_weight).view(len(slope), PHASES, -1)
        return copies[:, 0] + copies[:, 1] + copies[:, 2] + copies[:, 3]


def strongest(phases: Tensor) -> Tensor:
    """The maximum [units, windows * n] of the phases [4 * units, windows * n]."""
    first, second = phases.chunk(2)
    first, second = torch.maximum(first, second).chunk(2)
    return torch.maximum(first, second)


def share(slope: Tensor, phases: Tensor) -> Tensor:
    """The slope of the maximum given to the phase that was the largest, an earlier one where several are equal."""
    result = torch.empty_like(phases)
    both = torch.maximum(*phases.chunk(2))
    half = torch.empty_like(both)
    _split(slope, both, half)
    _split(half, phases, result)
    return result


def _split(slope: Tensor, pair: Tensor, into: Tensor) -> None:
    """Give the slope [k] of the maximum of a pair [2 k] to the larger of the two, the first where they are equal."""
    first, second = pair.chunk(2)
    to_first, to_second = into.chunk(2)
    # This built-in passes the slope where the difference is positive, in one vectorised pass.
    torch.ops.aten.threshold_backward.grad_input(slope, second - first, 0, grad_input=to_second)
    torch.sub(slope, to_second, out=to_first)
