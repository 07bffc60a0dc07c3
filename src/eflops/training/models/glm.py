"""The linear model of a table, by the type of its target: linear regression for numbers, softmax regression for
classes."""

from eflops.data.federation import Facts
from eflops.training.models import linear, softmax


def build(shape: tuple[int, ...], facts: Facts) -> linear.Linear | softmax.Softmax:
    """The model for rows of this shape; the task is in the facts of the federation."""
    return linear.build(shape, facts) if facts["task"] == "regression" else softmax.build(shape, facts)
