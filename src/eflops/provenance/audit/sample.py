"""A sample of the results recomputed from the data: metrics of the weights that records hold, and fits of references.

Does not use torch or the training code. The seed of the sample is printed, so the choice can be repeated.
"""

import csv
import io
import math
import random
import secrets
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from eflops.config.models import Config
from eflops.config.plan import all_plans, plan_of
from eflops.config.products import products
from eflops.data.federation import Federation, load, unit_of
from eflops.errors import UserError
from eflops.provenance.audit.products import close
from eflops.provenance.audit.results import whole
from eflops.provenance.data import can_rebuild, data_folder, has_arrays, stored_manifest
from eflops.results import labels, paths
from eflops.results.findings import Finding
from eflops.results.record import Record
from eflops.results.store import RUNS, Store

# Training adds in single precision, and these sums are in double.
TOLERANCE = 2e-4
Item = TypeVar("Item")
Metrics = dict[str, float]
Rows = list[dict[str, str]]


def new_seed() -> int:
    """An unpredictable seed, short enough to type."""
    return secrets.randbelow(10**6)


def shuffled(items: Sequence[Item], seed: int) -> list[Item]:
    """The items in a random order given by the seed."""
    return random.Random(seed).sample(items, len(items))


def sample(items: Sequence[Item], count: int | None, seed: int) -> list[Item]:
    """A random sample of `count` items in their original order; all items if `count` is None."""
    if count is None or count >= len(items):
        return list(items)
    chosen = set(shuffled(range(len(items)), seed)[:count])
    return [item for index, item in enumerate(items) if index in chosen]


def check_weights(store: Store, paths: Iterable[str], seconds: float = math.inf) -> tuple[list[Finding], int]:
    """Findings on records whose metrics do not follow from their weights, and how many were checked in the given time.

    A record whose data are unavailable is reported as unchecked.
    """
    end, count = time.monotonic() + seconds, 0
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="eflops-") as temporary:
        for path in paths:
            findings += _check_record(store, path, Path(temporary))
            count += 1
            if time.monotonic() > end:
                break
    return findings, count


def _check_record(store: Store, path: str, folder: Path) -> Iterator[Finding]:
    entry = store.record(path)
    data, expected = entry.origin.data, entry.origin.data_sha256
    try:
        federation = load(data_folder(store, data, expected, folder) / data)
    except UserError as error:
        yield Finding("different", f"{RUNS}/{path}", f"its data cannot be rebuilt: {error}")
        return
    for name, value in metrics(entry, federation).items():
        stated = entry.result.metrics.get(name)
        if stated is None or abs(stated - value) > TOLERANCE * max(1.0, abs(value)):
            what = f"{name} is {stated}, and its weights give {value:.6g} on the data it names"
            yield Finding("different", f"{RUNS}/{path}", what)


def metrics(entry: Record, federation: Federation) -> Metrics:
    """The test metrics computed from a record's weights."""
    theta = whole(entry.result).astype(float)
    values = MODELS[entry.origin.job.model](theta, federation)
    truth = federation.truth.get("support")
    if truth is not None:
        values["support_recovery"] = float(np.isin(truth, entry.result.support).mean())
    return values


def _linear(theta: np.ndarray, federation: Federation) -> Metrics:
    x, y = federation.test.x.astype(float), federation.test.y.astype(float)
    error = float(((x @ theta[: x.shape[1]] + theta[x.shape[1] :].sum() - y) ** 2).mean())
    unit = unit_of(federation.meta)
    rmse = {} if unit is None else {"rmse": float(np.sqrt(error) * unit)}
    return {"mse": error, "r2": 1 - error / float(y.var()), **rmse}


