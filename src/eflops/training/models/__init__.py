"""Models as pure functions of flat parameters, looked up by name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eflops import trust
from eflops.data.federation import Block, Facts, Federation

if TYPE_CHECKING:
    from eflops.results.record import Cell
    from eflops.training.models.base import Model


def model_facts(cell: "Cell", federation: Federation) -> Facts:
    """The facts that a model is built from, besides the shape of rows: the data's facts, and whether it has an
    intercept."""
    return {**federation.meta, "intercept": cell.intercept}


def build_model(
    name: str, rows: Block, facts: Facts, gated: Sequence[str] | None = None, as_module: bool = False
) -> "Model":
    """The model `name` for data like `rows`.

    gated: the modules of a custom model that may be gated and cut; None for all. as_module: build a built-in model
    as a torch module; custom models always are.
    """
    shape = rows.x.shape[1:]
    if as_module or ":" in name:
        from eflops.training import modules

        return modules.custom(name, shape, facts, gated) if ":" in name else modules.built_in(name, shape, facts)
    built: Model = trust.load("model", name)(shape, facts)
    return built
