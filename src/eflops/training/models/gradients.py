"""The gradient of a model inside compiled code, so that a client's whole local update is one compiled call.

A model says what its gradient is by the type of the arrays that its rows are laid out in:

    class LinearRows(NamedTuple):
        labels: np.ndarray
        ...

    @overload(gradient, jit_options=OPTIONS)
    def _linear(rows, weights, chosen, slope):
        return compiled_function if is_kind(rows, LinearRows) else None

A method calls `gradient(rows, weights, chosen, slope)` and is compiled for each type of rows it meets. No function is
handed over as an argument: numba would not find its machine code again in the next process.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from eflops.training.models.base import Rows
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.product import in_panels


def gradient(rows: Any, weights: np.ndarray, chosen: np.ndarray, slope: np.ndarray) -> None:
    """slope [runs, size] of the mean loss at weights [runs, size]. For compiled code alone.

    Over each run's chosen rows [runs, batch], whose last axis is contiguous; an empty batch stands for all rows.
    """
    raise NotImplementedError


class MatrixRows(NamedTuple):
    """Rows of features [n, features] for models that multiply weights by them, laid out for both ways.

    columns: the panels of x', for outputs; panels: those of x, for slopes; labels [n].
    """

    columns: np.ndarray
    panels: np.ndarray
    labels: np.ndarray


def matrix_rows(rows: Rows) -> MatrixRows:
    """The layout of rows of features."""
    return MatrixRows(rows.columns, in_panels(rows.x.numpy()), rows.y.numpy())


def is_kind(rows: Any, kind: type) -> bool:
    """Whether numba's type of `rows` is that of this named tuple."""
    return getattr(rows, "instance_class", None) is kind


def slopes(theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
    """The gradient of a model outside compiled code, as `Model.gradient` has it."""
    result = torch.empty_like(theta)
    places = np.empty((len(theta), 0), np.int64) if chosen is None else chosen.contiguous().numpy()
    _gradient(data.arrays, theta.contiguous().numpy(), places, result.numpy())
    return result


@compiled
def _gradient(rows: Any, weights: np.ndarray, chosen: np.ndarray, slope: np.ndarray) -> None:
    gradient(rows, weights, chosen, slope)
