"""A table of rows with a target to predict: numbers (regression) or classes, from a file that the config names.

    datasets:
      mine: {kind: table, file: patients.csv, target: outcome, sites: hospital, density: 0.2}

`kind: expression` is a preset of the same steps with filters of genes and gene names (`eflops.data.expression`):

    read     the file's columns become features; text with few values is one-hot encoded
    check    `faults` are sentences on what prevents training, `notes` on what a user should know
    split    test rows by the seed: a share of each class, or of all rows for a numeric target
    divide   a client per site, or training rows distributed by Dirichlet counts
    scale    features, and a numeric target, by the mean and deviation of the training rows
"""

from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eflops.config.data import DataSettings
from eflops.data.federation import Block, Facts, Federation, Target
from eflops.data.matrix import Matrix
from eflops.data.scaling import moments, scaling_of
from eflops.data.table_checks import faults, refuse, split_faults
from eflops.data.tabular import Spec, classes_of, divided, filtered, labels_of, read, selected, split
from eflops.errors import UserError


def spec_of(settings: DataSettings, **named: object) -> Spec:
    """The specification of an entry of `kind: table`; named: values for keys that another kind names differently."""
    values: dict[str, Any] = {**settings, **named, "scaling": scaling_of(settings)}
    known: dict[str, Any] = {
        name: tuple(values[name]) if isinstance(values[name], list) else values[name]
        for name in (field.name for field in fields(Spec))
        if name in values
    }
    return Spec(**known)


def build(settings: DataSettings, ratio: float | None, seed: int, raw: Path | None = None) -> Federation:
    """One split of a table into test rows and clients; `seed` is the split."""
    return make(spec_of(settings), seed)


def features(settings: DataSettings) -> pd.DataFrame:
    """The features in order, with the columns of a gene table: gene, symbol, name, description and label."""
    names = prepared(spec_of(settings)).features
    return pd.DataFrame({"gene": names, "symbol": "", "name": "", "description": "", "label": names})


def make(spec: Spec, seed: int) -> Federation:
    """The federation of one split."""
    matrix = prepared(spec)
    refuse(split_faults(matrix, spec, [seed]))
    test, train = split(matrix, spec, seed)
    parts = divided(matrix, spec, train, seed)
    scaling = spec.scaling.fitted(matrix.values[train])
    x = scaling.apply(matrix.values)
    y, truth, target = _targets(matrix, spec, train)
    return Federation(
        clients=tuple(Block(x[part], y[part]) for part in parts.values()),
        test=Block(x[test], y[test]),
        truth=truth,
        meta={
            **target,
            "client_names": list(parts),
            "client_samples": [[matrix.rows[row] for row in part] for part in parts.values()],
            "test_samples": [matrix.rows[row] for row in test],
            "centre": None if scaling.centre is None else scaling.centre.ravel().tolist(),
            "spread": None if scaling.spread is None else scaling.spread.ravel().tolist(),
        },
    )


def _targets(matrix: Matrix, spec: Spec, train: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray], Facts]:
    """The targets of all rows, arrays that are stored with the rows, and the manifest's facts on the target.

    Numbers are standardised by the training rows, so learning rates do not depend on their unit. The unit is stored
    with the arrays, because the test error depends on it and must be covered by the arrays' hash.
    """
    if matrix.target is None:
        names = classes_of(matrix, spec)
        return labels_of(matrix, spec), {}, {"task": "classification", "classes": len(names), "class_names": [*names]}
    centre, spread = (float(value.item()) for value in moments(matrix.target[train], axis=None))
    if spread == 0:
        raise UserError(
            f"{matrix.source}: {spec.target!r} has the same value in all training rows; there is nothing to learn."
        )
    y = ((matrix.target - centre) / spread).astype(np.float32)
    unit = Target(name=spec.target, centre=centre, spread=spread)
    return y, {"target_unit": np.array([centre, spread])}, {"task": "regression", "target": unit}


def prepared(spec: Spec) -> Matrix:
    """The checked rows with the features that pass the filter, which do not depend on the split."""
    return _prepared(spec, spec.hashes)


@lru_cache(maxsize=1)
def _prepared(spec: Spec, hashes: tuple[str, ...]) -> Matrix:
    whole = read(spec)
    refuse(faults(whole, spec))
    matrix = selected(whole, spec)
    return matrix.keep(filtered(matrix, spec))
