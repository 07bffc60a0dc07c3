"""Gene expression with classes, from a matrix file that the config names: your own, or one that is shipped.

The filter of genes looks at all samples, as in the literature, and does not see the classes. Clients are the sites
that the column `clients_by` names, or else the training samples are dealt out by Dirichlet counts.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eflops.data.federation import Block, Federation
from eflops.data.heterogeneity import dirichlet_counts
from eflops.data.matrix import Matrix, Rows, counted, listed, read_matrix, read_table, value_faults, verified
from eflops.data.scaling import Scaling, clipped, scaling_of, varying
from eflops.errors import UserError
from eflops.files import canonical_json, locate, sha256, write_text
from eflops.rng import numpy_generator

# Samples of each class that a test needs at least: with one, accuracy and AUC of a class are a coin.
LEAST_TESTED = 2
NAMES = ("symbol", "name", "description")


def build(settings: Mapping[str, Any], ratio: float | None, seed: int, raw: Path | None = None) -> Federation:
    """One split into test samples and clients; `seed` is the split."""
    present = [found for path in (settings["matrix"], settings["samples"]) if path and (found := locate(path))]
    matrix = _prepared(canonical_json(settings), tuple(map(sha256, present)))
    if settings["test_rows"] is None:
        _refuse(split_faults(matrix, settings, [seed]))
    classes, labels = classes_of(matrix, settings), labels_of(matrix, settings)
    test, train = split(matrix, settings, seed)
    parts = dealt(matrix, settings, train, seed)
    scaling = scaling_of(settings).fitted(matrix.values[train])
    x = scaling.apply(matrix.values)
    return Federation(
        clients=tuple(Block(x[part], labels[part]) for part in parts.values()),
        test=Block(x[test], labels[test]),
        meta={
            "task": "classification",
            "classes": len(classes),
            "class_names": list(classes),
            "client_names": list(parts),
            "client_samples": [[matrix.samples[row] for row in part] for part in parts.values()],
            "test_samples": [matrix.samples[row] for row in test],
            "centre": None if scaling.centre is None else scaling.centre.ravel().tolist(),
            "spread": None if scaling.spread is None else scaling.spread.ravel().tolist(),
        },
    )


@lru_cache(maxsize=1)
def _prepared(settings_text: str, hashes: tuple[str, ...]) -> Matrix:
    """Samples of the classes, with the genes that pass the filter: the same for all splits of files of these hashes."""
    settings = json.loads(settings_text)
    whole = read(settings)
    _refuse(faults(whole, settings))
    matrix = chosen(whole, settings)
    return matrix.keep(filtered(matrix, settings))


def write_genes(settings: Mapping[str, Any], path: Path) -> None:
    """Write the genes as CSV."""
    write_text(path, genes(settings).to_csv(index=False))


def genes(settings: Mapping[str, Any]) -> pd.DataFrame:
    """The genes in the order of the features: gene, symbol, name, description, and label, the best of these to print.

    What the files `gene_names` do not say is empty.
    """
    matrix = chosen(read(settings), settings)
    table = pd.DataFrame({"gene": filtered(matrix, settings)})
    for path in settings["gene_names"]:
        heading, names = read_table(verified(path))
        names = names.set_axis(["gene", *heading[1:]], axis=1).drop_duplicates("gene")
        table = table.merge(names[["gene", *(name for name in NAMES if name in names)]], on="gene", how="left")
    table = table.reindex(columns=["gene", *NAMES]).astype(object).fillna("")
    label = table["gene"]
    for better in ("description", "symbol", "name"):
        label = table[better].where(table[better] != "", label)
    return table.assign(label=label)


def node_rows(
    path: str,
    agreed: Sequence[str],
    classes: Sequence[str],
    scaling: Scaling,
    labels: str = "class",
    rows: Rows = "samples",
    samples: str | None = None,
) -> Block:
    """One node's own rows, for a federation whose members never see one another's: a hospital's file as a block.

    agreed: the genes that all nodes keep, in the order of the features; classes: the names of the classes 0, 1, ...
    The scaling is array by array, so that a node needs nobody else's values; logarithm, floor and ceiling as agreed.
    """
    if scaling.way != "per_array":
        raise UserError(f"a node cannot scale {scaling.way}: it has its own rows alone, so the data set is per_array.")
    matrix = read_matrix(path, rows, [labels], samples, agreed)
    _refuse([*value_faults(matrix), *missing_labels(matrix, labels)])
    strange = sorted(set(matrix.columns[labels]) - set(classes))
    if strange:
        raise UserError(f"{matrix.source}: {listed(strange)} in {labels!r} is no class; classes are {listed(classes)}.")
    numbers = np.array([list(classes).index(name) for name in matrix.columns[labels]], dtype=np.int64)
    return Block(scaling.apply(matrix.values), numbers)


def read(settings: Mapping[str, Any]) -> Matrix:
    """The whole matrix with the columns of labels and sites."""
    columns = [name for name in (settings["labels"], settings["clients_by"]) if name]
    return read_matrix(settings["matrix"], settings["rows"], columns, settings["samples"])


def chosen(matrix: Matrix, settings: Mapping[str, Any]) -> Matrix:
    """The samples of the classes that the entry names; all of them where it names none."""
    if not settings["classes"]:
        return matrix
    wanted = set(settings["classes"])
    return matrix.take([row for row, name in enumerate(matrix.columns[settings["labels"]]) if name in wanted])


def classes_of(matrix: Matrix, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The classes in order: as the entry lists them, or all labels sorted."""
    return tuple(settings["classes"] or sorted(set(matrix.columns[settings["labels"]])))


