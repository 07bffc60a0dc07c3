"""The interface of models for engines and methods: pure functions of flat parameters with a leading axis of runs.

A client's whole local update is one compiled call, so compiled code looks a model's gradient up by the type of its
rows:

    class LinearRows(NamedTuple):
        labels: np.ndarray
        ...

    @overload(gradient, jit_options=OPTIONS)
    def _linear(rows, weights, chosen, result):
        return compiled_function if is_kind(rows, LinearRows) else None

Both functions have the same annotations, because numba compares their signatures.

A method calls `gradient(rows, weights, chosen, result)` and is compiled for each type of rows it meets. Functions are
not passed as arguments, because numba would not find their cached machine code in the next process.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from eflops.errors import UserError
from eflops.training.numerics.compiled import Function, compiled
from eflops.training.numerics.noise import uniform
from eflops.training.numerics.product import in_panels


@dataclass(frozen=True)
class Layer:
    """A named stretch of the flat parameter vector."""

    name: str
    start: int
    stop: int


class TorchRows(Protocol):
    """Rows of a torch module, whose gradient autograd computes."""

    def gradient(self, weights: np.ndarray, chosen: np.ndarray, gradient: np.ndarray) -> None: ...


# Compiled gradients have an overload for each kind of named tuple.
Layout = tuple[object, ...] | TorchRows
GradientFunction = Callable[..., None]


@dataclass(frozen=True)
class Rows:
    """Labelled rows as tensors, and in the layout of the model's compiled gradient."""

    x: Tensor
    y: Tensor
    layout: Callable[..., Layout]

    @cached_property
    def columns(self) -> np.ndarray:
        """The panels of x', for a linear model's outputs; test rows need no others."""
        return in_panels(self.x.numpy().T)

    @cached_property
    def arrays(self) -> Layout:
        """The first argument of `gradient`; computed once, because a client's rows never change."""
        return self.layout(self)

    def __len__(self) -> int:
        return self.x.shape[0]

    def at(self, seeds: Sequence[int], round_: int, client: int) -> "Rows":
        """These rows in one round of a client, for models that draw random numbers from this address."""
        return self


@dataclass(frozen=True)
class Operations:
    """Multiply-accumulate operations of one prediction, and units that compute nothing, by layer."""

    operations: dict[str, int]
    dead_units: dict[str, int] = field(default_factory=dict)


class Model(Protocol):
    """A model and its loss, for several runs at once: the only form in which methods and engines see a model.

    A custom model does not implement this interface: it is a torch module, which `modules.ModuleModel` wraps. A
    built-in model adds a compiled gradient.

    Attributes:
        size: the number of parameters; parameters are [runs, size].
        gated: the number of parameters, the first ones, that may be gated and cut. The density counts only
            these. The others, such
            as an intercept, are ungated: every method trains them, never cuts them, and sends them without indices and
            gates.
        layers: the layers of the gated parameters, without gaps; `layers[-1].stop == gated`.

    Example, one step of gradient descent and its test metrics:

        model = Linear(features=10)
        theta = torch.stack([model.initial(seed) for seed in (0, 1)])    # [2, 10]
        data = model.rows(x, y)                                          # x [rows, 10], y [rows], float32
        theta -= 0.1 * model.gradient(theta, data, None)
        model.measure(theta, data)["r2"]                                 # [2]
    """

    size: int
    gated: int
    layers: tuple[Layer, ...]

    def rows(self, x: np.ndarray, y: np.ndarray) -> Rows:
        """The rows of a data block: x [rows, ...] float32, y [rows] float32 numbers or int64 classes."""

    def initial(self, seed: int) -> Tensor:
        """The first parameters [size] of the run with this seed: `initial: uniform`."""

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """The gradient of the mean loss.

        Args:
            theta: the parameters [runs, size], float32.
            data: the rows of a client.
            chosen: the rows of each run's mini-batch, [runs, batch] int64; None for all rows.

        Returns:
            The gradient [runs, size].
        """

    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """The metrics [runs] of parameters on test rows."""

    def macs(self, kept: np.ndarray) -> Operations:
        """The cost of one prediction of a model that keeps the weights `kept` [size]."""


