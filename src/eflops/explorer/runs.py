"""All records as columns, in three parts: who each run is and how it ended, its curve, and the weights it kept."""

from collections.abc import Mapping
from typing import Any

from eflops.explorer.pack import coded, rounded, steps
from eflops.training.record import Record

Columns = dict[str, Any]
PARTS = ("run", "origin", "result", "circumstances")
# Of these a record holds lists; they have parts of their own, or a column for each entry.
APART = {"metrics", "curve", "support", "weights"}


def run_columns(records: Mapping[str, Record]) -> Columns:
    """One entry per run in every column, a column for whatever a record holds; `fields` says which part each is of.

    Final metrics have all their digits, so that the page's record is the run's own.
    """
    entries = [entry.model_dump(mode="json") for entry in records.values()]
    fields = {part: [name for name in (entries[0][part] if entries else {}) if name not in APART] for part in PARTS}
    columns = {name: _column([entry[part][name] for entry in entries]) for part in PARTS for name in fields[part]}
    metrics = dict.fromkeys(name for entry in entries for name in entry["result"]["metrics"])
    return {
        "path": list(records),
        "fields": fields,
        **columns,
        **{name: _column([entry[name] for entry in entries]) for name in Record.model_fields if name not in PARTS},
        "kept": [len(entry["result"]["support"]) for entry in entries],
        "metrics": {name: [entry["result"]["metrics"].get(name) for entry in entries] for name in metrics},
    }


def _column(values: list[Any]) -> Any:
    """A column whose values repeat as its distinct ones; one whose values are all their own as it is."""
    short = coded(values)
    return short if len(short["of"]) <= len(values) / 2 or not values else values


def curve_columns(records: Mapping[str, Record]) -> Columns:
    """Each run's curve: where it was evaluated, which runs share, and what each metric was there."""
    curves = [entry.result.curve for entry in records.values()]
    return {
        "where": coded({"phase": curve.phase, "round": curve.round} for curve in curves),
        "metrics": [
            {name: [rounded(value) for value in values] for name, values in curve.metrics.items()} for curve in curves
        ],
    }


def support_columns(records: Mapping[str, Record]) -> Columns:
    """The places of the weights that each run kept, as steps from one to the next, and their values."""
    results = [entry.result for entry in records.values()]
    return {
        "places": [steps(result.support) for result in results],
        "weights": [[rounded(weight) for weight in result.weights] for result in results],
    }
