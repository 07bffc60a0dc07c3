"""Flower is imported through eflops, which silences it, and nodes can import the methods that fail."""

import sys
from pathlib import Path

import pytest

import eflops.flower  # noqa: F401

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


@pytest.fixture(autouse=True)
def _nodes_can_import_what_lies_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=":")
