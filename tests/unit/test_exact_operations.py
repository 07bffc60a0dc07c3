"""Only torch operations that round alike on every processor are on the way from data to a result."""

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from eflops.data.federation import Federation
from small_problems import METHODS, random_images, train_runs

# Copies, views and choices move numbers; comparisons find them; the others
# are rounded exactly, number by number.
MOVES = {
    "_local_scalar_dense", "_to_copy", "clone", "copy_", "detach", "empty", "empty_like", "expand", "fill_", "full",
    "index", "index_copy_", "index_put_", "index_select", "lift_fresh", "masked_fill", "new_empty", "new_zeros",
    "reshape", "select", "slice",
    "squeeze", "stack", "transpose", "unsqueeze", "view", "where", "zero_", "zeros", "zeros_like", "cat", "alias",
    "_reshape_alias", "unbind", "split_with_sizes", "nonzero",
    "ones_like", "clamp", "clamp_", "maximum", "minimum", "abs", "abs_", "neg",
}  # fmt: skip
COMPARISONS = {
    "le",
    "lt",
    "ge",
    "gt",
    "eq",
    "ne",
    "isfinite",
    "all",
    "any",
    "bitwise_not",
    "bitwise_and",
    "logical_not",
}
ROUNDED = {"add", "add_", "sub", "sub_", "rsub", "mul", "mul_", "div", "div_"}
# Of whole numbers alone.
COUNTS = {"sum", "arange"}


class Listed(TorchDispatchMode):
    """Notes the operations that are not exact."""

    def __init__(self) -> None:
        super().__init__()
        self.inexact: set[str] = set()

    def __torch_dispatch__(self, operation: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        result, name = operation(*arguments, **(keywords or {})), operation.overloadpacket.__name__
        counts = name in COUNTS and not result.is_floating_point()
        if not (counts or name in MOVES | COMPARISONS | ROUNDED):
            self.inexact.add(name)
        return result


@pytest.mark.parametrize("changes", [{}, {"batch_size": 4, "layer_floor": 0.01, "clip": 1.0}], ids=["plain", "other"])
@pytest.mark.parametrize("model", ["linear", "softmax", "cnn"])
@pytest.mark.parametrize("name", METHODS)
def test_torch_only_moves_compares_and_computes_number_by_number(
    name: str, model: str, changes: dict[str, Any], synthetic: Federation, golub: Federation
) -> None:
    federation = {"linear": synthetic, "softmax": golub, "cnn": random_images()}[model]
    gated = {"prior": "init", "gate": "louizos", "gate_recovery": "paper"} if changes and "flops" in name else {}
    with Listed() as listed:
        train_runs(federation, model, name, [0, 1], rounds=3, prune_from=0.5, **changes, **gated)
    assert listed.inexact == set()


def test_a_sum_is_noticed() -> None:
    with Listed() as listed:
        torch.zeros(3).sum()
        torch.zeros(3).bool().sum()
        torch.zeros(3).exp()
    assert listed.inexact == {"sum", "exp"}
