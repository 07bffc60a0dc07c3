"""Linear regression under the squared loss, with or without an intercept."""

import numpy as np
import torch
from numba.extending import overload
from torch import Tensor

from eflops.data.federation import Facts, unit_of
from eflops.training.models.base import (
    GradientFunction,
    Layer,
    MatrixRows,
    Operations,
    Rows,
    compiled_gradient,
    gradient,
    is_kind,
    matrix_rows,
    uniform_start,
)
from eflops.training.numerics.arithmetic import total
from eflops.training.numerics.compiled import OPTIONS, compiled
from eflops.training.numerics.product import WIDTH, chosen_dots, chosen_product, product


class LinearRows(MatrixRows):
    """Labels are numbers."""


class Linear:
    """y = x theta; loss (x theta - y)^2.

    An intercept is the last parameter, ungated: the weight of a feature that is 1 in every row.

    Args:
        features: how many features a row has.
        intercept: whether there is one.
        unit: the deviation that targets were divided by; if known, `rmse` is the error in the target's unit.
    """

    def __init__(self, features: int, intercept: bool = False, unit: float | None = None) -> None:
        self.gated, self.size, self.unit = features, features + intercept, unit
        self.layers = (Layer("weights", 0, features),)

    def rows(self, x: np.ndarray, y: np.ndarray) -> Rows:
        """Rows of features."""
        return matrix_rows(LinearRows, x, y, self.size > self.gated)

    def initial(self, seed: int) -> Tensor:
        """Uniform within 1 / sqrt(features)."""
        return uniform_start(seed, [(self.size, self.gated)])

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """2/n X'(X theta - y)."""
        return compiled_gradient(self.size, theta, data, chosen)

    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """Mean squared error and R2, and `rmse` in the target's unit if that is known."""
        error, r2 = torch.empty(2, len(theta), dtype=torch.float64)
        _measure(theta.numpy(), data.columns, data.y.numpy(), error.numpy(), r2.numpy())
        measured = {"mse": error, "r2": r2}
        return measured if self.unit is None else {**measured, "rmse": error.sqrt() * self.unit}

    def macs(self, kept: np.ndarray) -> Operations:
        """One operation per kept weight; an intercept needs no multiplication."""
        return Operations({"weights": int(kept[: self.gated].sum())})


@overload(gradient, jit_options=OPTIONS)
def _linear(rows: LinearRows, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> GradientFunction | None:
    def over_rows(rows: LinearRows, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> None:
        if chosen.shape[1] == 0:
            _over_all_rows(rows.columns, rows.panels, rows.labels, weights, result)
        else:
            _over_chosen_rows(rows.panels, rows.labels, weights, chosen, result)

    return over_rows if is_kind(rows, LinearRows) else None


@compiled
def _over_all_rows(
    columns: np.ndarray, panels: np.ndarray, labels: np.ndarray, weights: np.ndarray, result: np.ndarray
) -> None:
    """All runs share one product there and one back."""
    outputs, share = np.empty((len(weights), labels.size), np.float32), np.float32(2 / labels.size)
    product(weights, columns, outputs)
    for run in range(len(outputs)):
        for row in range(labels.size):
            # The factor 2/n goes to the n errors and not to the gradient, which usually has more numbers.
            outputs[run, row] = (outputs[run, row] - labels[row]) * share
    product(outputs, panels, result)


@compiled
def _over_chosen_rows(
    panels: np.ndarray, labels: np.ndarray, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray
) -> None:
    """Each run has its rows."""
    runs, width = weights.shape
    # Panels are added up whole; the part behind the last feature stays 0 for every run.
    padded = np.zeros(len(panels) * WIDTH, np.float32)
    outputs, share = np.empty(chosen.shape[1], np.float32), np.float32(2 / chosen.shape[1])
    for run in range(runs):
        padded[:width] = weights[run]
        chosen_dots(padded, panels, chosen[run], outputs)
        for index in range(outputs.size):
            outputs[index] = (outputs[index] - labels[chosen[run, index]]) * share
        chosen_product(outputs, panels, chosen[run], result[run])


@compiled
def _measure(theta: np.ndarray, columns: np.ndarray, labels: np.ndarray, error: np.ndarray, r2: np.ndarray) -> None:
    """Errors are rounded to float32, their squares and sums to float64."""
    count = labels.size
    outputs, squares = np.empty((len(theta), count), np.float32), labels.astype(np.float64)
    product(theta, columns, outputs)
    # In two passes: mean(y^2) - mean(y)^2 would cancel where labels are far from 0.
    mean = total(squares) / count
    for row in range(count):
        squares[row] = (squares[row] - mean) * (squares[row] - mean)
    spread = total(squares) / count
    for run in range(len(theta)):
        for row in range(count):
            wrong = np.float64(outputs[run, row] - labels[row])
            squares[row] = wrong * wrong
        error[run] = total(squares) / count
        r2[run] = 1 - error[run] / spread


def build(shape: tuple[int, ...], facts: Facts) -> Linear:
    """The model for rows of this shape."""
    return Linear(shape[0], facts.get("intercept", False), unit_of(facts))
