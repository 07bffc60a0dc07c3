"""Tables of the CNN on MNIST: accuracy, communication and operations; paired tests; layer by layer; when to cut."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from eflops.analysis.cells import Row, bold, interval, number, rows_by
from eflops.analysis.products.general import compared, comparison_table
from eflops.analysis.source import Source
from eflops.analysis.stats.costs import with_costs
from eflops.analysis.stats.summary import best, summarise_units, too_few, units_in_words
from eflops.analysis.table import Table
from eflops.analysis.text import MISSING
from eflops.training.models.network import cnn_stages, count_operations

METRICS = [
    *("accuracy", "cross_entropy", "kept", "open_gates", "bytes_training", "bytes_finetuning"),
    *("share_training", "share_formula", "share_round", "macs", "macs_removed"),
]
BYTES = {"share_round": "a round after the cut", "share_training": "all of training", "share_formula": "by the formula"}
TESTED = {"accuracy": "accuracy", "macs_removed": "share of operations removed"}
CUT_METRICS = ["accuracy", "share_training", "bytes_total", "macs_removed"]
STAGES = cnn_stages((1, 28, 28), 10)
LAYER_METRICS = ["kept", "operations", "dead_units"]


def costs(source: Source) -> Table:
    """One row per method; the best accuracy and the most operations removed by a federated method are bold."""
    runs = with_costs(source.runs(source.experiment))
    cells = summarise_units(runs, METRICS, ["method"])
    cells = cells[(cells["metric"] != "open_gates") | cells["mean"].notna()].reset_index(drop=True)
    methods = source.order(runs["method"])
    federated = source.federated(methods)
    by_metric = {
        metric: cells[cells["metric"] == metric].set_index("method") for metric in ("accuracy", "macs_removed")
    }
    first = {metric: best(part.loc[federated]) for metric, part in by_metric.items()}
    of, rows = rows_by(cells, "metric", "method"), []
    for method in methods:
        row: Row = {"Method": source.labels[method]}
        row["accuracy"] = bold(interval(of["accuracy", method]), method in first["accuracy"])
        row["cross-entropy"] = interval(of["cross_entropy", method])
        row["weights kept"] = number(of["kept", method], "mean", "{:.0f}")
        gates = of.get(("open_gates", method))
        row["open gates"] = MISSING if gates is None else number(gates, "mean", "{:.0f}")
        for metric, words in BYTES.items():
            row[f"bytes, {words}"] = number(of[metric, method], "mean", "{:.1%}") if method in federated else MISSING
        sent = sum(of[metric, method]["mean"] for metric in ("bytes_training", "bytes_finetuning")) / 1e6
        row["megabytes sent"] = f"{sent:.1f}" if method in federated else MISSING
        row["operations"] = number(of["macs", method], "mean", "{:.0f}")
        row["removed"] = bold(interval(of["macs_removed", method]), method in first["macs_removed"])
        rows.append(row)
    note = (
        f"Mean and 95 % interval over {units_in_words(runs)}. Open gates: the expected number after training. Bytes "
        "are those of the messages as serialised, both ways, as a share of as many dense messages; the paper's "
        "formula has no indices. Megabytes are of training and finetuning. Operations are the multiply-"
        "accumulates of kept weights in one prediction, without dead units; removed: the share of the dense network's "
        "operations that is left out. The best federated method is bold."
        f"{too_few(cells['units'])}"
    )
    return Table(cells, rows, note, runs)


def tests(source: Source) -> Table:
    """One row per metric and other method; each metric is a separate family."""
    runs = with_costs(source.runs(source.experiment))
    runs["macs_removed"] = runs["macs_removed"].where(runs["status"] == "finished")
    frames = [compared(source, runs, metric, f"the comparisons of {words}") for metric, words in TESTED.items()]
    pairs = f"Pairs: {units_in_words(runs)}. For both, higher is better."
    return comparison_table(pd.concat(frames, ignore_index=True), {"metric": "metric"}, source, runs, pairs, TESTED)


def cut(source: Source, cases: Mapping[str, str]) -> Table:
    """One row per time of the cut (`cases`: variant to label); per method the accuracy and the share of dense bytes."""
    runs = with_costs(source.runs(source.experiment))
    cells = summarise_units(runs, CUT_METRICS, ["variant", "method"])
    of = rows_by(cells, "metric", "variant", "method")
    variants = list(runs["variant"].unique())
    rows = []
    for variant in [*(name for name in cases if name in variants), *(name for name in variants if name not in cases)]:
        row: Row = {"Cut": cases.get(variant, variant)}
        for method in source.order(runs["method"]):
            sent = number(of["share_training", variant, method], "mean", "{:.1%}")
            row[source.labels[method]] = interval(of["accuracy", variant, method]) + ", " + sent
        rows.append(row)
    mean = "mean and 95 % interval" if cells["lower"].notna().any() else "mean"
    note = (
        f"Test accuracy, {mean} over {units_in_words(runs)}, and the bytes of training as a share of "
        f"dense messages.{too_few(cells['units'])}"
    )
    return Table(cells, rows, note, runs)


def layers(source: Source) -> Table:
    """Kept weights, operations and dead units, layer by layer, counted from the weights that each run kept.

    One row per layer; for each method the means over its runs.
    """
    runs = by_layer(source.supports(source.experiment))
    cells = summarise_units(runs, LAYER_METRICS, ["method", "layer"])
    of = rows_by(cells, "metric", "method", "layer")
    totals = cells.groupby(["metric", "method"])["mean"].sum()
    full, _ = count_operations(STAGES, np.ones(STAGES[-1].stop, bool))
    units = sum(stage.units for stage in STAGES)
    rows: list[Row] = [
        {"layer": stage.name, "dense": f"{stage.stop - stage.start} / {full[stage.name]} / {stage.units} units"}
        for stage in STAGES
    ]
    rows.append({"layer": "all", "dense": f"{STAGES[-1].stop} / {sum(full.values())} / {units} units"})
    for method in source.order(runs["method"]):
        for row, stage in zip(rows, STAGES, strict=False):
            kept, *others = (number(of[name, method, stage.name], "mean", "{:.0f}") for name in LAYER_METRICS)
            row[source.labels[method]] = sum((" / " + other for other in others), kept)
        rows[-1][source.labels[method]] = " / ".join(f"{totals[name, method]:.0f}" for name in LAYER_METRICS)
    note = (
        f"Means over {units_in_words(runs)}: kept parameters (biases among them) / operations of one prediction / dead "
        "units. A dead unit has no kept incoming or no kept outgoing weight; it is removed together with its weights."
    )
    return Table(cells, rows, note, runs)


def by_layer(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per run and layer."""
    rows = []
    for run in runs.to_dict("records"):
        kept = np.zeros(STAGES[-1].stop, bool)
        kept[[int(index) for index in run.pop("support").split()]] = True
        operations, dead = count_operations(STAGES, kept)
        for stage in STAGES:
            layer = {
                "layer": stage.name,
                "kept": int(kept[stage.start : stage.stop].sum()),
                "operations": operations[stage.name],
                "dead_units": dead.get(stage.name, 0),
            }
            rows.append({**run, **layer})
    return pd.DataFrame(rows)
