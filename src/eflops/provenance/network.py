"""The final CNN of a run as a torch module without the units that compute nothing.

`network.living_units` determines which units stay. A removed unit without incoming weights is a constant, which is
added to the biases of the next layer; a unit without outgoing weights has no effect. So the outputs equal those of the
whole network up to rounding. Unused inputs of a dense layer are removed one by one.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from eflops.errors import UserError
from eflops.provenance.audit.results import whole
from eflops.results.record import Record
from eflops.training.models.network import KERNEL, POOL, Stage, cnn_stages, living_units


class Inputs(nn.Module):
    """Select some inputs of a dense layer."""

    def __init__(self, index: Tensor) -> None:
        super().__init__()
        self.register_buffer("index", index)

    def forward(self, x: Tensor) -> Tensor:
        """x [rows, inputs] to [rows, those that stay]."""
        return x.index_select(1, self.get_buffer("index"))


def without_dead_units(stages: Sequence[Stage], theta: np.ndarray) -> nn.Sequential:
    """The module of flat parameters [size] of the CNN with these stages."""
    weights = [
        torch.from_numpy(theta[stage.weights]).view(stage.units, stage.sources, stage.taps).clone() for stage in stages
    ]
    alive = [torch.from_numpy(units) for units in living_units([(part != 0).any(2).numpy() for part in weights])]
    constants = torch.zeros(stages[0].sources)  # of the units before, and 0 of those that stay
    layers: list[nn.Module] = []
    for number, (stage, weight) in enumerate(zip(stages, weights, strict=True)):
        before, after = alive[number], alive[number + 1]
        bias = torch.from_numpy(theta[stage.biases]) + weight.sum(2) @ constants
        # A removed unit has the same value for every image, which the next layer gets as part of its bias.
        weight, constants = weight[after][:, before], bias.relu() * ~after
        if not before.any() or not after.any():
            continue  # then all hidden units are dead
        if stage.positions > 1:
            layers.append(_layer(nn.Conv2d, weight.unflatten(2, (KERNEL, KERNEL)), bias[after], KERNEL))
            layers += [nn.MaxPool2d(POOL), nn.ReLU()]
            continue
        if stages[number - 1].positions > 1:
            layers.append(nn.Flatten())
        weight = weight.flatten(1)
        read = (weight != 0).any(0)
        if not read.all():
            layers.append(Inputs(read.nonzero()[:, 0]))
        layers += [_layer(nn.Linear, weight[:, read], bias[after]), nn.ReLU()]
    if not layers:  # the outputs are constants
        constant = _layer(nn.Linear, torch.zeros(len(bias), 1), bias)
        layers = [nn.Flatten(), Inputs(torch.tensor([0])), constant, nn.ReLU()]
    # The outputs have no ReLU.
    return nn.Sequential(*layers[:-1]).eval()


def _layer(kind: type[nn.Conv2d] | type[nn.Linear], weight: Tensor, bias: Tensor, *kernel: int) -> nn.Module:
    """A layer with these weights [units, inputs, ...] and biases."""
    layer = nn.utils.skip_init(kind, weight.shape[1], weight.shape[0], *kernel)
    layer.load_state_dict({"weight": weight, "bias": bias})
    return layer.requires_grad_(False)


def network_of(record: Record, manifest: Mapping[str, Any]) -> tuple[nn.Sequential, tuple[int, ...]]:
    """The network of a run's final weights, and the shape of an image; manifest: that of the run's data."""
    shape = tuple(manifest["arrays"]["test_x"]["shape"][1:])
    if len(record.result.weights) != len(record.result.support) or not record.result.weights:
        raise UserError("The record of this run holds no weights: it diverged, or the model keeps too many.")
    return without_dead_units(cnn_stages(shape, manifest["meta"]["classes"]), whole(record.result)), shape


def export(network: nn.Sequential, shape: tuple[int, ...], out: Path) -> None:
    """Write a network in a form that torch can load without this package: torch.export.load(FILE).module()(images [any,
    *shape])."""
    # Two rows: with one, torch would take the size of the batch for a constant.
    program = torch.export.export(network, (torch.zeros(2, *shape),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    out.parent.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, out)
