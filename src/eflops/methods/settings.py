"""The settings of runs that train side by side: shared, or a column where they differ."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eflops.config.settings import PER_RUN, TrainingSettings


class RunSettings:
    """Settings by name: a plain value where all runs agree, else a column [runs, 1] of float64.

    Numbers are rounded to the tensors' type only where `scaled` uses them, so that a run's bits are the same whether
    its setting is a plain value or stands in a column.
    """

    def __init__(self, runs: Sequence[TrainingSettings]) -> None:
        self.runs = tuple(runs)
        self._alike = all(run is self.runs[0] for run in self.runs)

    def __getattr__(self, name: str) -> Any:
        if self._alike:
            return getattr(self.runs[0], name)
        values = self.values(name)
        if name not in PER_RUN and any(value != values[0] for value in values):
            raise ValueError(f"runs of one batch must agree on {name}, and these have {values}")
        return column(values)

    def values(self, name: str) -> list[Any]:
        """The setting of each run."""
        return self.each(attrgetter(name))

    def numbers(self, *names: str) -> np.ndarray:
        """These settings of each run, [runs, names] of the tensors' type."""
        return np.array(self.each(lambda run: [getattr(run, name) for name in names]), np.float32)

    def each(self, function: Callable[[Any], Any]) -> list[Any]:
        """`function` of each run's settings, computed once where all runs share them."""
        if self._alike:
            return [function(self.runs[0])] * len(self.runs)
        return [function(run) for run in self.runs]

    def of(self, rows: Sequence[int]) -> "RunSettings":
        """The settings of some of the runs."""
        return RunSettings([self.runs[row] for row in rows])


def column(values: Sequence[Any]) -> Any:
    """A plain value where all are equal, else a column [runs, 1] of float64."""
    if all(value == values[0] for value in values):
        return values[0]
    return torch.tensor(values, dtype=torch.float64)[:, None]


def scaled(values: Tensor, factor: float | Tensor) -> Tensor:
    """`values` [runs, ...] times a setting, in place."""
    return values.mul_(factor.to(values.dtype) if isinstance(factor, Tensor) else factor)


def batch_key(settings: TrainingSettings) -> tuple[Any, ...]:
    """What runs must agree on to train in one batch: all but the settings that can stand in a column."""
    shared = settings.model_dump(exclude=set(PER_RUN))
    absent = tuple(name for name in PER_RUN if getattr(settings, name, None) is None)
    return (*shared.items(), absent)
