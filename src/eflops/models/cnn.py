"""The paper's CNN: two convolutions of 5 x 5 with 2 x 2 max pooling, three dense layers, ReLU between them.

The backward pass is written out, and runs are computed one after the other: they have their own weights and their own
images, so that little is shared, and tensors that stay in the cache beat grouped convolutions, vmap and autograd
(benchmarks/cnn.py). It also makes the bits of a run independent of the others by itself.

Images are the last axis of every activation, [units, n] or as in `windows`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from eflops.models import operations
from eflops.models.base import Layer, Operations, Rows
from eflops.models.batch import pad
from eflops.models.network import POOL, Stage, cnn_stages
from eflops.models.softmax import class_metrics
from eflops.models.windows import Shifts, in_blocks, patches, share, strongest, unpatch
from eflops.noise import uniform

# Images evaluated at a time: few enough that all they become stays in the second-level cache.
CHUNK = 50


@dataclass(frozen=True)
class Activations:
    """What one run computes on the way forward and needs on the way back."""

    patches: list[Tensor]
    phases: list[Tensor]
    pooled: list[Tensor]
    dense: list[Tensor]

    @property
    def logits(self) -> Tensor:
        """[classes, n]."""
        return self.dense[-1]


class Cnn:
    """Class logits of images [channels, height, width]; cross-entropy loss."""

    def __init__(self, shape: tuple[int, ...], classes: int) -> None:
        self.shape, self.classes = shape, classes
        self.stages = cnn_stages(shape, classes)
        self.layers = tuple(Layer(stage.name, stage.start, stage.stop) for stage in self.stages)
        self.size = self.stages[-1].stop
        self.shifts = tuple(Shifts(stage) for stage in self.stages[:2])

    def rows(self, x: np.ndarray, y: np.ndarray) -> Rows:
        """Images in blocks, flattened, one a row."""
        return Rows(torch.from_numpy(in_blocks(x).reshape(len(x), -1)), torch.from_numpy(y))

    def initial(self, seed: int) -> Tensor:
        """PyTorch's default: weights and biases uniform within 1 / sqrt(incoming weights of a unit)."""
        theta = uniform([seed], "first weights", (), 1, self.size)[0, 0].mul_(2).sub_(1)
        for stage in self.stages:
            theta[stage.start : stage.stop] /= (stage.sources * stage.taps) ** 0.5
        return pad(theta)

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """Gradient of the mean cross-entropy, run by run."""
        result = torch.zeros_like(theta)
        matrices = [shifts.spread(theta) for shifts in self.shifts]
        slopes = [torch.empty_like(matrix) for matrix in matrices]
        cut = self._patches(data.x) if chosen is None else None
        for run, row in enumerate(theta):
            images = None if chosen is None else chosen[run]
            own = self._patches(data.x[images]) if cut is None else cut
            labels = data.y if images is None else data.y[images]
            weights = [matrix[run] for matrix in matrices]
            forward = self._forward(row, weights, own)
            self._backward(row, weights, forward, labels, result[run], [slope[run] for slope in slopes])
        for shifts, slope in zip(self.shifts, slopes, strict=True):
            result[:, shifts.stage.weights] = shifts.collect(slope)
        return result

    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """Accuracy and cross-entropy."""
        matrices = [shifts.spread(theta) for shifts in self.shifts]
        logits = theta.new_empty(theta.shape[0], len(data), self.classes)
        for start in range(0, len(data), CHUNK):
            cut = self._patches(data.x[start : start + CHUNK])
            for run, row in enumerate(theta):
                forward = self._forward(row, [matrix[run] for matrix in matrices], cut)
                logits[run, start : start + CHUNK] = forward.logits.T
        return class_metrics(logits, data.y)

    def macs(self, kept: np.ndarray) -> Operations:
        """Operations by layer, dead units removed; the rule stands in `operations`."""
        return Operations(*operations.count(self.stages, kept))

    def _patches(self, images: Tensor) -> Tensor:
        """The patches of the first convolution of images [n, pixels]."""
        channels, height, width = self.shape
        blocks = images.T.contiguous().view(channels, POOL, POOL, height // POOL, width // POOL, len(images))
        return patches(blocks, blocks=True)

    def _pooled_shape(self, n: int) -> tuple[int, ...]:
        """The shape of what the first convolution gives, in blocks."""
        height, width = ((side - 4) // (2 * POOL) for side in self.shape[1:])
        return self.stages[0].units, POOL, POOL, height, width, n

    def _forward(self, theta: Tensor, matrices: list[Tensor], cut: Tensor) -> Activations:
        """One run's way forward; the bias is added behind the maximum, which it does not change."""
        first, second, *dense = self.stages
        n = cut.shape[1] * POOL * POOL // first.positions
        phases = matrices[0] @ cut
        pooled = strongest(phases).add_(theta[first.biases, None]).relu_()
        cut2 = patches(pooled.view(self._pooled_shape(n)), blocks=False)
        phases2 = matrices[1] @ cut2
        pooled2 = strongest(phases2).add_(theta[second.biases, None]).relu_()
        layers = [pooled2.view(-1, n)]
        for stage in dense:
            out = torch.addmm(theta[stage.biases, None], _matrix(theta, stage), layers[-1])
            layers.append(out if stage is dense[-1] else out.relu_())
        return Activations([cut, cut2], [phases, phases2], [pooled, pooled2], layers)

    def _backward(
        self,
        theta: Tensor,
        matrices: list[Tensor],
        forward: Activations,
        labels: Tensor,
        into: Tensor,
        matrix_slopes: list[Tensor],
    ) -> None:
        """One run's way back: dense layers' and biases' slopes go `into` [width], those of the matrices apart."""
        slope = torch.softmax(forward.logits, 0).sub_(one_hot(labels, self.classes).T).div_(len(labels))
        for stage, entered in zip(self.stages[:1:-1], forward.dense[-2::-1], strict=True):
            torch.mm(slope, entered.T, out=_matrix(into, stage))
            torch.sum(slope, 1, out=into[stage.biases])
            slope = _matrix(theta, stage).T @ slope
            if entered is not forward.dense[0]:
                slope = torch.ops.aten.threshold_backward(slope, entered, 0)
        for index in (1, 0):
            pooled = forward.pooled[index]
            slope = torch.ops.aten.threshold_backward(slope.view_as(pooled), pooled, 0)
            torch.sum(slope, 1, out=into[self.stages[index].biases])
            phase_slope = share(slope, forward.phases[index])
            torch.mm(phase_slope, forward.patches[index].T, out=matrix_slopes[index])
            if index == 1:
                shape = self._pooled_shape(len(labels))
                slope = unpatch(matrices[1].T @ phase_slope, forward.pooled[0].view(shape))


def _matrix(theta: Tensor, stage: Stage) -> Tensor:
    """The weights of a dense layer as a matrix [units, sources * taps] that shares their memory."""
    return theta[stage.weights].view(stage.units, -1)


def build(shape: tuple[int, ...], meta: dict[str, Any]) -> Cnn:
    """The model for rows of this shape."""
    return Cnn(shape, meta["classes"])
