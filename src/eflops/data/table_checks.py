"""The checks of a table: `eflops check` lists all faults at once, and the data job rejects them with the same
sentences."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eflops.data.heterogeneity import shortage
from eflops.data.matrix import Matrix, as_text, count, listed, value_faults
from eflops.data.tabular import (
    LEAST_TESTED,
    Spec,
    classes_of,
    filtered,
    labels_of,
    read,
    selected,
    sites_of,
    split,
)
from eflops.errors import UserError

# A numeric column with more values than MANY is a number to predict; integers with at most FEW values may be classes.
MANY, FEW = 20, 10


@dataclass(frozen=True)
class Report:
    """The result of checking a file: faults prevent training; notes do not.

    weights: the number of weights of a linear model per output.
    """

    faults: list[str]
    notes: list[str]
    weights: int = 0


def report(spec: Spec, draws: Sequence[int]) -> Report:
    """All faults and notes of a file; draws: the splits that experiments use."""
    try:
        whole = read(spec)
    except UserError as error:
        return Report(str(error).splitlines(), [])
    wrong = list(faults(whole, spec))
    matrix = selected(whole, spec)
    try:
        if matrix.features and matrix.rows:
            matrix = matrix.keep(filtered(matrix, spec))
            spec.scaling.prepare(matrix.values)
    except UserError as error:
        wrong += [line for line in str(error).splitlines() if line not in wrong]
    # Splits of rows that have no class or site, or of a class with too few rows, would repeat what is said already.
    if not wrong:
        wrong += split_faults(matrix, spec, draws)
    return Report(wrong, list(notes(matrix, spec)) if matrix.rows else [], len(matrix.features))


def faults(matrix: Matrix, spec: Spec) -> Iterator[str]:
    """Faults in the values, names, target and sites, one sentence per kind of fault."""
    yield from value_faults(matrix)
    yield from missing_target(matrix, spec.target)
    labels = matrix.columns[spec.target]
    matrix = selected(matrix, spec)
    of_target = list(_class_faults(matrix, spec, labels) if matrix.target is None else _number_faults(matrix, spec))
    yield from of_target
    yield from _site_faults(matrix, spec)
    rows, word = len(matrix.rows), matrix.words[0]
    if spec.test_rows is not None and spec.test_rows >= rows:
        yield f"{matrix.source}: test_rows is {spec.test_rows} of {rows} {word}s, so none is left for training."
    elif not spec.sites and not of_target:
        tested = spec.test_rows or len(split(matrix, spec, 0)[0]) if rows else 0
        lacking = shortage(rows - tested, spec.clients, spec.min_rows)
        if lacking:
            yield f"{matrix.source}: after {tested} {word}s for testing, {lacking}."


def missing_target(matrix: Matrix, column: str) -> Iterator[str]:
    """Rows without a target."""
    missing = [row for row, text in zip(matrix.rows, matrix.columns[column], strict=True) if text == ""]
    if missing:
        word = matrix.words[0]
        have = count(missing, f"{word} has", f"{word}s have")
        what = "label" if matrix.target is None else "number"
        yield f"{matrix.source}: {have} no {what} in {column!r}: {listed(missing)}."


def _number_faults(matrix: Matrix, spec: Spec) -> Iterator[str]:
    """A numeric target that does not vary."""
    target = matrix.target if matrix.target is not None else np.empty(0)
    known = target[np.isfinite(target)]
    if np.isinf(target).any():
        yield f"{matrix.source}: {spec.target!r} has values that are not finite."
    if len(known) and known.min() == known.max():
        value = as_text(float(known[0]))
        yield f"{matrix.source}: {spec.target!r} is {value} in every row; there is nothing to predict."


def _class_faults(matrix: Matrix, spec: Spec, labels: Iterable[str]) -> Iterator[str]:
    """Faults of classes: absent, only one, or too small to split, or numbers that cannot be classes.

    labels: all labels in the file, including excluded classes.
    """
    sizes = Counter(matrix.columns[spec.target])
    del sizes[""]
    word = matrix.words[0]
    absent = [name for name in spec.classes if name not in sizes]
    if not spec.classes and _looks_numeric(sizes):
        right = "use task: regression" if spec.layout is None else "use kind: table with task: regression"
        numbers = f"{spec.target!r} has {len(sizes)} different numbers as classes"
        yield f"{matrix.source}: {numbers}: this looks like a numeric target; {right}."
        return
    if absent:
        quoted = "; YAML reads yes and no as True and False unless they are quoted" * (absent[0] in ("True", "False"))
        there = f"its labels are {listed(sorted(set(labels)))}"
        yield f"{matrix.source}: no {word} has the label {listed(absent)} in {spec.target!r}; {there}{quoted}."
    elif len(sizes) < 2:
        yield f"{matrix.source}: {spec.target!r} has {len(sizes)} class among the {word}s; two are needed."
    small = [f"{name} ({rows})" for name, rows in sorted(sizes.items()) if rows < LEAST_TESTED + 1]
    if small and spec.test_rows is None:
        yield (
            f"{matrix.source}: a class needs {LEAST_TESTED} {word}s for testing and 1 for training, and these have"
            f" fewer: {listed(small)}; add {word}s of this class or exclude it."
        )


def _looks_numeric(values: Iterable[str]) -> bool:
    numbers = pd.to_numeric(pd.Series([*values], dtype=object), errors="coerce")
    if not len(numbers) or numbers.isna().any():
        return False
    return len(numbers) > MANY or bool((numbers % 1 != 0).any())


def _site_faults(matrix: Matrix, spec: Spec) -> Iterator[str]:
    """Rows without a site, and sites with too few rows."""
    sizes = Counter(sites_of(matrix, spec))
    word = matrix.words[0]
    if "" in sizes:
        missing = sizes.pop("")
        have = f"1 {word} has" if missing == 1 else f"{missing} {word}s have"
        yield f"{matrix.source}: {have} no site in {spec.sites!r}; fill it in, or leave such {word}s out."
    alone = sorted(site for site, rows in sizes.items() if rows <= 1)
    if alone:
        right = "assign it to another site or exclude it"
        yield f"{matrix.source}: a site needs two {word}s, but these have one: {listed(alone)}; {right}."
    small = [f"{site} ({rows})" for site, rows in sorted(sizes.items()) if 1 < rows < spec.min_rows]
    if small:
        right = f"lower min_rows to {min(rows for rows in sizes.values() if rows > 1)} or exclude them"
        fewer = f"min_rows is {spec.min_rows}, but these sites have fewer {word}s: {listed(small)}"
        yield f"{matrix.source}: {fewer}; {right}."


def split_faults(matrix: Matrix, spec: Spec, draws: Sequence[int]) -> Iterator[str]:
    """The first split with too few test or training rows of a class, or a site below `min_rows`.

    `test_rows` draws rows regardless of class, so classes may be missing.
    """
    labels, sites = labels_of(matrix, spec), np.array(sites_of(matrix, spec))
    names = classes_of(matrix, spec) if matrix.target is None else ("",)
    word = matrix.words[0]
    for seed in draws:
        test, train = split(matrix, spec, seed)
        for number, name in enumerate(names if spec.test_rows is None else ()):
            tested, trained = (int((labels[rows] == number).sum()) for rows in (test, train))
            if tested < LEAST_TESTED or trained < 1:
                of = f" of {name!r}" if name else ""
                right = f"add {word}s of this class or exclude it" if name else f"lower min_rows or add {word}s"
                yield (
                    f"{matrix.source}: split {seed} has {tested} {word}s{of} for testing and {trained} for"
                    f" training; it needs {LEAST_TESTED} and 1: {right}."
                )
                return
        left = Counter(sites[train].tolist()) if len(sites) else {}
        short = [f"{site} ({left[site]})" for site in sorted(set(sites.tolist())) if left[site] < spec.min_rows]
        if short:
            left_over = f"split {seed} leaves fewer than {spec.min_rows} {word}s at {listed(short)}"
            yield f"{matrix.source}: {left_over}; use test_share."
            return


def notes(matrix: Matrix, spec: Spec) -> Iterator[str]:
    """How the data are interpreted, and warnings that do not prevent training."""
    rows, columns = matrix.words
    sites = set(sites_of(matrix, spec))
    clients = f"{len(sites)} sites" if sites else f"{spec.clients} clients"
    size = f"{len(matrix.rows)} {rows}s, {len(matrix.features)} features, {clients}"
    if matrix.target is None and spec.task != "regression":
        sizes = Counter(matrix.columns[spec.target])
        names = [f"{name} ({sizes[name]})" for name in classes_of(matrix, spec) if name]
        yield f"classification, {spec.target!r} is {listed(names)}; {size}."
    elif matrix.target is not None:
        known = matrix.target[np.isfinite(matrix.target)]
        ends = f" from {known.min():g} to {known.max():g}" if len(known) else ""
        yield f"regression, {spec.target!r} is a number{ends}; {size}."
        few = np.unique(known)
        if spec.task is None and 1 < len(few) <= FEW and not (few % 1).any():
            whole = f"{spec.target!r} has {len(few)} different whole numbers"
            yield f"{whole}; if they are classes, set task: classification."
    finite = np.isfinite(matrix.values).all(axis=0)
    constant = finite & (matrix.values == matrix.values[:1]).all(axis=0)
    same = [name for name, still in zip(matrix.features, constant, strict=True) if still]
    if same:
        have = count(same, f"{columns} has", f"{columns}s have")
        yield f"{matrix.source}: {have} the same value in all rows and cannot help: {listed(same)}."
    steps = np.diff(matrix.values, axis=0) == 1
    numbering = [name for name, all_ones in zip(matrix.features, steps.all(axis=0), strict=True) if all_ones]
    if numbering and len(matrix.rows) > FEW:
        have = count(numbering, f"{columns} numbers", f"{columns}s number")
        yield f"{matrix.source}: {have} the {rows}s: {listed(numbering)}; list it under ignore, or as id."
    if not matrix.features:
        return
    first: dict[bytes, str] = {}
    copies = []
    for name, values, text in zip(matrix.rows, matrix.values, matrix.columns[spec.target], strict=True):
        original = first.setdefault(values.tobytes() + text.encode(), name)
        if original != name:
            copies.append(f"{name} as {original}")
    if copies:
        have = count(copies, f"{rows} is a copy", f"{rows}s are copies")
        yield (
            f"{matrix.source}: {have} of another: {listed(copies)}; copies among the test rows make every method look "
            "better."
        )


def refuse(wrong: Iterable[str]) -> None:
    """Reject data with any fault, and list all faults."""
    sentences = list(wrong)
    if sentences:
        raise UserError("\n".join(sentences))
