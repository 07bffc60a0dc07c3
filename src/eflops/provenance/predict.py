"""The final sparse model of a run as one CSV, and its application to a new matrix.

The CSV holds all that a prediction needs. Lines that begin with # say how values are scaled and which run it was; then
one row per gene: its name, a weight for each class, and centre and spread where the scaling has them. Genes of weight 0
are listed too, below the others: array by array, an array's mean and deviation are taken over all of them.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eflops.data.matrix import Rows, read_matrix, value_faults
from eflops.data.scaling import Scaling, scaling_of
from eflops.errors import UserError
from eflops.files import write_text
from eflops.provenance.data import stored_manifest
from eflops.results import paths
from eflops.results.labels import BASE, WHOLE, Run
from eflops.results.store import RUNS, Store

WEIGHT = "weight: "
MARK = "# "


@dataclass(frozen=True)
class Model:
    """weights: [classes, genes]; genes: one row per gene in the order of the features, with gene and label."""

    genes: pd.DataFrame
    classes: tuple[str, ...]
    weights: np.ndarray
    scaling: Scaling
    origin: str

    def predict(self, matrix: str, rows: Rows) -> pd.DataFrame:
        """One row per sample: its name, the likeliest class and the probability of each class."""
        table = read_matrix(matrix, rows, genes=self.genes["gene"].tolist())
        wrong = list(value_faults(table))
        if wrong:
            raise UserError("\n".join(wrong))
        logits = self.scaling.apply(table.values).astype(np.float64) @ self.weights.T
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        likeliest = [self.classes[place] for place in shares.argmax(axis=1)]
        columns = {f"probability of {name}": share.round(6) for name, share in zip(self.classes, shares.T, strict=True)}
        return pd.DataFrame({"sample": table.rows, "class": likeliest, **columns})

    def write(self, path: Path) -> None:
        """Write the CSV, the genes with the largest weights first."""
        said = {"run": self.origin, "scaling": self.scaling.way, "log": self.scaling.log}
        said |= {"floor": self.scaling.floor, "ceiling": self.scaling.ceiling}
        table = self.genes[["gene", "label"]].copy()
        for name, weights in zip(self.classes, self.weights, strict=True):
            table[f"{WEIGHT}{name}"] = [float(str(weight)) for weight in weights.astype(np.float32)]
        for name, moment in (("centre", self.scaling.centre), ("spread", self.scaling.spread)):
            if moment is not None:
                table[name] = np.broadcast_to(moment.ravel(), len(table))
        order = np.argsort(-np.abs(self.weights).max(axis=0), kind="stable")
        head = "".join(f"{MARK}{key}: {json.dumps(value)}\n" for key, value in said.items())
        write_text(path, head + table.iloc[order].to_csv(index=False))


def read_model(path: Path) -> Model:
    """The model of a CSV that `write` made."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        said = dict(line.removeprefix(MARK).split(": ", 1) for line in lines if line.startswith(MARK))
        known: dict[str, Any] = {key: json.loads(value) for key, value in said.items()}
        table = pd.read_csv(path, skiprows=len(said), dtype={"gene": str, "label": str}, keep_default_na=False)
        classes = [name for name in table if name.startswith(WEIGHT)]
        moments = {name: table[name].to_numpy()[None] for name in ("centre", "spread") if name in table}
        scaling = Scaling(known["scaling"], known["log"], known["floor"], known["ceiling"], **moments)
        weights = table[classes].to_numpy(np.float64).T
        names = tuple(name.removeprefix(WEIGHT) for name in classes)
        return Model(table[["gene", "label"]], names, weights, scaling, known["run"])
    except FileNotFoundError:
        raise UserError(f"{path} is missing; make it with: eflops model EXPERIMENT --out {path}") from None
    except (ValueError, KeyError) as error:
        raise UserError(f"{path} is not a model as `eflops model` writes it ({error}).") from None


def model_of(store: Store, experiment: str, method: str, draw: int, seed: int) -> Model:
    """The final model of one run of an experiment on expression data, published or not."""
    path = f"{paths.RUNS.format(experiment=experiment, ratio=WHOLE, method=method)}/{Run(BASE, draw, seed).path}"
    run = store.record(path.removeprefix(f"{RUNS}/"))
    manifest = stored_manifest(store, run.origin.data)
    settings, meta = manifest["settings"], manifest["meta"]
    if settings["kind"] != "expression":
        raise UserError(f"{experiment} is on data of kind {settings['kind']}; a model is made of expression data.")
    if not run.result.weights:
        raise UserError(f"{path}: this run {run.result.status} and left no weights; name another seed or draw.")
    genes = store.folder / paths.GENES.format(dataset=run.run.dataset)
    names = pd.read_csv(genes, dtype=str, keep_default_na=False)
    weights = np.zeros((meta["classes"], len(names)))
    weights.ravel()[run.result.support] = run.result.weights
    base = scaling_of(settings)
    moments = {name: None if meta[name] is None else np.array(meta[name])[None] for name in ("centre", "spread")}
    scaling = Scaling(base.way, base.log, base.floor, base.ceiling, **moments)
    return Model(names, tuple(meta["class_names"]), weights, scaling, path)
