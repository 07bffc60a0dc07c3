"""The paper's CNN: two convolutions of 5 x 5 with 2 x 2 max pooling, three dense layers, ReLU between them.

Its forward and backward passes are compiled code in `passes`.
"""

from typing import cast

import numpy as np
import torch
from numba.extending import overload
from torch import Tensor

from eflops.data.federation import Facts
from eflops.training.models.base import (
    GradientFunction,
    Layer,
    Operations,
    Rows,
    compiled_gradient,
    gradient,
    is_kind,
    uniform_start,
)
from eflops.training.models.classes import class_count, class_metrics
from eflops.training.models.network import cnn_stages, count_operations, net
from eflops.training.models.passes import CnnRows, gradients, outputs
from eflops.training.numerics.compiled import OPTIONS
from eflops.training.numerics.convolution import LONG


class Cnn:
    """Class logits of images [channels, height, width]; cross-entropy loss."""

    def __init__(self, shape: tuple[int, ...], classes: int) -> None:
        self.shape, self.classes = shape, classes
        self.stages = cnn_stages(shape, classes)
        self.layers = tuple(Layer(stage.name, stage.start, stage.stop) for stage in self.stages)
        self.size = self.gated = self.stages[-1].stop
        self.net = net(shape, self.stages)

    def rows(self, x: np.ndarray, y: np.ndarray) -> Rows:
        """Images [n, height, width, channels], flattened, one per row."""
        images = torch.from_numpy(x.transpose(0, 2, 3, 1).reshape(len(x), -1))
        return Rows(images, torch.from_numpy(y), self._laid_out)

    def initial(self, seed: int) -> Tensor:
        """Weights and biases uniform within 1 / sqrt(incoming weights of a unit)."""
        return uniform_start(seed, [(stage.stop - stage.start, stage.sources * stage.taps) for stage in self.stages])

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """Gradient of the mean cross-entropy."""
        return compiled_gradient(self.size, theta, data, chosen)

    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """Accuracy and cross-entropy."""
        logits = torch.empty(len(theta), len(data), self.classes)
        outputs(cast(CnnRows, data.arrays), theta.contiguous().numpy(), logits.numpy())
        return class_metrics(logits, data.y)

    def macs(self, kept: np.ndarray) -> Operations:
        """Operations by layer, without dead units; `network` has the rule."""
        return Operations(*count_operations(self.stages, kept))

    def _laid_out(self, data: Rows) -> CnnRows:
        """Rows as compiled code wants them: vectors may reach beyond the last image."""
        images = np.zeros(data.x.numel() + LONG, np.float32)
        images[:-LONG] = data.x.numpy().reshape(-1)
        return CnnRows(images, data.y.numpy(), self.net)


@overload(gradient, jit_options=OPTIONS)
def _cnn(rows: CnnRows, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> GradientFunction | None:
    def over_rows(rows: CnnRows, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> None:
        gradients(rows, weights, chosen, result)

    return over_rows if is_kind(rows, CnnRows) else None


def build(shape: tuple[int, ...], facts: Facts) -> Cnn:
    """The model for rows of this shape."""
    return Cnn(shape, class_count(facts))
