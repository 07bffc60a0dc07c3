"""Groups of weights that share a gate: the weights of an input feature, or of a network's channel or unit.

Every gated weight is in one group. Layer by layer, a group is
- of a convolution: the weights that enter an output channel, and its bias;
- of a dense layer: the weights that leave an input, and its bias if it is a unit of another dense layer;
- the bias of an output unit.

The paper's CNN has 6 + 16 + 256 + 120 + 84 groups and 10 biases of outputs. A softmax model has one group per feature.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from eflops.errors import UserError
from eflops.training.models.base import Layer
from eflops.training.models.network import Stage
from eflops.training.modules import ModuleModel


@dataclass(frozen=True)
class Groups:
    """gate: the index of each gated weight's gate, [gated]; layers: those of the model."""

    gate: Tensor
    layers: Sequence[Layer]

    @cached_property
    def sizes(self) -> Tensor:
        """How many weights each gate has, [gates]."""
        return torch.bincount(self.gate).float()

    @cached_property
    def first(self) -> Tensor:
        """The first weight of each gate, [gates]."""
        first = torch.full_like(self.sizes, len(self.gate), dtype=torch.long)
        return first.scatter_reduce(0, self.gate, torch.arange(len(self.gate)), "amin")

    def top(self, weights: Tensor, keep: int, floor: float = 0.0) -> Tensor:
        """The mask [gated] of whole groups, at most `keep` weights: those of the largest mean square, up to the first
        that has too many.

        Before them, of each layer the largest until a share `floor` of its weights is kept.
        """
        score = torch.zeros_like(self.sizes).index_add(0, self.gate, weights.square()) / self.sizes
        for layer in self.layers if floor else ():
            inside = torch.bincount(self.gate[layer.start : layer.stop], minlength=len(score))
            inside *= 2 * inside > self.sizes  # of a group that brings a bias alone the layer gets nothing
            order = torch.where(inside > 0, score, -1).argsort(descending=True, stable=True)
            before = inside[order].cumsum(0) - inside[order]
            score[order[before < math.ceil(floor * (layer.stop - layer.start))]] = math.inf
        order = score.argsort(descending=True, stable=True)
        kept = torch.zeros_like(score, dtype=torch.bool)
        kept[order[self.sizes[order].cumsum(0) <= keep]] = True
        return kept[self.gate]


def groups_of(model: ModuleModel, gates: str) -> Groups | None:
    """The groups of a model under this setting; None if each weight has its own gate."""
    if gates == "weight":
        return None
    stages = model.chain or ()
    single = len(stages) == 1 and _is_dense(model, stages[0].name)
    if not stages or single != (gates == "feature") or any(stage.weights.stop > model.gated for stage in stages):
        right = {
            "feature": "a linear model (linear, softmax, glm, or one torch.nn.Linear)",
            "unit": "a network whose layers follow each other, convolutions and dense ones, and are all gated",
        }
        raise UserError(f"gates: {gates} is for {right[gates]}, and the model {model.name} is not.")
    gate, count, made = torch.full((model.gated,), -1), 0, torch.empty(0, dtype=torch.long)
    for stage in stages:
        weights, biases = gate[stage.weights].view(stage.units, -1), _biases(model, stage)
        if _is_dense(model, stage.name):
            shared = torch.arange(count, count + weights.shape[1])
            weights[:] = shared
            if len(made) == len(shared):
                # The biases of the layer before belong to these units, whose leaving weights are here.
                gate[made] = shared
            made = biases
        else:
            shared = torch.arange(count, count + stage.units)
            weights[:] = shared[:, None]
            gate[biases] = shared[: len(biases)]
        count += len(shared)
    alone = (gate < 0).nonzero()[:, 0]
    gate[alone] = torch.arange(count, count + len(alone))
    return Groups(gate, model.layers)


def _biases(model: ModuleModel, stage: Stage) -> Tensor:
    """Where the gated biases of a layer are; none if it has none."""
    start = model.starts.get(f"{stage.name}.bias", model.gated)
    return torch.arange(start, min(start + stage.units, model.gated))


def _is_dense(model: ModuleModel, layer: str) -> bool:
    return len(model.shapes[f"{layer}.weight"]) == 2
