"""Making a data set: each kind is one module beside this one with a function `build`, found by its name.

A data set of your own needs no change here: give its `kind` as "module:function" with the same arguments.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from eflops import trust
from eflops.data.federation import Federation, save
from eflops.files import write_text
from eflops.results.labels import ratio_value

if TYPE_CHECKING:
    import pandas as pd

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
    return cast(Builder, trust.load("data set", kind))


def problems(config: "Config") -> tuple[list[str], list[str]]:
    """Faults and notes on the files that entries name, in the splits that experiments use, a sentence each."""
    from eflops.config.models import entry_of
    from eflops.data import expression, table

    readers = {"expression": expression.problems, "table": table.problems}
    faults, notes = [], []
    for name, entry in config.datasets.items():
        if entry.kind in readers:
            entries = (*config.experiments, *config.searches)
            used = [entry_of(config, each) for each in entries]
            draws = sorted({draw for each in used if each.dataset == name for draw in each.draws})
            report = readers[entry.kind](entry.model_dump(), draws)
            faults += [f"datasets.{name}: {sentence}" for sentence in report.faults]
            notes += [f"datasets.{name}: {sentence}" for sentence in report.notes]
    return faults, notes


def named_features(settings: Mapping[str, Any]) -> "pd.DataFrame":
    """The features of data that are read from a file, in their order: gene, symbol, name, description and label."""
    from eflops.data import expression, table

    return expression.features(settings) if settings["kind"] == "expression" else table.features(settings)


def write_features(settings: Mapping[str, Any], path: Path) -> None:
    """Write the names of the features as CSV."""
    write_text(path, named_features(settings).to_csv(index=False))
