"""Flower is imported through eflops, which silences it, and nodes can import the methods that fail."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import eflops.engines.flower  # noqa: F401

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


@pytest.fixture(autouse=True)
def _nodes_can_import_what_lies_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=":")


@pytest.fixture(autouse=True, scope="module")
def _training_leaves_no_trace() -> Iterator[None]:
    """Training switches denormals off for the whole process, which tests of other files may need."""
    yield
    torch.set_flush_denormal(False)
    torch.set_grad_enabled(True)