def labels_of(matrix: Matrix, settings: Mapping[str, Any]) -> np.ndarray:
    """The class of each sample as a number: [samples] int64."""
    numbers = {name: number for number, name in enumerate(classes_of(matrix, settings))}
    return np.array([numbers[name] for name in matrix.columns[settings["labels"]]], dtype=np.int64)


def filtered(matrix: Matrix, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The genes that pass the filter, in the file's order."""
    values = clipped(matrix.values, settings["floor"], settings["ceiling"])
    keep = varying(values, settings["min_fold"], settings["min_range"])
    if not keep.any():
        raise UserError(f"{matrix.source}: no gene passes the filter; lower min_fold or min_range.")
    return tuple(np.array(matrix.genes)[keep].tolist())


def split(matrix: Matrix, settings: Mapping[str, Any], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Test samples, sorted, and training samples in random order.

    `test_rows`: so many of all samples. `test_share`: that share of every class, at least two; a site always keeps
    `min_rows` samples for training.
    """
    order = numpy_generator(seed, "test-split").permutation(len(matrix.samples))
    if settings["test_rows"] is not None:
        return np.sort(order[: settings["test_rows"]]), order[settings["test_rows"] :]
    labels = labels_of(matrix, settings)
    sites = sites_of(matrix, settings) or ("",) * len(order)
    left = {site: sites.count(site) - settings["min_rows"] for site in set(sites)}
    shares = settings["test_share"] * np.bincount(labels)
    wanted = {label: max(LEAST_TESTED, int(share + 0.5)) for label, share in enumerate(shares)}
    test = []
    for row in order:
        if wanted[labels[row]] > 0 and left[sites[row]] > 0:
            test.append(row)
            wanted[labels[row]] -= 1
            left[sites[row]] -= 1
    return np.sort(np.array(test, dtype=np.int64)), order[~np.isin(order, test)]


def dealt(matrix: Matrix, settings: Mapping[str, Any], train: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """The training samples of each client, by the client's name."""
    sites = sites_of(matrix, settings)
    if sites:
        own = np.array(sites)[train]
        return {str(site): train[own == site] for site in sorted(set(sites))}
    counts = dirichlet_counts(
        len(train), settings["clients"], settings["count_concentration"], settings["min_rows"], seed
    )
    return {str(client): part for client, part in enumerate(np.split(train, np.cumsum(counts)[:-1]))}


def sites_of(matrix: Matrix, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The site of each sample; empty where the entry names no such column."""
    return matrix.columns[settings["clients_by"]] if settings["clients_by"] else ()


def problems(settings: Mapping[str, Any], draws: Sequence[int]) -> list[str]:
    """All that does not fit in the files of an entry, a sentence each; draws: the splits that experiments use."""
    try:
        matrix = read(settings)
        found = list(faults(matrix, settings))
        if not found:
            filtered(chosen(matrix, settings), settings)
            found = list(split_faults(chosen(matrix, settings), settings, draws))
    except UserError as error:
        found = str(error).splitlines()
    return found


def faults(matrix: Matrix, settings: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the values, the names, the labels and the sites."""
    yield from value_faults(matrix)
    yield from missing_labels(matrix, settings["labels"])
    matrix = chosen(matrix, settings)
    labels = set(matrix.columns[settings["labels"]])
    absent = [name for name in settings["classes"] or () if name not in labels]
    if absent:
        yield f"{matrix.source}: no sample has the label {listed(absent)} in {settings['labels']!r}."
    elif len(labels) < 2:
        yield f"{matrix.source}: {settings['labels']!r} has {len(labels)} class among the samples; two are needed."
    sites = pd.Series(sites_of(matrix, settings), dtype=str).value_counts()
    if "" in sites:
        yield f"{matrix.source}: {sites['']} samples have no {settings['clients_by']!r}, which names their site."
    alone = sorted(str(site) for site in sites.index[sites <= 1] if site)
    if alone:
        right = "give it to another site or leave it out"
        yield f"{matrix.source}: a site needs two samples, and these have one: {listed(alone)}; {right}."


def missing_labels(matrix: Matrix, column: str) -> Iterator[str]:
    """Samples without a label."""
    missing = [sample for sample, name in zip(matrix.samples, matrix.columns[column], strict=True) if name == ""]
    if missing:
        have = counted(missing, "sample has", "samples have")
        yield f"{matrix.source}: {have} no label in {column!r}: {listed(missing)}."


def split_faults(matrix: Matrix, settings: Mapping[str, Any], draws: Sequence[int]) -> Iterator[str]:
    """The first split that tests fewer than two samples of a class, or leaves none of it for training."""
    labels, classes = labels_of(matrix, settings), classes_of(matrix, settings)
    for seed in draws:
        test, train = split(matrix, settings, seed)
        for number, name in enumerate(classes):
            tested, trained = (int((labels[rows] == number).sum()) for rows in (test, train))
            if tested < LEAST_TESTED or trained < 1:
                yield (
                    f"{matrix.source}: split {seed} has {tested} samples of {name!r} for testing and {trained} for"
                    f" training; it needs {LEAST_TESTED} and 1: give the class more samples or leave it out."
                )
                return


def _refuse(wrong: Iterable[str]) -> None:
    sentences = list(wrong)
    if sentences:
        raise UserError("\n".join(sentences))
