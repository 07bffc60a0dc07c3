"""Making a data set: each kind is one module beside this one with a function `build`, found by its name.

A data set of your own needs no change here: give its `kind` as "module:function" with the same arguments.
"""

import importlib
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from eflops.data.federation import Federation, save
from eflops.errors import UserError
from eflops.results.labels import ratio_value

if TYPE_CHECKING:
    from eflops.config.models import Config

Builder = Callable[[Mapping[str, Any], float | None, int, Path | None], Federation]


def build(settings: Mapping[str, Any], ratio: float | None, seed: int, raw: Path | None = None) -> Federation:
    """Make the federation that `settings` describe.

    ratio: training rows per feature N/d, for kinds that can make any number of rows.
    seed: the data draw, or the split where the rows are given.
    raw: the folder of downloaded files, for kinds that have one.
    """
    return builder(settings["kind"])(settings, ratio, seed, raw)


def make(settings: Mapping[str, Any], folder: Path) -> None:
    """Make the draw that the folder's name says, such as nd0.64-draw3, of the data set that `settings` describe."""
    raw = Path("resources") / settings["source"] if settings.get("source") else None
    ratio, _, draw = folder.name.partition("-draw")
    federation = build(settings, ratio_value(ratio), int(draw), raw)
    save(federation, folder, {**settings, "ratio": ratio, "draw": int(draw)})


def builder(kind: str) -> Builder:
    """The function that builds data of this kind: `eflops.data.<kind>.build` or one at "module:function"."""
    module_name, _, function_name = kind.partition(":")
    if not function_name:
        module_name, function_name = f"eflops.data.{kind}", "build"
        if not kind.isidentifier() or find_spec(module_name) is None:
            raise UserError(f"there is no data set {kind!r}: make src/eflops/data/{kind}.py or write module:function")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UserError(f"the data set {kind!r} needs the missing module {error.name!r}") from None
    if not hasattr(module, function_name):
        raise UserError(f"the data set {kind!r} is missing: {module_name} has no function {function_name!r}")
    return cast(Builder, getattr(module, function_name))


def problems(config: "Config") -> list[str]:
    """What does not fit in the files that entries name, in the splits that experiments use, a sentence each."""
    from eflops.data import expression

    found = []
    for name, entry in config.datasets.items():
        if entry.kind == "expression":
            used = [experiment.draws for experiment in config.experiments.values() if experiment.dataset == name]
            sentences = expression.problems(entry.model_dump(), sorted({draw for draws in used for draw in draws}))
            found += [f"datasets.{name}: {sentence}" for sentence in sentences]
    return found
