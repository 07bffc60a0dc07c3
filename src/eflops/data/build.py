"""Making a data set: each kind is one module beside this one with a function `build`, found by its name.

A data set of your own needs no change here: give its `kind` as "module:function" with the same arguments.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from eflops import trust
from eflops.data.federation import Federation, save
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


def make(settings: str, *manifests: str) -> None:
    """Make draws of the data set that `settings`, as JSON, describe: each in its manifest's folder, which names it."""
    told = json.loads(settings)
    raw = Path("resources") / told["source"] if told.get("source") else None
    for folder in (Path(manifest).parent for manifest in manifests):
        ratio, _, draw = folder.name.partition("-draw")
        save(build(told, ratio_value(ratio), int(draw), raw), folder, {**told, "ratio": ratio, "draw": int(draw)})


def builder(kind: str) -> Builder:
    """The function that builds data of this kind: `eflops.data.<kind>.build` or one at "module:function"."""
    return cast(Builder, trust.load("data set", kind))


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
