"""First weights: uniform as torch starts a layer, or zero."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from eflops.config.settings import TrainingSettings
from eflops.errors import UserError
from eflops.training.methods.base import Task
from eflops.training.methods.settings import RunSettings
from eflops.training.models.cnn import build as build_cnn
from eflops.training.models.linear import Linear
from eflops.training.models.softmax import Softmax

MODELS: dict[str, tuple[Any, int]] = {"linear": (Linear(400), 400), "softmax": (Softmax(400, 2), 400)}


def tasks(initial: Any) -> Iterator[tuple[Task, int]]:
    for model, incoming in MODELS.values():
        yield Task(model, 10, RunSettings([TrainingSettings(initial=initial)] * 3)), incoming


def test_first_weights_are_uniform_within_one_over_the_root_of_the_incoming_weights() -> None:
    for task, incoming in tasks("uniform"):
        first = task.first_weights([0, 1, 0])
        assert first.shape == (3, task.size)
        assert 0.99 * incoming**-0.5 < first.abs().max() <= incoming**-0.5
        assert first.std().item() == pytest.approx((3 * incoming) ** -0.5, rel=0.1)
        assert torch.equal(first[0], first[2])
        assert not torch.equal(first[0], first[1])


def test_a_run_can_start_from_zero() -> None:
    for task, _ in tasks("zeros"):
        assert torch.equal(task.first_weights([0, 1]), torch.zeros(2, task.size))


def test_a_network_cannot_start_from_zero() -> None:
    task = Task(build_cnn((1, 28, 28), {"classes": 10}), 10, RunSettings([TrainingSettings(initial="zeros")]))
    with pytest.raises(UserError, match="a network needs initial: uniform"):
        task.first_weights([0])
