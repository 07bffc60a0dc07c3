"""The final sparse model of a run as one CSV, and its application to new rows.

The CSV holds everything that a prediction needs. Lines that begin with # state the scaling, the target and the run;
then follows one row per feature: its name, its weights, and centre and spread if the scaling has them. Features with
weight 0 are listed last: if rows are scaled separately, their mean and deviation are over all features.
"""

import json
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eflops.data.build import named_features
from eflops.data.matrix import Matrix, Rows, read_matrix
from eflops.data.scaling import Scaling, scaling_of
from eflops.data.table_checks import refuse, value_faults
from eflops.data.tabular import read_features
from eflops.errors import UserError
from eflops.files import write_text
from eflops.provenance.data import stored_manifest
from eflops.results import paths
from eflops.results.labels import BASE, WHOLE, Run
from eflops.results.store import RUNS, Store

WEIGHT = "weight: "
MARK = "# "
# The kinds of data whose features have names, and what a feature is called in the CSV.
KINDS = {"expression": "gene", "table": "feature"}


@dataclass(frozen=True)
class LinearModel:
    """A linear model of named features.

    kind: the kind of data; features: one row per feature, in order, with gene (its name) and label; outputs: the
    names of the classes, or only that of the numeric target; weights: [outputs, features]; intercepts: [outputs];
    unit: mean and deviation of a numeric target in training, None for classes; id: the column that names rows of a
    table.
    """

    kind: str
    features: pd.DataFrame
    outputs: tuple[str, ...]
    weights: np.ndarray
    intercepts: np.ndarray
    scaling: Scaling
    origin: str
    unit: tuple[float, float] | None = None
    id: str | None = None

    def predict(self, file: str, rows: Rows = "samples") -> pd.DataFrame:
        """One row per row of the file: its name, and the predicted number, or the most likely class and all
        probabilities.

        rows: for expression data, what a row of the matrix is.
        """
        table = self._read(file, rows)
        refuse(value_faults(table))
        outputs = self.scaling.apply(table.values).astype(np.float64) @ self.weights.T + self.intercepts
        names = {"sample" if self.kind == "expression" else self.id or "row": table.rows}
        if self.unit is not None:
            centre, spread = self.unit
            return pd.DataFrame({**names, self.outputs[0]: outputs[:, 0] * spread + centre})
        shares = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        likeliest = [self.outputs[index] for index in shares.argmax(axis=1)]
        columns = {f"probability of {name}": share.round(6) for name, share in zip(self.outputs, shares.T, strict=True)}
        return pd.DataFrame({**names, "class": likeliest, **columns})

    def _read(self, file: str, rows: Rows) -> Matrix:
        names = self.features["gene"].tolist()
        if self.kind == "expression":
            return read_matrix(file, rows, genes=names)
        return read_features(file, names, self.id)

    def write(self, path: Path) -> None:
        """Write the CSV, the features with the largest weights first."""
        facts: dict[str, Any] = {"run": self.origin, "kind": self.kind, "scaling": self.scaling.way}
        facts |= {"log": self.scaling.log, "floor": self.scaling.floor, "ceiling": self.scaling.ceiling}
        facts |= {"intercepts": self.intercepts.tolist(), "unit": self.unit, "id": self.id}
        table = self.features[["gene", "label"]].copy()
        for name, weights in zip(self.outputs, self.weights, strict=True):
            # The shortest decimals that give the same float32 again.
            table[f"{WEIGHT}{name}"] = [float(str(weight)) for weight in weights.astype(np.float32)]
        for name, moment in (("centre", self.scaling.centre), ("spread", self.scaling.spread)):
            if moment is not None:
                table[name] = np.broadcast_to(moment.ravel(), len(table))
        order = np.argsort(-np.abs(self.weights).max(axis=0), kind="stable")
        head = "".join(f"{MARK}{key}: {json.dumps(value)}\n" for key, value in facts.items())
        table = table.iloc[order].rename(columns={"gene": KINDS[self.kind]})
        write_text(path, head + table.to_csv(index=False))


