"""The paper's CNN as a list of stages: its weights, their positions, and the cost of a sparse network.

Does not import torch. Multiply-accumulate operations are counted by this rule:
- A kept weight costs one operation for every position of the output that it is used at: one in a dense layer, height
  times width of the output in a convolution (before pooling). A weight that is zero costs nothing.
- Biases cost nothing: they are additions, and a unit's bias can start its sum.
- A hidden unit (a channel or a neuron) that keeps no incoming weight is removed with the weights that leave it. Such a
  unit gives the same number for every input, which can be added to the biases behind the unit once and for all.
- A hidden unit that keeps no outgoing weight is removed with the weights that enter it: its output is unused.
- Removing a unit may leave others without incoming or outgoing weights; they are removed too, until nothing changes.
- Inputs and outputs are never removed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import prod
from typing import NamedTuple

import numpy as np

from eflops.errors import UserError

KERNEL = 5
POOL = 2
CHANNELS = (6, 16)
WIDTHS = (120, 84)
# A row of a kernel must fit into the vectors of `numerics.convolution`.
MOST_CHANNELS = 6


@dataclass(frozen=True)
class Stage:
    """A layer of units: weights [units, sources, taps] from `start` on, then a bias a unit.

    sources: units of the stage before (or input channels); taps: weights between a pair of units; positions: how often
    each weight is used in one prediction.
    """

    name: str
    start: int
    units: int
    sources: int
    taps: int
    positions: int

    @property
    def weights(self) -> slice:
        """The slice of the weights in the flat parameter vector."""
        return slice(self.start, self.start + self.units * self.sources * self.taps)

    @property
    def biases(self) -> slice:
        """The slice of the biases, after the weights."""
        return slice(self.weights.stop, self.weights.stop + self.units)

    @property
    def stop(self) -> int:
        """The end of the stage's parameters."""
        return self.biases.stop


def cnn_stages(shape: tuple[int, ...], classes: int) -> tuple[Stage, ...]:
    """The stages for images [channels, height, width]: two pooled convolutions and three dense layers.

    With images [1, 28, 28] and 10 classes these are the paper's 44,426 parameters.
    """
    stages: list[Stage] = []

    def add(name: str, units: int, sources: int, taps: int, positions: int) -> None:
        stages.append(Stage(name, stages[-1].stop if stages else 0, units, sources, taps, positions))

    sources, *sides = shape
    if sources > MOST_CHANNELS:
        raise UserError(f"the cnn cannot take images of {sources} channels: there may be at most {MOST_CHANNELS}")
    for index, units in enumerate(CHANNELS, 1):
        sides = [side - KERNEL + 1 for side in sides]
        if any(side < POOL or side % POOL for side in sides):
            raise UserError(
                f"the cnn cannot take images of {shape[1]} x {shape[2]} pixels: after each {KERNEL} x {KERNEL}"
                f" convolution both sides must be even and at least {POOL}, as for 28 x 28 pixels"
            )
        add(f"conv{index}", units, sources, KERNEL**2, prod(sides))
        sides, sources = [side // POOL for side in sides], units
    taps = prod(sides)
    for index, units in enumerate((*WIDTHS, classes), 1):
        add(f"dense{index}", units, sources, taps, 1)
        sources, taps = units, 1
    return tuple(stages)


class PooledConvolution(NamedTuple):
    """A pooled convolution for compiled code: inputs [height, width, channels], and where its parameters are."""

    height: int
    width: int
    channels: int
    units: int
    windows: int
    start: int
    biases: int


class Net(NamedTuple):
    """The stages for compiled code.

    widths: inputs of the first dense layer, then units of each; starts: where the weights of each begin; unit_starts:
    where the units of each begin if they stand one below the other, inputs first, and where they end; lists: where the
    lists of the layers behind the first begin in `passes.Room.firsts`.
    """

    size: int
    first: PooledConvolution
    second: PooledConvolution
    widths: tuple[int, ...]
    starts: tuple[int, ...]
    unit_starts: tuple[int, ...]
    lists: tuple[int, ...]


def net(shape: tuple[int, ...], stages: tuple[Stage, ...]) -> Net:
    """The stages of images of this shape as numbers."""
    first, second, *dense = stages
    widths = (dense[0].sources * dense[0].taps, *(stage.units for stage in dense))
    return Net(
        stages[-1].stop,
        _pooled_convolution(first, shape[1], shape[2]),
        _pooled_convolution(second, *((side - KERNEL + 1) // POOL for side in shape[1:])),
        widths,
        tuple(stage.start for stage in dense),
        (0, *accumulate(widths)),
        tuple(accumulate(stage.units + 1 for stage in stages[:-1])),
    )


def _pooled_convolution(stage: Stage, height: int, width: int) -> PooledConvolution:
    windows = stage.positions // POOL**2
    return PooledConvolution(height, width, stage.sources, stage.units, windows, stage.start, stage.biases.start)


def count_operations(stages: Sequence[Stage], kept: np.ndarray) -> tuple[dict[str, int], dict[str, int]]:
    """Operations of one prediction by stage, and units removed by hidden stage; `kept` [size] masks the parameters."""
    links = [kept[stage.weights].reshape(stage.units, stage.sources, stage.taps).sum(2) for stage in stages]
    alive = living_units([link > 0 for link in links])
    operations = {
        stage.name: stage.positions * int(link[np.ix_(after, before)].sum())
        for stage, link, (before, after) in zip(stages, links, pairwise(alive), strict=True)
    }
    removed = {stage.name: int((~units).sum()) for stage, units in zip(stages[:-1], alive[1:-1], strict=True)}
    return operations, removed


def living_units(linked: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The units of every layer, inputs first, that remain when dead ones are removed to a fixed point.

    linked: for each stage the mask [units, sources] of pairs with a kept weight between them.
    """
    alive = [np.ones(linked[0].shape[1], bool), *(np.ones(len(link), bool) for link in linked)]
    changed = True
    # To a fixed point: a unit that is removed may be the last one that another was linked to.
    while changed:
        changed = False
        for layer in range(1, len(linked)):
            entered = linked[layer - 1][:, alive[layer - 1]].any(1)
            read = linked[layer][alive[layer + 1]].any(0)
            left = alive[layer] & entered & read
            changed |= bool((left != alive[layer]).any())
            alive[layer] = left
    return alive
