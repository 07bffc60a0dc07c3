"""All records as columns: who each run is and how it ended, its curve, the weights it kept and what they stand for.

Beside them the trials of searches.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from eflops.analysis.text import Scalar
from eflops.config.data import DataSettings
from eflops.data.build import named_features
from eflops.data.synthetic import coefficients
from eflops.explorer.page import Coded, Item, coded, rounded, steps
from eflops.files import canonical_json
from eflops.results.record import Record

Columns = dict[str, object]
PARTS = ("run", "origin", "result", "circumstances")
# Of these a record holds lists; they have parts of their own, or a column for each entry.
APART = {"metrics", "curve", "support", "weights"}
# What tells draws of one data set apart, and leaves its genes as they are.
OF_A_DRAW = {"draw", "ratio"}
SETTING = "set_"
# A network keeps a thousand weights, which mean nothing one by one and would take as much room as all else of its run.
MOST_WEIGHTS = 200


def run_columns(records: Mapping[str, Record]) -> Columns:
    """One entry per run in every column, a column for whatever a record holds; `fields` says which part each is of."""
    entries = [entry.model_dump(mode="json") for entry in records.values()]
    fields = {part: [name for name in (entries[0][part] if entries else {}) if name not in APART] for part in PARTS}
    columns = {name: _column([entry[part][name] for entry in entries]) for part in PARTS for name in fields[part]}
    return {
        "path": list(records),
        "fields": fields,
        **columns,
        **{name: _column([entry[name] for entry in entries]) for name in Record.model_fields if name not in PARTS},
        "kept": [len(entry["result"]["support"]) for entry in entries],
    }


def final_metrics(records: Mapping[str, Record]) -> dict[str, list[float | None]]:
    """Each run's final metrics with all their digits, so that the page's record is the run's own."""
    results = [entry.result for entry in records.values()]
    names = dict.fromkeys(name for result in results for name in result.metrics)
    return {name: [result.metrics.get(name) for result in results] for name in names}


def _column(values: list[Item]) -> list[Item] | Coded[Item]:
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
    """The places of the weights that each run kept, as steps from one to the next, and their values if they are few."""
    results = [entry.result for entry in records.values()]
    few = [result.weights if len(result.weights) <= MOST_WEIGHTS else [] for result in results]
    return {
        "places": [steps(result.support) for result in results],
        "weights": [[rounded(weight) for weight in weights] for weights in few],
    }


def features(records: Mapping[str, Record], data: Mapping[str, DataSettings]) -> Columns:
    """What the features of each data folder are, for the kinds of data whose features mean something.

    data: the settings that each data folder was made with, as its manifest has them.
    truth: by folder the features with a true coefficient, as steps; named: by folder which of `lists` has its genes.
    """
    truth = {name: _truth(settings) for name, settings in data.items() if settings["kind"] == "synthetic"}
    alike = {name: _alike(settings) for name, settings in data.items() if settings["kind"] in ("expression", "table")}
    names = list(dict.fromkeys(alike.values()))
    named = {folder: names.index(name) for folder, name in alike.items()}
    lists = []
    for index in range(len(names)):
        folders = {folder for folder, name in named.items() if name == index}
        used = {weight for entry in records.values() if entry.origin.data in folders for weight in entry.result.support}
        lists.append(_gene_list(named_features(data[min(folders)]), used))
    return {"truth": truth, "named": named, "lists": lists}


def _truth(settings: DataSettings) -> list[int]:
    return steps(np.flatnonzero(coefficients(settings["features"], settings["density"], settings["draw"])).tolist())


def _alike(settings: DataSettings) -> str:
    return canonical_json({key: value for key, value in settings.items() if key not in OF_A_DRAW})


def _gene_list(table: pd.DataFrame, weights: set[int]) -> Columns:
    """The genes that any run kept a weight of; weights lie class by class, `count` features for each class."""
    wanted = table.iloc[sorted({weight % len(table) for weight in weights})]
    rows = wanted[["label", "symbol", "gene"]].fillna("").astype(str).to_numpy().tolist()
    return {"count": len(table), "genes": dict(zip(map(int, wanted.index), rows, strict=True))}


def searches(folder: Path) -> dict[str, Columns]:
    """By search its trials, one entry per method and trial in every column; no curves."""
    return {path.stem: trial_columns(pd.read_csv(path)) for path in sorted((folder / "search").glob("*.csv"))}


def trial_columns(trials: pd.DataFrame) -> Columns:
    """The columns of a search's trials; settings stand apart from what was found with them."""
    settings = [column for column in trials if column.startswith(SETTING) and trials[column].notna().any()]
    measured = [column for column in trials if not column.startswith(SETTING)]
    return {
        **{column: [_short(value) for value in trials[column]] for column in measured},
        "settings": {column.removeprefix(SETTING): [_short(value) for value in trials[column]] for column in settings},
    }


def _short(value: Scalar | np.generic) -> Scalar:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | bool) else rounded(value)
