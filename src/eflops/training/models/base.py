"""What the engines and methods need of a model: pure functions of flat parameters with a leading axis of runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from eflops.training.numerics.product import in_panels


@dataclass(frozen=True)
class Layer:
    """A named stretch of the flat parameter vector."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True)
class Rows:
    """Labelled rows as tensors, and laid out as the model's compiled gradient wants them."""

    x: Tensor
    y: Tensor
    layout: Callable[["Rows"], Any]

    @cached_property
    def columns(self) -> np.ndarray:
        """The panels of x', which give a linear model's outputs; all that test rows need."""
        return in_panels(self.x.numpy().T)

    @cached_property
    def arrays(self) -> Any:
        """The first argument of `gradients.gradient`; made once, because a client's rows never change."""
        return self.layout(self)

    def __len__(self) -> int:
        return self.x.shape[0]


@dataclass(frozen=True)
class Operations:
    """Multiply-accumulate operations of one prediction, and units that compute nothing, by layer."""

    operations: dict[str, int]
    dead_units: dict[str, int] = field(default_factory=dict)


class Model(Protocol):
    """A model and its loss; parameters are [runs, size]."""

    size: int
    layers: tuple[Layer, ...]

    def rows(self, x: np.ndarray, y: np.ndarray) -> Rows:
        """The rows of a data block."""

    def initial(self, seed: int) -> Tensor:
        """The first parameters [size] of the run with this seed."""

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """Gradient [runs, size] of the mean loss over all rows, or over each run's `chosen` rows [runs, batch]."""

    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """The metrics [runs] of parameters on test rows."""

    def macs(self, kept: np.ndarray) -> Operations:
        """The cost of one prediction of a model that keeps the weights `kept` [size]."""
