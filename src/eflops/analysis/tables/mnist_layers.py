"""Kept weights, operations and dead units of the CNN, layer by layer, counted from the weights that each run kept."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from eflops.analysis.source import IDENTITY, Source
from eflops.analysis.summary import summarise_all
from eflops.analysis.table import Table
from eflops.models.network import Stage, cnn_stages
from eflops.models.operations import count

STAGES = cnn_stages((1, 28, 28), 10)
METRICS = {"kept": "kept", "operations": "operations", "dead_units": "dead units"}


def make(source: Source) -> Table:
    """A row a layer; for each method the means over its runs."""
    layers = by_layer(source)
    cells = summarise_all(layers, list(METRICS), ["method", "layer"])
    means = cells.set_index(["metric", "method", "layer"])["mean"]
    methods = source.order(layers["method"])
    shown = [_row(stage, means, methods, source) for stage in STAGES]
    return Table(
        cells,
        pd.DataFrame([*shown, _total(cells, methods, source)]),
        "The CNN layer by layer",
        f"Means over {cells['n'].max()} run seeds of one data draw: kept parameters (biases among them) / operations "
        "of one prediction / dead units. A dead unit has no kept weight in or out; it is removed with all it feeds.",
    )


def by_layer(source: Source) -> pd.DataFrame:
    """One row a run and layer."""
    supports = pd.read_csv(source.results / "gathered" / "mnist.supports.csv", keep_default_na=False, dtype=str)
    runs = source.runs("mnist")[[*IDENTITY, "status", "record"]].merge(supports, on="record", validate="1:1")
    rows = []
    for run in runs.to_dict("records"):
        kept = np.zeros(STAGES[-1].stop, bool)
        kept[[int(index) for index in run.pop("support").split()]] = True
        operations, dead = count(STAGES, kept)
        for stage in STAGES:
            layer = {
                "layer": stage.name,
                "kept": int(kept[stage.start : stage.stop].sum()),
                "operations": operations[stage.name],
                "dead_units": dead.get(stage.name, 0),
            }
            rows.append({**run, **layer})
    return pd.DataFrame(rows)


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs behind a cell."""
    layers = by_layer(source)
    chosen = layers[(layers["method"] == keys["method"]) & (layers["layer"] == keys["layer"])]
    return chosen.assign(value=chosen[keys["metric"]])


def _row(stage: Stage, means: pd.Series, methods: list[str], source: Source) -> dict[str, str]:
    full, _ = count(STAGES, np.ones(STAGES[-1].stop, bool))
    row = {"layer": stage.name, "dense": f"{stage.stop - stage.start} / {full[stage.name]} / {stage.units} units"}
    for method in methods:
        row[source.labels[method]] = " / ".join(f"{means[metric, method, stage.name]:.0f}" for metric in METRICS)
    return row


def _total(cells: pd.DataFrame, methods: list[str], source: Source) -> dict[str, str]:
    full, _ = count(STAGES, np.ones(STAGES[-1].stop, bool))
    row = {"layer": "all", "dense": f"{STAGES[-1].stop} / {sum(full.values())} / {sum(s.units for s in STAGES)} units"}
    totals = cells.groupby(["metric", "method"])["mean"].sum()
    for method in methods:
        row[source.labels[method]] = " / ".join(f"{totals[metric, method]:.0f}" for metric in METRICS)
    return row
