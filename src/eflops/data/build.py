"""Build a data set: each kind is one module of this package with a function `build`, imported by name.

A custom data set needs no change here: give its `kind` as "module:function"; the function has the same arguments.
"""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from eflops import trust
from eflops.config.data import DataSettings
from eflops.data.federation import Federation, misshapen, save
from eflops.errors import UserError, explained
from eflops.files import read_npz, write_text
from eflops.results.labels import ratio_value

if TYPE_CHECKING:
    import pandas as pd

    from eflops.config.models import Config

Builder = Callable[..., Federation]


def build(settings: DataSettings, ratio: float | None, seed: int, raw: Path | None = None, **parts: Any) -> Federation:
    """Build the federation that `settings` describe.

    Args:
        settings: the data set's entry in the config.
        ratio: training rows per feature N/d, for kinds that can make any number of rows.
        seed: the data draw, or the split of given rows.
        raw: the folder of downloaded files, for kinds that have one.
        parts: precomputed parts for the kind's builder, such as the `test_features` of synthetic data.
    """
    make_draw, is_custom = builder(settings["kind"]), ":" in settings["kind"]
    with explained(settings["kind"]) if is_custom else nullcontext():
        federation = make_draw(settings, ratio, seed, raw, **parts)
    if is_custom:
        _check_custom(federation, settings["kind"])
    _refuse_infinite(federation, settings)
    return federation


def make(settings: DataSettings, folder: Path, test_features: Path | None = None) -> None:
    """Build and save the draw that the folder's name states, such as nd0.64-draw3.

    test_features: the file of the test features that all N/d of the draw share, for synthetic data.
    """
    raw = Path("resources") / settings["source"] if "source" in settings else None
    ratio, _, draw = folder.name.partition("-draw")
    parts = {"test_features": read_npz(test_features)} if test_features else {}
    federation = build(settings, ratio_value(ratio), int(draw), raw, **parts)
    save(federation, folder, {**settings, "ratio": ratio, "draw": int(draw)}, test_features)


def _check_custom(federation: object, kind: str) -> None:
    """Reject the result of a custom builder if compiled code or the metrics would misread it."""
    if not isinstance(federation, Federation):
        raise UserError(f"{kind}: it returns {type(federation).__name__}; it should return a Federation.")
    if wrong := misshapen(federation):
        raise UserError(f"{kind}: {wrong}.")
    task = "classification" if federation.test.y.dtype == np.int64 else "regression"
    if federation.meta.get("task", task) != task:
        raise UserError(f"{kind}: meta['task'] is {federation.meta['task']!r}; by the type of y it is {task!r}.")


def _refuse_infinite(federation: Federation, settings: DataSettings) -> None:
    """Reject values beyond float32: they become infinite, and no method can train on them."""
    blocks = {**{f"client {i}": each for i, each in enumerate(federation.clients)}, "the test rows": federation.test}
    for name, block in blocks.items():
        if not (np.isfinite(block.x).all() and np.isfinite(block.y).all()):
            raise UserError(
                f"the {settings['kind']} data have values that are not finite in {name}; lower the scales of the data"
                " set's entry, such as shift_scale, or fix its file."
            )


def builder(kind: str) -> Builder:
    """The function that builds data of this kind: `eflops.data.<kind>.build` or one at "module:function"."""
    return cast(Builder, trust.load("data set", kind))


def problems(config: "Config") -> tuple[list[str], list[str]]:
    """Faults and notes on the files that entries name and the splits that experiments use, one sentence each."""
    from eflops.config.models import Table, data_settings, entry_of
    from eflops.data import expression, synthetic, table, table_checks

    specs = {"expression": expression.spec_of, "table": table.spec_of}
    faults, notes = [], []
    entries = {name: entry_of(config, name) for name in (*config.experiments, *config.searches)}
    for name, used_by in entries.items():
        entry = config.datasets[used_by.dataset]
        if entry.kind == "synthetic":
            faults += [f"{name}: {fault}" for fault in synthetic.faults(used_by.ratios, data_settings(entry))]
    for name, entry in config.datasets.items():
        if entry.kind in specs:
            draws = sorted({draw for each in entries.values() if each.dataset == name for draw in each.draws})
            report = table_checks.report(specs[entry.kind](data_settings(entry)), draws)
            faults += [f"datasets.{name}: {sentence}" for sentence in report.faults]
            notes += [f"datasets.{name}: {sentence}" for sentence in report.notes]
            key = "keep" if isinstance(entry, Table) else "genes_per_class"
            kept = getattr(entry, key) or 0
            if kept > report.weights > 0 and ":" not in entry.model:
                faults.append(f"datasets.{name}.{key}: {kept} is more than the {report.weights} features; give fewer.")
    return faults, notes


def named_features(settings: DataSettings) -> "pd.DataFrame":
    """The features of data from a file, in order: gene, symbol, name, description and label."""
    from eflops.data import expression, table

    return expression.features(settings) if settings["kind"] == "expression" else table.features(settings)


def write_features(settings: DataSettings, path: Path) -> None:
    """Write the names of the features as CSV."""
    write_text(path, named_features(settings).to_csv(index=False))
