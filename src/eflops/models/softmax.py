"""Softmax regression without intercept: one weight a class and feature."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from eflops.models.base import Layer, Operations, Rows
from eflops.models.batch import filled_up, pad, padded, product


class Softmax:
    """Logits x W', W [classes, features] flattened row by row; cross-entropy loss."""

    def __init__(self, features: int, classes: int) -> None:
        self.features, self.classes = features, classes
        self.size = features * classes
        self.layers = (Layer("weights", 0, self.size),)

    def rows(self, x: np.ndarray, y: np.ndarray) -> Rows:
        """Rows as they are, filled up if they are few."""
        return filled_up(torch.from_numpy(x), torch.from_numpy(y))

    def initial(self, seed: int) -> Tensor:
        """All zero: the loss is convex in theta, so no symmetry has to be broken."""
        return torch.zeros(padded(self.size))

    def logits(self, theta: Tensor, data: Rows) -> Tensor:
        """The logits [runs, classes, rows with padding]."""
        weights = theta[:, : self.size].reshape(-1, self.features)
        return product(weights, data.columns).view(-1, self.classes, len(data.x))

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """(softmax - one-hot)' x / n; a run's mini-batch is a mask on the rows."""
        error = torch.softmax(self.logits(theta, data), 1)
        error -= torch.nn.functional.one_hot(data.y, self.classes).T
        if chosen is None:
            error.mul_(1 / len(data))
        else:
            mask = torch.zeros(theta.shape[0], len(data.x)).scatter_(1, chosen, 1 / chosen.shape[1])
            error.mul_(mask[:, None, :])
        return pad(product(error.view(-1, len(data.x)), data.x).view(-1, self.size))

    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """Accuracy, cross-entropy and, for two classes, the area under the ROC curve."""
        logits = self.logits(theta, data)[..., : len(data)]
        return class_metrics(logits.transpose(1, 2), data.y[: len(data)])

    def macs(self, kept: np.ndarray) -> Operations:
        """One operation a kept weight."""
        return Operations({"weights": int(kept.sum())})


def class_metrics(logits: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """Accuracy, cross-entropy and (two classes) AUC of logits [runs, rows, classes]."""
    log_probability = torch.log_softmax(logits.double(), -1)
    own = log_probability.gather(-1, labels.expand(logits.shape[:-1])[..., None])[..., 0]
    metrics = {
        "accuracy": (logits.argmax(-1) == labels).double().mean(-1),
        "cross_entropy": -own.mean(-1),
    }
    if logits.shape[-1] == 2:
        score = logits[..., 1].double() - logits[..., 0].double()
        metrics["auc"] = _auc(score, labels)
    return metrics


def _auc(score: Tensor, labels: Tensor) -> Tensor:
    """The share of (positive, negative) pairs in the right order; a tie counts half."""
    difference = score[:, labels == 1][:, :, None] - score[:, labels == 0][:, None, :]
    return ((difference > 0).double() + 0.5 * (difference == 0).double()).mean((1, 2))


def build(shape: tuple[int, ...], meta: dict[str, Any]) -> Softmax:
    """The model for rows of this shape."""
    return Softmax(shape[0], meta["classes"])
