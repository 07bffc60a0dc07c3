"""Metrics computed again from a record's own weights and the data that it names, without torch or training's code."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from eflops.audit.findings import Finding
from eflops.audit.outcomes import whole
from eflops.data.federation import Federation, load
from eflops.errors import UserError
from eflops.results.draws import data_folder
from eflops.results.store import RUNS, Store
from eflops.training.record import Record

# Training adds in single precision, and these sums are in double.
TOLERANCE = 2e-4
Metrics = dict[str, float]


def check_weights(store: Store, paths: Sequence[str]) -> Iterator[Finding]:
    """Records whose metrics are not those of their weights; one whose data cannot be had is said to be unchecked."""
    with tempfile.TemporaryDirectory(prefix="eflops-") as temporary:
        for path in paths:
            entry = store.record(path)
            name, expected = entry.origin.data, entry.origin.data_sha256
            try:
                federation = load(data_folder(store, name, expected, Path(temporary)) / name)
            except UserError as error:
                yield Finding("different", f"{RUNS}/{path}", f"its data cannot be made again: {error}")
                continue
            for name, value in metrics(entry, federation).items():
                stated = entry.result.metrics.get(name)
                if stated is None or abs(stated - value) > TOLERANCE * max(1.0, abs(value)):
                    what = f"{name} is {stated}, and its weights give {value:.6g} on the data it names"
                    yield Finding("different", f"{RUNS}/{path}", what)


def can_be_checked(entry: Record) -> bool:
    """Whether a record holds its weights and is of a model that this module knows."""
    return bool(entry.result.weights) and entry.result.status == "finished" and entry.origin.job["model"] in MODELS


def metrics(entry: Record, federation: Federation) -> Metrics:
    """The test metrics of a record's weights."""
    theta = whole(entry.result).astype(float)
    found = MODELS[entry.origin.job["model"]](theta, federation)
    truth = federation.truth.get("support")
    return found if truth is None else {**found, "support_recovery": float(np.isin(truth, entry.result.support).mean())}


def _linear(theta: np.ndarray, federation: Federation) -> Metrics:
    y = federation.test.y.astype(float)
    error = float(((federation.test.x.astype(float) @ theta - y) ** 2).mean())
    return {"mse": error, "r2": 1 - error / float(y.var())}


def _softmax(theta: np.ndarray, federation: Federation) -> Metrics:
    x, y = federation.test.x.astype(float), federation.test.y
    logits = x @ theta.reshape(-1, x.shape[1]).T
    shifted = logits - logits.max(1, keepdims=True)
    log_probability = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    found = {
        "accuracy": float((logits.argmax(1) == y).mean()),
        "cross_entropy": -float(log_probability[np.arange(len(y)), y].mean()),
    }
    if logits.shape[1] == 2:
        score = logits[:, 1] - logits[:, 0]
        apart = score[y == 1][:, None] - score[y == 0][None, :]
        found["auc"] = float(((apart > 0) + 0.5 * (apart == 0)).mean())
    return found


MODELS: dict[str, Callable[[np.ndarray, Federation], Metrics]] = {"linear": _linear, "softmax": _softmax}
