"""The linear model of a table, by what its target is: linear regression for numbers, softmax regression for classes."""

from typing import Any

from eflops.training.models import linear, softmax


def build(shape: tuple[int, ...], meta: dict[str, Any]) -> linear.Linear | softmax.Softmax:
    """The model for rows of this shape; the task stands in the facts of the federation."""
    return linear.build(shape, meta) if meta["task"] == "regression" else softmax.build(shape, meta)
