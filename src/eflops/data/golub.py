"""The Golub leukaemia data: 72 patients, two classes (ALL 0, AML 1), 3571 genes after the usual filter.

The tables are shipped under resources/golub/, whose README says where they come from. The filter looks at all
72 patients, as in the literature (it is what gives 3571), and does not see the classes. Means and deviations
that are taken over patients are taken over the training patients alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eflops.data.federation import Block, Federation
from eflops.data.heterogeneity import dirichlet_counts
from eflops.errors import UserError
from eflops.files import sha256
from eflops.rng import numpy_generator

RESOURCES = Path(__file__).resolve().parents[3] / "resources" / "golub"
CLASS_NAMES = ("ALL", "AML")
FLOOR, CEILING = 100.0, 16000.0
MIN_FOLD, MIN_RANGE = 5.0, 500.0


@dataclass(frozen=True)
class Expression:
    """Measured intensities [samples, probes], the class 0 or 1 of each sample, and the names of both axes."""

    intensity: np.ndarray
    labels: np.ndarray
    samples: tuple[int, ...]
    probes: tuple[str, ...]


def build(settings: Mapping[str, Any], ratio: float | None, seed: int, raw: Path | None = None) -> Federation:
    """A random split: `test_rows` patients for testing, the others over the clients by Dirichlet counts."""
    table = filtered(read_expression(raw or RESOURCES))
    order = numpy_generator(seed, "test-split").permutation(len(table.labels))
    test, train = np.sort(order[: settings["test_rows"]]), order[settings["test_rows"] :]
    x = scaled(table.intensity, train, settings["scaling"])
    counts = dirichlet_counts(
        len(train), settings["clients"], settings["count_concentration"], settings["min_rows"], seed
    )
    parts = np.split(train, np.cumsum(counts)[:-1])
    return Federation(
        clients=tuple(Block(x[part], table.labels[part]) for part in parts),
        test=Block(x[test], table.labels[test]),
        meta={
            "task": "classification",
            "classes": len(CLASS_NAMES),
            "class_names": list(CLASS_NAMES),
            "feature_names": "eflops.data.golub:genes",
            "client_samples": [[table.samples[i] for i in part] for part in parts],
            "test_samples": [table.samples[i] for i in test],
        },
    )


def genes(folder: Path = RESOURCES) -> pd.DataFrame:
    """The 3571 genes in the order of the features: probe, description, and symbol, name, label.

    Symbol and name are from gene_names.csv and empty for genes that it does not list; label is the name, or
    else the description.
    """
    kept = pd.DataFrame({"probe": filtered(read_expression(folder)).probes})
    descriptions = pd.read_csv(_verified(folder, "probes.csv.gz"), keep_default_na=False)
    names = pd.read_csv(folder / "gene_names.csv", keep_default_na=False).drop(columns="source")
    table = kept.merge(descriptions, on="probe", how="left").merge(names, on="probe", how="left")
    table = table.fillna({"symbol": "", "name": ""})
    return table.assign(label=table["name"].where(table["name"] != "", table["description"]))


def read_expression(folder: Path = RESOURCES) -> Expression:
    """The shipped tables, as measured: 72 samples and 7129 probes."""
    values = pd.read_csv(_verified(folder, "expression.csv.gz"), index_col="probe")
    samples = pd.read_csv(_verified(folder, "samples.csv"), index_col="sample")
    samples = samples.loc[values.columns.astype(int)]
    return Expression(
        intensity=values.to_numpy(np.float64).T,
        labels=np.array([CLASS_NAMES.index(name) for name in samples["class"]], dtype=np.int64),
        samples=tuple(int(sample) for sample in samples.index),
        probes=tuple(values.index),
    )


def filtered(table: Expression) -> Expression:
    """Intensities cut to [100, 16000], and of the genes those with max/min > 5 and max - min > 500."""
    intensity = np.clip(table.intensity, FLOOR, CEILING)
    high, low = intensity.max(axis=0), intensity.min(axis=0)
    keep = (high / low > MIN_FOLD) & (high - low > MIN_RANGE)
    probes = tuple(np.array(table.probes)[keep].tolist())
    return Expression(intensity[:, keep], table.labels, table.samples, probes)


def scaled(intensity: np.ndarray, train: np.ndarray, scaling: str) -> np.ndarray:
    """Standardised features as float32; intensity: [samples, genes], train: indices of the training rows.

    intensity            one mean and deviation for everything
    intensity_per_array  each sample by its own mean and deviation
    log10_per_array      the same after log10
    log10_per_gene       each gene after log10, by mean and deviation of the training rows
    """
    if scaling == "intensity":
        result = _standardise(intensity, intensity[train], axis=None)
    elif scaling == "intensity_per_array":
        result = _standardise(intensity, intensity, axis=1)
    elif scaling == "log10_per_array":
        result = _standardise(np.log10(intensity), np.log10(intensity), axis=1)
    elif scaling == "log10_per_gene":
        result = _standardise(np.log10(intensity), np.log10(intensity[train]), axis=0)
    else:
        known = "intensity, intensity_per_array, log10_per_array, log10_per_gene"
        raise UserError(f"golub has no scaling {scaling!r}: it is one of {known}")
    return np.asarray(result, dtype=np.float32)


def _standardise(values: np.ndarray, reference: np.ndarray, axis: int | None) -> np.ndarray:
    """values minus the mean over its deviation, both of `reference`; what does not vary there becomes 0."""
    deviation = reference.std(axis=axis, keepdims=True)
    centred = values - reference.mean(axis=axis, keepdims=True)
    return np.where(deviation > 0, centred / np.where(deviation > 0, deviation, 1.0), 0.0)


def _verified(folder: Path, name: str) -> Path:
    """The path of a shipped file, after its hash was found to be the one in SHA256SUMS."""
    sums = {file: digest for digest, file in map(str.split, (folder / "SHA256SUMS").read_text().splitlines())}
    path = folder / name
    if not path.exists() or sha256(path) != sums.get(name):
        remedy = f"git checkout -- {path}, or make it again with: python {folder / 'make.py'}"
        raise UserError(f"{path} is not the file that SHA256SUMS names; restore it with: {remedy}")
    return path
