"""Softmax regression: one weight per class and feature, and optionally an intercept per class."""

import numpy as np
import torch
from numba.extending import overload
from torch import Tensor

from eflops.data.federation import Facts
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
from eflops.training.models.classes import check_labels, class_count, class_metrics, softmax_errors
from eflops.training.numerics.compiled import OPTIONS, compiled
from eflops.training.numerics.product import WIDTH, chosen_dots, chosen_product, product


class SoftmaxRows(MatrixRows):
    """Labels are classes."""


class ShiftedRows(MatrixRows):
    """`SoftmaxRows` of a model with intercepts: the last feature is 1 in every row."""


class Softmax:
    """Logits x W', W [classes, features] flattened row by row; cross-entropy loss.

    Intercepts are the last parameters, one per class and ungated: the weights of a feature that is 1 in every row.
    """

    def __init__(self, features: int, classes: int, intercept: bool = False) -> None:
        self.features, self.classes = features, classes
        self.gated = features * classes
        self.size = self.gated + classes * intercept
        self.layers = (Layer("weights", 0, self.gated),)

    @property
    def has_intercept(self) -> bool:
        """Whether each class has an intercept."""
        return self.size > self.gated

    def rows(self, x: np.ndarray, y: np.ndarray) -> Rows:
        """Rows of features."""
        check_labels(y, self.classes)
        return matrix_rows(ShiftedRows if self.has_intercept else SoftmaxRows, x, y, self.has_intercept)

    def initial(self, seed: int) -> Tensor:
        """Uniform within 1 / sqrt(features)."""
        return uniform_start(seed, [(self.size, self.features)])

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """(softmax - one-hot)' x / n."""
        return compiled_gradient(self.size, theta, data, chosen)

    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """Accuracy, cross-entropy and the area under the ROC curve, its mean over pairs of more than two classes."""
        logits = torch.empty(len(theta) * self.classes, len(data))
        weights = theta[:, : self.gated].reshape(-1, self.features)
        if self.has_intercept:
            weights = torch.cat([weights, theta[:, self.gated :].reshape(-1, 1)], dim=1)
        product(weights.contiguous().numpy(), data.columns, logits.numpy())
        return class_metrics(logits.view(len(theta), self.classes, -1).transpose(1, 2), data.y, area=True)

    def macs(self, kept: np.ndarray) -> Operations:
        """One operation per kept weight; an intercept needs no multiplication."""
        return Operations({"weights": int(kept[: self.gated].sum())})


@overload(gradient, jit_options=OPTIONS)
def _softmax(rows: MatrixRows, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> GradientFunction | None:
    def over_rows(rows: MatrixRows, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> None:
        if chosen.shape[1] == 0:
            _over_all_rows(rows.columns, rows.panels, rows.labels, weights, result)
        else:
            _over_chosen_rows(rows.panels, rows.labels, rows.columns.shape[1], weights, chosen, result)

    def over_shifted_rows(rows: MatrixRows, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> None:
        # Ungated parameters are the last of the flat vector, but a product needs each intercept behind its class's
        # weights.
        features = rows.columns.shape[1]
        inside, inside_result = _with_intercepts(weights, features), np.empty(weights.shape, np.float32)
        if chosen.shape[1] == 0:
            _over_all_rows(rows.columns, rows.panels, rows.labels, inside, inside_result)
        else:
            _over_chosen_rows(rows.panels, rows.labels, features, inside, chosen, inside_result)
        _intercepts_last(inside_result, features, result)

    if is_kind(rows, ShiftedRows):
        return over_shifted_rows
    return over_rows if is_kind(rows, SoftmaxRows) else None


@compiled
def _with_intercepts(weights: np.ndarray, features: int) -> np.ndarray:
    """Weights [runs, classes x features] in which each class's intercept, one of the last, follows its weights."""
    runs, size = weights.shape
    classes, width = size // features, features - 1
    inside = np.empty((runs, size), np.float32)
    for run in range(runs):
        for label in range(classes):
            inside[run, label * features : label * features + width] = weights[run, label * width : (label + 1) * width]
            inside[run, label * features + width] = weights[run, classes * width + label]
    return inside


@compiled
def _intercepts_last(inside: np.ndarray, features: int, out: np.ndarray) -> None:
    """The way back from `_with_intercepts`."""
    runs, size = inside.shape
    classes, width = size // features, features - 1
    for run in range(runs):
        for label in range(classes):
            out[run, label * width : (label + 1) * width] = inside[run, label * features : label * features + width]
            out[run, classes * width + label] = inside[run, label * features + width]


@compiled
def _over_all_rows(
    columns: np.ndarray, panels: np.ndarray, labels: np.ndarray, weights: np.ndarray, result: np.ndarray
) -> None:
    """All classes of all runs share one product there and one back."""
    runs, features = len(weights), columns.shape[1]
    classes = weights.shape[1] // features
    logits = np.empty((runs * classes, labels.size), np.float32)
    product(weights.reshape(-1, features), columns, logits)
    for run in range(runs):
        softmax_errors(logits[run * classes : (run + 1) * classes], labels)
    product(logits, panels, result.reshape(-1, features))


@compiled
def _over_chosen_rows(
    panels: np.ndarray, labels: np.ndarray, features: int, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray
) -> None:
    """Each run has its rows."""
    classes = weights.shape[1] // features
    # Panels are added up whole; the part behind the last feature stays 0 for every class.
    padded = np.zeros(len(panels) * WIDTH, np.float32)
    logits = np.empty((classes, chosen.shape[1]), np.float32)
    for run in range(len(weights)):
        for label in range(classes):
            padded[:features] = weights[run, label * features : (label + 1) * features]
            chosen_dots(padded, panels, chosen[run], logits[label])
        softmax_errors(logits, labels[chosen[run]])
        for label in range(classes):
            chosen_product(logits[label], panels, chosen[run], result[run, label * features : (label + 1) * features])


def build(shape: tuple[int, ...], facts: Facts) -> Softmax:
    """The model for rows of this shape."""
    return Softmax(shape[0], class_count(facts), facts.get("intercept", False))
