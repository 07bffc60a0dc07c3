"""Multiply-accumulate operations of a sparse network.

The rule:
- A kept weight costs one operation for every position of the output that it is used at: one in a dense layer, height
  times width of the output in a convolution (before pooling). A weight that is zero costs nothing.
- Biases cost nothing: they are additions, and a unit's bias can start its sum.
- A hidden unit (a channel or a neuron) that keeps no incoming weight is removed with the weights that leave it. Such a
  unit gives the same number for every input, which can be added to the biases behind the unit once and for all.
- A hidden unit that keeps no outgoing weight is removed with the weights that enter it: nobody reads its number.
- Removing a unit may leave others without incoming or outgoing weights; they are removed too, until nothing changes.
- Inputs and outputs are never removed.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from eflops.training.models.network import Stage


def count(stages: Sequence[Stage], kept: np.ndarray) -> tuple[dict[str, int], dict[str, int]]:
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
    """Which units of every layer, inputs first, are left when dead ones are removed to a fixed point.

    linked: for each stage the mask [units, sources] of pairs with a kept weight between them.
    """
    alive = [np.ones(linked[0].shape[1], bool), *(np.ones(len(link), bool) for link in linked)]
    changed = True
    while changed:
        changed = False
        for layer in range(1, len(linked)):
            entered = linked[layer - 1][:, alive[layer - 1]].any(1)
            read = linked[layer][alive[layer + 1]].any(0)
            left = alive[layer] & entered & read
            changed |= bool((left != alive[layer]).any())
            alive[layer] = left
    return alive
