"""Multiply-accumulate operations of one prediction of a sparse torch module.

- A kept weight of a linear or convolutional layer costs one operation at every position that it is used at. Biases,
  norms and activations cost nothing, as in `models.network`.
- Where the module is a chain of such layers with functions of single units between them, units that keep no incoming
  or no outgoing weight are removed first, as in `models.network`. Elsewhere (residual connections, norms over several
  units) no unit is removed.
- torch counts the products of a forward pass too (`torch.utils.flop_counter`). Where it sees others than these layers
  have, such as attention, or cannot run a row of zeros, the number of operations is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, fx, nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from eflops.training.models.base import Operations
from eflops.training.models.network import Stage, count_operations

CONVOLUTIONS = nn.Conv1d, nn.Conv2d, nn.Conv3d
TRANSPOSED = nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d
LAYERS = nn.Linear, *CONVOLUTIONS, *TRANSPOSED

# Functions of each unit by itself: a unit that is the same for every input stays so.
UNITWISE = (
    *(nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Identity),
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.Flatten),
    *(nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d),
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d, nn.AdaptiveMaxPool2d),
)
FUNCTIONS = {
    *(torch.relu, functional.relu, functional.leaky_relu, functional.elu, functional.gelu, functional.silu),
    *(torch.tanh, functional.tanh, torch.sigmoid, functional.sigmoid, functional.softplus, torch.flatten),
    *(functional.dropout, functional.dropout2d, functional.max_pool2d, functional.adaptive_avg_pool2d),
    *("relu", "tanh", "sigmoid", "flatten"),
}
# Operations with products that torch's counter takes for free.
UNCOUNTED = (
    *("mv", "addmv", "dot", "vdot", "addr", "_trilinear", "_cdist_forward", "mkldnn_rnn_layer"),
    *("_native_multi_head_attention", "_transformer_encoder_layer_fwd", "_scaled_dot_product_flash_attention_for_cpu"),
)


@dataclass(frozen=True)
class Counts:
    """Layers by name: where their weights start, how many there are, and at how many positions each is used.

    chain: the same layers as stages that follow each other, where they do.
    """

    layers: Mapping[str, tuple[int, int, int]]
    chain: tuple[Stage, ...] | None


def trace(module: nn.Module, shape: tuple[int, ...], starts: Mapping[str, int]) -> Counts | None:
    """The layers and operations of a prediction for one row of this shape; None if unknown.

    starts: where each parameter starts in the flat vector.
    """
    positions: dict[str, int] = {}
    names = {id(part): name for name, part in module.named_modules()}

    def note(layer: nn.Linear | nn.modules.conv._ConvNd, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        name = names[id(layer)]
        transposed = isinstance(layer, TRANSPOSED)
        units: Any = layer.in_channels if transposed else layer.weight.shape[0]
        positions[name] = positions.get(name, 0) + (inputs[0] if transposed else output).numel() // units

    hooks = [part.register_forward_hook(note) for part in module.modules() if isinstance(part, LAYERS)]
    seen = {getattr(torch.ops.aten, name): lambda *_, **__: 1 for name in UNCOUNTED}
    try:
        with torch.no_grad(), FlopCounterMode(display=False, custom_mapping=seen) as counter:
            module(torch.zeros(1, *shape))
    except Exception:  # a norm over rows, for one, needs several
        return None
    finally:
        for hook in hooks:
            hook.remove()
    weights: dict[str, Any] = {name: module.get_submodule(name).weight for name in positions}
    begins = {name: starts.get(f"{name}.weight" if name else "weight") for name in positions}
    if None in begins.values():
        return None  # weights that layers share, or that are computed
    layers: Any = {name or "module": (begins[name], weights[name].numel(), positions[name]) for name in positions}
    if counter.get_total_flops() != 2 * sum(count * times for _, count, times in layers.values()):
        return None
    return Counts(layers, _chain(module, layers))


def count_sparse(counts: Counts | None, kept: np.ndarray) -> Operations:
    """The operations of a module that keeps the parameters `kept` [size], by layer."""
    if counts is None:
        return Operations({})
    if counts.chain is not None:
        return Operations(*count_operations(counts.chain, kept))
    layers = counts.layers.items()
    return Operations({name: times * int(kept[start : start + count].sum()) for name, (start, count, times) in layers})


def _chain(module: nn.Module, layers: Mapping[str, tuple[int, int, int]]) -> tuple[Stage, ...] | None:
    """The layers as stages, if each feeds only the next, with only elementwise functions between them."""
    try:
        graph = fx.symbolic_trace(module).graph
    except Exception:  # a module whose path depends on its input cannot be traced
        return None
    stages: list[Stage] = []
    for node in graph.nodes:
        if node.op == "placeholder":
            continue
        if len(node.all_input_nodes) != 1 or len(node.all_input_nodes[0].users) != 1:
            return None
        if node.op == "call_module":
            part: Any = module.get_submodule(node.target)
            if isinstance(part, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d) and getattr(part, "groups", 1) == 1:
                units, inputs = part.weight.shape[:2]
                before = stages[-1].units if stages else inputs
                if inputs % before or node.target not in layers:
                    return None
                start, count, times = layers[node.target]
                stages.append(Stage(node.target, start, units, before, count // units // before, times))
                if len(stages) > 1 and _pads(part):
                    return None  # a unit that is constant inside is not constant beside zeros
            elif not isinstance(part, UNITWISE) or _pads(part):
                return None
        elif node.op != "output" and node.target not in FUNCTIONS:
            return None
    return tuple(stages) if len(stages) == len(layers) else None


def _pads(part: nn.Module) -> bool:
    padding: Any = getattr(part, "padding", 0)
    return padding == "same" or (not isinstance(padding, str) and bool(np.any(padding)))
