"""All records as columns: each run's identity and status, its curve, and the kept weights with their meaning.

Also the trials of searches.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from eflops.analysis.stats.trials import SETTING
from eflops.analysis.text import Scalar
from eflops.config.data import DataSettings
from eflops.data.build import named_features
from eflops.data.synthetic import coefficients
from eflops.errors import UserError
from eflops.explorer.page import Coded, Item, coded, rounded, steps
from eflops.files import canonical_json
from eflops.results.paths import GENES
from eflops.results.record import Record

Columns = dict[str, object]
PARTS = ("run", "origin", "result", "circumstances")
# Of these a record holds lists; they have parts of their own, or a column for each entry.
APART = {"metrics", "curve", "support", "weights"}
# What tells draws of one data set apart, and leaves its genes as they are.
OF_A_DRAW = {"draw", "ratio"}
# A network keeps a thousand weights, which mean nothing one by one and would take as much room as all else of its run.
MOST_WEIGHTS = 200


def run_columns(records: Mapping[str, Record]) -> Columns:
    """One entry per run in every column, one column per field of a record; `fields` maps each column to its part."""
    entries = [entry.model_dump(mode="json") for entry in records.values()]
    if any(entry.result.ungated for entry in records.values()):
        for record, entry in zip(records.values(), entries, strict=True):  # a record omits the field if it is empty
            entry["result"]["ungated"] = _few(record.result.ungated)
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
    """Each run's final metrics with all digits, so the page shows the record exactly."""
    results = [entry.result for entry in records.values()]
    names = dict.fromkeys(name for result in results for name in result.metrics)
    return {name: [result.metrics.get(name) for result in results] for name in names}


def _column(values: list[Item]) -> list[Item] | Coded[Item]:
    """A column with repeated values in coded form; one with distinct values unchanged."""
    short = coded(values)
    return short if len(short["of"]) <= len(values) / 2 or not values else values


def curve_columns(records: Mapping[str, Record]) -> Columns:
    """Each run's curve: its evaluated rounds, which runs share, and each metric at them."""
    curves = [entry.result.curve for entry in records.values()]
    return {
        "where": coded({"phase": curve.phase, "round": curve.round} for curve in curves),
        "metrics": [
            {name: [rounded(value) for value in values] for name, values in curve.metrics.items()} for curve in curves
        ],
    }


def support_columns(records: Mapping[str, Record]) -> Columns:
    """The indices of the weights that each run kept, as steps between them, and their values if there are few."""
    results = [entry.result for entry in records.values()]
    return {
        "places": [steps(result.support) for result in results],
        "weights": [_few(result.weights) for result in results],
    }


def _few(weights: list[float]) -> list[float | None]:
    """The weights with few digits; none if they are too many."""
    return [rounded(weight) for weight in weights] if len(weights) <= MOST_WEIGHTS else []


def features(records: Mapping[str, Record], data: Mapping[str, DataSettings], results: Path) -> Columns:
    """The features of each data folder, for kinds of data with meaningful features.

    Only weights of built-in linear models belong to features. data: the settings of each data folder, from its
    manifest. truth: by folder, the features with a true coefficient, as steps; named: by folder, which of `lists` has
    its genes.
    """
    linear = [entry for entry in records.values() if ":" not in entry.origin.job.model]
    truth = {name: _truth(settings) for name, settings in data.items() if settings["kind"] == "synthetic"}
    alike = {name: _alike(settings) for name, settings in data.items() if settings["kind"] in ("expression", "table")}
    names = list(dict.fromkeys(alike.values()))
    named = {folder: names.index(name) for folder, name in alike.items()}
    lists = []
    for index in range(len(names)):
        folders = {folder for folder, name in named.items() if name == index}
        there = [entry for entry in linear if entry.origin.data in folders]
        used = {weight for entry in there for weight in entry.result.support}
        numeric = any("r2" in entry.result.metrics for entry in there)
        lists.append({**_gene_list(_named(data[min(folders)], min(folders), results), used), "numeric": numeric})
    return {"truth": truth, "named": named, "lists": lists}


def _truth(settings: DataSettings) -> list[int]:
    return steps(np.flatnonzero(coefficients(settings["features"], settings["density"], settings["draw"])).tolist())


def _alike(settings: DataSettings) -> str:
    return canonical_json({key: value for key, value in settings.items() if key not in OF_A_DRAW})


def _named(settings: DataSettings, folder: str, results: Path) -> pd.DataFrame:
    """The names of the features: from the table of the data, or as stored where that table is not."""
    try:
        return named_features(settings)
    except UserError:
        stored = results / GENES.format(dataset=folder.partition("/")[0])
        if not stored.exists():
            raise
        return pd.read_csv(stored, dtype=str, keep_default_na=False)


def _gene_list(table: pd.DataFrame, weights: set[int]) -> Columns:
    """The genes of which any run kept a weight; weights are ordered by class, with `count` features per class."""
    wanted = table.iloc[sorted({weight % len(table) for weight in weights})]
    rows = wanted[["label", "symbol", "gene"]].fillna("").astype(str).to_numpy().tolist()
    return {"count": len(table), "genes": dict(zip(map(int, wanted.index), rows, strict=True))}


def searches(folder: Path) -> dict[str, Columns]:
    """The trials of each search, one entry per method and trial in every column; no curves."""
    return {path.stem: trial_columns(pd.read_csv(path)) for path in sorted((folder / "search").glob("*.csv"))}


def trial_columns(trials: pd.DataFrame) -> Columns:
    """The columns of a search's trials, with settings separate from results."""
    settings = [column for column in trials if column.startswith(SETTING) and trials[column].notna().any()]
    measured = [column for column in trials if not column.startswith(SETTING)]
    return {
        **{column: [_short(value) for value in trials[column]] for column in measured},
        "settings": {column.removeprefix(SETTING): [_short(value) for value in trials[column]] for column in settings},
    }


def _short(value: Scalar | np.generic) -> Scalar:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | bool) else rounded(value)
