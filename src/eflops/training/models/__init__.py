"""Models as pure functions of flat parameters, looked up by name."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eflops.data.federation import Block

if TYPE_CHECKING:
    from eflops.training.models.base import Model


def build_model(name: str, rows: Block, meta: dict[str, Any]) -> "Model":
    """The model `name` for data like `rows`: its module's `build`."""
    built: Model = import_module(f"eflops.training.models.{name}").build(rows.x.shape[1:], meta)
    return built
