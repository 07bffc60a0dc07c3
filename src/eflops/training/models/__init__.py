"""Models as pure functions of flat parameters, looked up by name."""

from typing import TYPE_CHECKING, Any

from eflops import trust
from eflops.data.federation import Block

if TYPE_CHECKING:
    from eflops.training.models.base import Model


def build_model(name: str, rows: Block, meta: dict[str, Any]) -> "Model":
    """The model `name` for data like `rows`: its module's `build`."""
    built: Model = trust.load("model", name)(rows.x.shape[1:], meta)
    return built