def _softmax(theta: np.ndarray, federation: Federation) -> Metrics:
    x, y = federation.test.x.astype(float), federation.test.y
    classes = federation.meta["classes"] or 1
    weights, intercepts = np.split(theta, [classes * x.shape[1]])
    logits = x @ weights.reshape(classes, -1).T + (intercepts if intercepts.size else 0)
    shifted = logits - logits.max(1, keepdims=True)
    log_probability = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    values = {
        "accuracy": float((logits.argmax(1) == y).mean()),
        "cross_entropy": -float(log_probability[np.arange(len(y)), y].mean()),
    }
    if logits.shape[1] == 2:
        score = logits[:, 1] - logits[:, 0]
        apart = score[y == 1][:, None] - score[y == 0][None, :]
        values["auc"] = float(((apart > 0) + 0.5 * (apart == 0)).mean())
    return values


def _glm(theta: np.ndarray, federation: Federation) -> Metrics:
    return (_linear if federation.meta["task"] == "regression" else _softmax)(theta, federation)


MODELS: dict[str, Callable[[np.ndarray, Federation], Metrics]] = {
    "linear": _linear,
    "softmax": _softmax,
    "glm": _glm,
}


def check_draws(store: Store, config: Config, count: int | None, seed: int) -> Iterator[Finding]:
    """Stored arrays of so many draws (None: all) against those rebuilt from their settings."""
    names = {name for plan in all_plans(config) for name, *_ in plan.data_draws}
    stored = [name for name in sorted(names) if has_arrays(store, name)]
    for name in sample(stored, count, seed):
        try:
            expected = stored_manifest(store, name)["sha256"]
            with tempfile.TemporaryDirectory(prefix="eflops-") as folder:
                if can_rebuild(store, name):
                    data_folder(store, name, expected, Path(folder), stored=False)
        except UserError as error:
            yield Finding("different", f"data/{name}", f"it cannot be rebuilt from its settings: {error}")


def check_references(store: Store, config: Config, count: int | None, seed: int) -> Iterator[Finding]:
    """Check every table of references that a product reads, by fitting them again on some draws (None: all)."""
    inputs = {path for product in products(config) for path in product.inputs}
    draws: list[tuple[str, str, Rows]] = []
    for name in config.experiments:
        table = paths.REFERENCES.format(experiment=name)
        if table in inputs and (store.folder / table).exists():
            rows = _read(store.folder / table)
            for folder, ratio, draw in plan_of(config, name).data_draws:
                key = labels.ratio_value(ratio), draw
                rows_of_draw = [row for row in rows if (float(row["ratio"] or 0) or None, int(row["draw"])) == key]
                draws.append((table, folder, rows_of_draw))
    yield from (finding for each in draws for finding in _check_data(store, *each))
    with tempfile.TemporaryDirectory(prefix="eflops-") as temporary:
        for each in sample(draws, count, seed):
            yield from _fit_again(store, *each, Path(temporary))


def _read(path: Path) -> Rows:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(errors="replace"))))


def _check_data(store: Store, table: str, name: str, rows: Rows) -> Iterator[Finding]:
    try:
        expected = stored_manifest(store, name)["sha256"]
    except UserError:
        return  # a damaged manifest is reported with the data
    if not rows:
        yield Finding("missing", table, f"it has no fit to data/{name}")
    elif any(row["data_sha256"] != expected for row in rows):
        yield Finding("different", table, f"a fit is to other data than data/{name} names")


def _fit_again(store: Store, table: str, name: str, rows: Rows, folder: Path) -> Iterator[Finding]:
    from eflops.analysis.references import fits  # brings the fitting libraries along

    try:
        manifest = stored_manifest(store, name)
        federation = load(data_folder(store, name, manifest["sha256"], folder) / name)
    except UserError as error:
        yield Finding("different", table, f"its data cannot be rebuilt: {error}")
        return
    for row, again in zip(rows, fits(federation, manifest), strict=True):
        for column, value in again.items():
            expected = "" if value is None else str(value)
            if row[column] != expected and not close(row[column], expected):
                what = f"{column} of {row['reference']} on data/{name} is {row[column]}, and fitted again {expected}"
                yield Finding("different", table, what)