def read_model(path: Path) -> LinearModel:
    """The model of a CSV that `write` made."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        head = takewhile(lambda line: line.startswith(MARK), lines)  # further down, a feature may have such a name
        texts = dict(line.removeprefix(MARK).split(": ", 1) for line in head)
        facts: dict[str, Any] = {key: json.loads(value) for key, value in texts.items()}
        kind = facts.get("kind", "expression")
        types = {KINDS[kind]: str, "label": str}
        table = pd.read_csv(path, skiprows=len(facts), dtype=types, keep_default_na=False)
        columns = [name for name in table if name.startswith(WEIGHT)]
        moments = {name: table[name].to_numpy()[None] for name in ("centre", "spread") if name in table}
        return LinearModel(
            kind=kind,
            features=table.rename(columns={KINDS[kind]: "gene"})[["gene", "label"]],
            outputs=tuple(name.removeprefix(WEIGHT) for name in columns),
            weights=table[columns].to_numpy(np.float64).T,
            intercepts=np.array(facts.get("intercepts", [0.0] * len(columns)), dtype=np.float64),
            scaling=Scaling(facts["scaling"], facts["log"], facts["floor"], facts["ceiling"], **moments),
            origin=facts["run"],
            unit=None if facts.get("unit") is None else (float(facts["unit"][0]), float(facts["unit"][1])),
            id=facts.get("id"),
        )
    except FileNotFoundError:
        raise UserError(f"{path} is missing; make it with: eflops model EXPERIMENT --out {path}") from None
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UserError(f"{path} is not a model file of `eflops model` ({error}).") from None


def write_model(store: Store, experiment: str, method: str, draw: int, seed: int, out: Path) -> None:
    """Write the final model of one run: the CNN as a torch program, a linear model of named features as CSV."""
    run = store.record(path_of_run(store, experiment, method, draw, seed))
    if run.origin.job.model != "cnn":
        return linear_model_of(store, experiment, method, draw, seed).write(out)
    from eflops.provenance.network import export, network_of

    export(*network_of(run, stored_manifest(store, run.origin.data)), out)


def linear_model_of(store: Store, experiment: str, method: str, draw: int, seed: int) -> LinearModel:
    """The final model of one run of an experiment on data with named features."""
    path = path_of_run(store, experiment, method, draw, seed)
    run = store.record(path)
    manifest = stored_manifest(store, run.origin.data)
    settings, meta = manifest["settings"], manifest["meta"]
    if settings["kind"] not in KINDS or ":" in run.origin.job.model:
        what = f"data of kind {settings['kind']} with the model {run.origin.job.model}"
        raise UserError(f"{experiment} is on {what}; this command exports linear models of table and expression data.")
    if not run.result.weights:
        raise UserError(f"{RUNS}/{path}: this run {run.result.status} and has no weights; name another seed or draw.")
    file = store.folder / paths.GENES.format(dataset=run.run.dataset)
    names = pd.read_csv(file, dtype=str, keep_default_na=False) if file.exists() else named_features(settings)
    target = meta.get("target")
    outputs = (target["name"],) if target else tuple(meta["class_names"])
    weights = np.zeros((len(outputs), len(names)))
    weights.ravel()[run.result.support] = run.result.weights
    base = scaling_of(settings)
    moments = {name: None if meta[name] is None else np.array(meta[name])[None] for name in ("centre", "spread")}
    return LinearModel(
        kind=settings["kind"],
        features=names,
        outputs=outputs,
        weights=weights,
        intercepts=np.array(run.result.ungated or [0.0] * len(outputs)),
        scaling=Scaling(base.way, base.log, base.floor, base.ceiling, **moments),
        origin=f"{RUNS}/{path}",
        unit=(target["centre"], target["spread"]) if target else None,
        id=settings.get("id"),
    )


def path_of_run(store: Store, experiment: str, method: str, draw: int, seed: int) -> str:
    """The path of a run below the runs; the error for a missing one lists the existing ones."""
    below = paths.CELL_RUNS.format(experiment=experiment, ratio=WHOLE, method=method).removeprefix(f"{RUNS}/")
    path = f"{below}/{Run(BASE, draw, seed).path}"
    there = [each for each in store.record_paths() if each.startswith(f"{experiment}/")]
    if not there:
        known = sorted({each.partition("/")[0] for each in store.record_paths()})
        raise UserError(f"{store.folder} has no runs of {experiment!r}; it has {', '.join(known) or 'none'}.")
    if path not in there:
        near = [each.removeprefix(f"{experiment}/{WHOLE}/") for each in there if f"/{BASE}/" in each]
        shown = ", ".join(near[:4]) + (f" and {len(near) - 4} more" if len(near) > 4 else "")
        raise UserError(f"{store.folder}/{RUNS} has no {path}; of this experiment it has {shown}.")
    return path
