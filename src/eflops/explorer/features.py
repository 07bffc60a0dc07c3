"""What a kept weight stands for: a gene by name, or a true or a false feature of synthetic data."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from eflops.data import expression
from eflops.data.synthetic import coefficients
from eflops.explorer.pack import steps
from eflops.files import canonical_json
from eflops.training.record import Record

Settings = Mapping[str, Any]
# What tells draws of one data set apart, and leaves its genes as they are.
OF_A_DRAW = {"draw", "ratio"}


def features(records: Mapping[str, Record], data: Mapping[str, Settings]) -> dict[str, Any]:
    """What the features of each data folder are, for the kinds of data whose features mean something.

    data: the settings that each data folder was made with, as its manifest has them.
    truth: by folder the features with a true coefficient, as steps; named: by folder which of `lists` has its genes.
    """
    truth = {name: _truth(settings) for name, settings in data.items() if settings["kind"] == "synthetic"}
    alike = {name: _alike(settings) for name, settings in data.items() if settings["kind"] == "expression"}
    names = list(dict.fromkeys(alike.values()))
    named = {folder: names.index(name) for folder, name in alike.items()}
    lists = []
    for place in range(len(names)):
        folders = {folder for folder, own in named.items() if own == place}
        used = {weight for entry in records.values() if entry.origin.data in folders for weight in entry.result.support}
        lists.append(_gene_list(expression.genes(data[min(folders)]), used))
    return {"truth": truth, "named": named, "lists": lists}


def _truth(settings: Settings) -> list[int]:
    return steps(np.flatnonzero(coefficients(settings["features"], settings["density"], settings["draw"])).tolist())


def _alike(settings: Settings) -> str:
    return canonical_json({key: value for key, value in settings.items() if key not in OF_A_DRAW})


def _gene_list(table: pd.DataFrame, weights: set[int]) -> dict[str, Any]:
    """The genes that any run kept a weight of; weights lie class by class, `count` features for each class."""
    wanted = table.iloc[sorted({weight % len(table) for weight in weights})]
    rows = wanted[["label", "symbol", "gene"]].fillna("").astype(str).to_numpy().tolist()
    return {"count": len(table), "genes": dict(zip(map(int, wanted.index), rows, strict=True))}