def gradient(rows: Layout, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> None:
    """The gradient [runs, size] of the mean loss at weights [runs, size], into `result`.

    Over each run's chosen rows [runs, batch], whose last axis is contiguous; an empty batch means all rows.
    Compiled code has an overload for each type of rows. Rows of a torch module compute it by autograd, in Python.
    """
    assert not isinstance(rows, tuple)
    rows.gradient(weights, chosen, result)


def in_python(steps: Function, rows: Layout) -> Function:
    """A compiled function that calls `gradient`: unchanged for compiled rows, interpreted for rows of a torch module.

    The functions that it calls remain compiled.
    """
    return steps if isinstance(rows, tuple) else steps.py_func  # type: ignore[attr-defined]


class MatrixRows(NamedTuple):
    """Rows of features [n, features] for models that multiply weights by them, laid out for both ways.

    columns: the panels of x', for outputs; panels: those of x, for gradients; labels [n].
    """

    columns: np.ndarray
    panels: np.ndarray
    labels: np.ndarray


def matrix_rows(kind: type[MatrixRows], x: np.ndarray, y: np.ndarray, intercept: bool) -> Rows:
    """Rows of features in a layout of this kind; an intercept is the weight of a last feature that is always 1."""
    # As a feature, an intercept needs no product and no gradient of its own.
    x = np.column_stack([x, np.ones(len(x), np.float32)]) if intercept else x
    layout = lambda rows: kind(rows.columns, in_panels(rows.x.numpy()), rows.y.numpy())  # noqa: E731
    return Rows(torch.from_numpy(x), torch.from_numpy(y), layout)


def is_kind(rows: object, kind: type) -> bool:
    """Whether the numba type of `rows` is this named tuple."""
    return getattr(rows, "instance_class", None) is kind


def compiled_gradient(size: int, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
    """The gradient of a model outside compiled code, as `Model.gradient` has it."""
    _check_arguments(size, theta, data, chosen)
    result = torch.empty_like(theta)
    batch = np.empty((len(theta), 0), np.int64) if chosen is None else chosen.contiguous().numpy()
    _gradient(data.arrays, theta.contiguous().numpy(), batch, result.numpy())
    return result


def _check_arguments(size: int, theta: Tensor, data: Rows, chosen: Tensor | None) -> None:
    """Reject weights and rows of the wrong shape, because compiled code does not check bounds."""
    if theta.dtype != torch.float32 or theta.ndim != 2 or theta.shape[1] != size:
        actual = f"{str(theta.dtype).removeprefix('torch.')} of shape {tuple(theta.shape)}"
        raise UserError(
            f"the weights of a gradient are {actual}; they must be a tensor of float32 of shape (runs, {size})."
        )
    if (
        chosen is not None
        and chosen.numel()
        and not (
            chosen.dtype == torch.int64
            and chosen.shape[0] == len(theta)
            and 0 <= chosen.min() <= chosen.max() < len(data)
        )
    ):
        right = f"a tensor of int64 of shape ({len(theta)}, batch) with numbers from 0 to {len(data) - 1}"
        raise UserError(f"the rows of a step are {chosen.dtype} of shape {tuple(chosen.shape)}; they must be {right}.")


@compiled
def _gradient(rows: Layout, weights: np.ndarray, chosen: np.ndarray, result: np.ndarray) -> None:
    gradient(rows, weights, chosen, result)


def uniform_start(seed: int, layers: Sequence[tuple[int, int]]) -> Tensor:
    """Weights uniform within 1 / sqrt(incoming weights of a unit), which is torch's default for a layer.

    layers: the number of weights (and biases) of each, and the number of incoming weights of a unit.
    """
    theta = uniform([seed], "first weights", (), 1, sum(count for count, _ in layers))[0, 0].mul_(2).sub_(1)
    for part, (_, incoming) in zip(theta.split([count for count, _ in layers]), layers, strict=True):
        part.div_(math.sqrt(incoming))
    return theta
