"""Make resources/all and resources/bladderbatch again from the Debian packages that carry them (see their READMEs).

    python resources/bioconductor.py

Needs apt-get with a Debian archive among its sources, and the Python package rdata. The result is the same bytes every
time, so that `git status` is clean afterwards.
"""

import csv
import io
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rdata.parser import RObjectType, parse_file

from eflops.data.idx import debian_package
from eflops.files import sha256, write_bytes, write_text

HERE = Path(__file__).resolve().parent
SUITE = "bookworm"
LIBRARY = Path("usr/lib/R/site-library")
ALL_SHA256 = "ed394602065429adb06d2701924c91ee565921bfb4b0e85f80192767fcad51ae"
BLADDER_SHA256 = "f53a2f19116f03c2f2c3b71bb8a8803c760116bea73cfb2abaa83b56bf22fd3e"


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        package = debian_package("r-bioc-all", SUITE, Path(scratch))
        write_all(*read_rda(package / LIBRARY / "ALL/data/ALL.rda", ALL_SHA256))
    with tempfile.TemporaryDirectory() as scratch:
        package = debian_package("r-bioc-bladderbatch", SUITE, Path(scratch))
        write_bladderbatch(*read_rda(package / LIBRARY / "bladderbatch/data/bladderdata.rda", BLADDER_SHA256))


Measured = tuple[np.ndarray, list[str], list[str]]
Columns = dict[str, list[str]]


def read_rda(path: Path, digest: str) -> tuple[Measured, Columns]:
    """The matrix [probes, samples] of an expression set with its probes and samples, and what is known of each sample.

    rdata cannot convert these objects, because they hold promises, but it parses them.
    """
    if sha256(path) != digest:
        raise SystemExit(f"{path.name} has sha256 {sha256(path)} instead of {digest}")
    measured, columns = None, None
    for node in _nodes(parse_file(path).object):
        attributes = _attributes(node)
        if node.info.type == RObjectType.REAL and "dimnames" in attributes:
            probes, samples = (_texts(names) for names in attributes["dimnames"].value)
            measured = (np.reshape(node.value, (len(samples), len(probes))).T, probes, samples)
        if node.info.type == RObjectType.VEC and "names" in attributes:
            names = _texts(attributes["names"])
            if "BT" in names or "batch" in names:
                columns = {name: _texts(column) for name, column in zip(names, node.value, strict=True)}
    if measured is None or columns is None:
        raise SystemExit(f"{path.name} holds no expression set")
    return measured, columns


def _nodes(root: Any) -> Iterator[Any]:
    """Every object below `root`, each once."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not hasattr(node, "info") or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        value = node.value
        inner = [getattr(value, part, None) for part in ("frame", "hash_table")]
        waiting += [*(value if isinstance(value, list | tuple) else inner), node.attributes, node.referenced_object]


def _attributes(node: Any) -> dict[str, Any]:
    """The attributes of an R object, which hang on it as a linked list."""
    found, link = {}, node.attributes
    while link is not None and link.info.type == RObjectType.LIST:
        tag = link.tag if link.tag.referenced_object is None else link.tag.referenced_object
        found[tag.value.value.decode()] = link.value[0]
        link = link.value[1]
    return found


def _texts(node: Any) -> list[str]:
    """The text of each value of an R vector, levels of a factor by their names; empty where R has NA."""
    attributes = _attributes(node)
    if "levels" in attributes:
        levels = _texts(attributes["levels"])
        return [levels[code - 1] if code > 0 else "" for code in node.value]
    if node.info.type == RObjectType.STR:
        return [value.value.decode() if value.value is not None else "" for value in node.value]
    return [f"{value:g}" if isinstance(value, float) else str(value) for value in node.value]


def write_all(measured: Measured, columns: Columns) -> None:
    """Lineage is the first letter of the immunophenotype; the fusion is told among B cells alone."""
    lineage = [phenotype[0] for phenotype in columns["BT"]]
    fusion = [
        molecular if cell == "B" and molecular in ("BCR/ABL", "NEG") else "other"
        for cell, molecular in zip(lineage, columns["mol.biol"], strict=True)
    ]
    known = {"lineage": lineage, "fusion": fusion, "phenotype": columns["BT"], "sex": columns["sex"]}
    write_folder(HERE / "all", measured, known)
    write_example(HERE / "all" / "example.csv", measured, lineage)
    write_hashes(HERE / "all")


def write_example(path: Path, measured: Measured, lineage: list[str]) -> None:
    """A sheet as a person might have it: every other patient, the class, and the 200 probes that vary most."""
    logarithms, probes, samples = measured
    chosen = np.sort(np.argsort(-logarithms.std(axis=1), kind="stable")[:200])
    values = np.rint(2.0 ** logarithms[chosen]).astype(int)
    header = ["patient", "lineage", *(probes[probe] for probe in chosen)]
    write_text(path, _csv(header, ([samples[row], lineage[row], *values[:, row]] for row in range(0, len(samples), 2))))


def write_bladderbatch(measured: Measured, columns: Columns) -> None:
    tissue = [name.lower() for name in columns["cancer"]]
    known = {"tissue": tissue, "batch": columns["batch"], "outcome": columns["outcome"]}
    write_folder(HERE / "bladderbatch", measured, known)


def write_folder(folder: Path, measured: Measured, columns: Columns) -> None:
    """Intensities from logarithms to base 2, rounded to whole numbers, and what is known of each sample."""
    logarithms, probes, samples = measured
    samples = [name.removesuffix(".CEL") for name in samples]
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        values=np.rint(2.0**logarithms).astype(np.uint16),
        genes=np.array(probes),
        samples=np.array(samples),
    )
    write_bytes(folder / "expression.npz", buffer.getvalue())
    write_text(folder / "samples.csv", _csv(["sample", *columns], zip(samples, *columns.values(), strict=True)))
    write_hashes(folder)
    print(f"{folder.name}: {logarithms.shape[1]} samples, {len(probes)} probes, {len(buffer.getvalue())} bytes")


def write_hashes(folder: Path) -> None:
    """The hash of every data file, those kept by hand too."""
    files = sorted([*folder.glob("*.npz"), *folder.glob("*.csv")])
    write_text(folder / "SHA256SUMS", "".join(f"{sha256(path)}  {path.name}\n" for path in files))


def _csv(header: Sequence[str], rows: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


if __name__ == "__main__":
    main()
