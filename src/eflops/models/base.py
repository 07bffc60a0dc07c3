"""What the engines and methods need of a model: pure functions of flat parameters with a leading axis of runs."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from torch import Tensor


@dataclass(frozen=True)
class Layer:
    """A named stretch of the flat parameter vector."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True)
class Rows:
    """Labelled rows as tensors, as the model wants them; the last `padding` rows are zeros and do not count."""

    x: Tensor
    y: Tensor
    padding: int = 0

    @cached_property
    def columns(self) -> Tensor:
        """x' laid out anew: a product with it is more than twice as fast as one with a transposed view."""
        return self.x.T.contiguous()

    def __len__(self) -> int:
        return self.x.shape[0] - self.padding


@dataclass(frozen=True)
class Batches:
    """Which rows each run takes in each local step: a tensor [runs, batch] a step; None stands for all rows."""

    steps: int
    rows: tuple[Tensor, ...] | None


@dataclass(frozen=True)
class Operations:
    """Multiply-accumulate operations of one prediction, and units that compute nothing, by layer."""

    operations: dict[str, int]
    dead_units: dict[str, int] = field(default_factory=dict)


class Model(Protocol):
    """A model and its loss.

    Parameters are [runs, width], where width is `size` padded by `batch.padded`; the padding is and stays zero.
    """

    size: int
    layers: tuple[Layer, ...]

    def rows(self, x: np.ndarray, y: np.ndarray) -> Rows:
        """The rows of a data block as tensors."""

    def initial(self, seed: int) -> Tensor:
        """The first parameters [width] of the run with this seed."""

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """Gradient [runs, width] of the mean loss over all rows, or over each run's `chosen` rows [runs, batch]."""

    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """The metrics [runs] of parameters on test rows."""

    def macs(self, kept: np.ndarray) -> Operations:
        """The cost of one prediction of a model that keeps the weights `kept` [size]."""
