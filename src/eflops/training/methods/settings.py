"""The settings of runs in one batch: a plain value if all agree, or a column."""

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from eflops.config.settings import PER_RUN, TrainingSettings

Value = TypeVar("Value")


class RunSettings:
    """Settings by name: a plain value if all runs agree, else a column [runs, 1] of float64.

    Numbers are rounded to the tensors' type only at their use, so a run's bits do not depend on whether its setting
    is a plain value or in a column.
    """

    def __init__(
        self,
        runs: Sequence[TrainingSettings],
        block: "RunSettings | None" = None,
        rows: np.ndarray | slice = slice(None),
    ) -> None:
        self.runs = tuple(runs)
        self._block, self._rows = block, rows
        # By identity: the runs of one variant share one object.
        self._alike: bool = block._alike if block else all(run is self.runs[0] for run in self.runs)
        self._arrays: dict[Hashable, np.ndarray] = {}
        self._fewer: dict[int, RunSettings] = {}

    def __getattr__(self, name: str) -> Any:
        """The value is cached as an attribute, because every client reads it in every round."""
        values = self.values(name)
        if name not in PER_RUN and any(value != values[0] for value in values):
            raise ValueError(f"all runs of a batch must have the same {name}, but these have {values}")
        value = column(values)
        setattr(self, name, value)
        return value

    def values(self, name: str) -> list[Any]:
        """The setting of each run."""
        return self.each(attrgetter(name))

    def each(self, function: Callable[..., Value]) -> list[Value]:
        """`function` of each run's settings, computed once where all runs share them."""
        if self._alike:
            return [function(self.runs[0])] * len(self.runs)
        return [function(run) for run in self.runs]

    def array(self, name: Hashable, function: Callable[..., object], kind: type = np.float32) -> np.ndarray:
        """`function` of each run's settings as an array [runs, ...], cached under this name."""
        if name not in self._arrays:
            block = self._block
            array = block.array(name, function, kind)[self._rows] if block else np.array(self.each(function), kind)
            self._arrays[name] = array
        return self._arrays[name]

    def numbers(self, name: str) -> np.ndarray:
        """A setting of each run, [runs] of the tensors' type; null means infinity."""
        return self.array(name, lambda run: np.inf if getattr(run, name) is None else getattr(run, name))

    def of(self, rows: Sequence[int] | np.ndarray) -> "RunSettings":
        """The settings of some of a block's runs; if all runs have equal settings, the object is shared."""
        count = len(rows)
        if count == len(self.runs):
            return self
        if not self._alike:
            return RunSettings([self.runs[row] for row in rows], self, np.asarray(rows))
        if count not in self._fewer:
            # Keyed by the count alone: runs with equal settings share every cached array, whichever runs they are.
            self._fewer[count] = RunSettings(self.runs[:count], self, slice(count))
        return self._fewer[count]


def column(values: Sequence[object]) -> object:
    """A plain value if all are equal, else a column [runs, 1] of float64."""
    if all(value == values[0] for value in values):
        return values[0]
    return torch.tensor(values, dtype=torch.float64)[:, None]


def scaled(values: Tensor, factor: float | Tensor) -> Tensor:
    """`values` [runs, ...] times a setting, in place."""
    return values.mul_(factor.to(values.dtype) if isinstance(factor, Tensor) else factor)


def batch_key(settings: TrainingSettings) -> Hashable:
    """The settings that runs of one batch must share: all except those that may be columns."""
    shared = settings.model_dump(exclude=set(PER_RUN))
    absent = tuple(name for name in PER_RUN if getattr(settings, name, None) is None)
    return (*shared.items(), absent)
