"""One interface to results in a results folder, in a published folder, or in a crate.

A published folder holds all records in one compressed file, the many small files of jobs (specs, manifests) in another,
and no arrays. Records are read from there one by one, on demand.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from eflops import trust
from eflops.errors import UserError
from eflops.files import canonical_json, inflate, write_bytes
from eflops.results import checksums, record
from eflops.results.labels import RUNS
from eflops.results.paths import STUDY
from eflops.results.record import Record

RECORDS = "records.jsonl.gz"
# The small files of jobs, as publish packs them: one line each, with path and text.
SMALL = "jobs.jsonl.gz"
# The key of study.json that says how results are laid out and named, and its present value.
FORMAT, PRESENT_FORMAT = "format", 3
RENAMED = "CHANGELOG.md#renamed-in-030"
# A line of the packed file is canonical JSON, so that it need not be parsed to be found.
LINE = re.compile(rb'\{"path":("(?:[^"\\]|\\.)*"),"record":(\{.*\})\}\n')


@dataclass(frozen=True)
class Store:
    """Results in a folder.

    packed: the records of a published folder as JSON, by path below the runs; small: its packed small files.
    """

    folder: Path
    packed: Mapping[str, bytes] | None = None
    small: Mapping[str, str] = field(default_factory=dict)

    @property
    def published(self) -> bool:
        """Whether this is a published folder."""
        return self.packed is not None

    def record_paths(self) -> list[str]:
        """The paths of records below the folder of the runs."""
        if self.packed is not None:
            return sorted(self.packed)
        runs = self.folder / RUNS
        return sorted(path.relative_to(runs).as_posix() for path in runs.rglob("*.json"))

    def record(self, path: str, hashed: bool = True) -> Record:
        """The record at a path below the runs, its schema checked, and its hashes unless `hashes` is false."""
        if self.packed is None:
            return record.read(self.folder / RUNS / path, hashed)
        if path not in self.packed:
            raise UserError(f"{RUNS}/{path}: there is no such record in {self.folder / RECORDS}.")
        return record.parse(self.packed[path], f"{RUNS}/{path}", hashed)

    def files(self) -> list[str]:
        """All files of the results, seen as a results folder, as sorted paths below it."""
        records = [f"{RUNS}/{path}" for path in self.packed or ()]
        return sorted({*checksums.files(self.folder), *self.small, *records})

    def text(self, path: str) -> str:
        """The text of a file below the folder, packed or not; a UserError if it cannot be read."""
        if path in self.small:
            return self.small[path]
        try:
            return (self.folder / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise UserError(f"{self.folder / path}: this file cannot be read ({reason}).") from None

    def has_runs(self, experiment: str) -> bool:
        """Whether an experiment or search has any record."""
        if self.packed is not None:
            return any(path.startswith(f"{experiment}/") for path in self.packed)
        return (self.folder / RUNS / experiment).exists()


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """The results of a folder, as a context manager."""
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such folder of results; make it with: snakemake all")
    trust.disown(folder)
    check_format(folder)
    packed, small = folder / RECORDS, folder / SMALL
    yield Store(folder, unpacked(packed) if packed.exists() else None, unpacked_small(small) if small.exists() else {})


def check_format(folder: Path) -> None:
    """Reject results of a version with other field names."""
    try:
        stored = json.loads((folder / STUDY).read_bytes())
    except (OSError, ValueError, RecursionError):
        return  # there is no study yet, or a damaged one, which its reader names
    if isinstance(stored, dict) and "config" in stored and stored.get(FORMAT) != PRESENT_FORMAT:
        raise UserError(
            f"{folder}: eflops 0.2.0 or older made these results, with other names of settings and fields;"
            f" {RENAMED} lists the new names. Read the results with that version, or compare them with eflops diff."
        )


def is_results(folder: Path) -> bool:
    """Whether a folder contains results: of a whole study, or the runs of a single target."""
    return (folder / STUDY).exists() or (folder / RUNS).is_dir()


def packed_in(file: Path) -> Path | None:
    """The published folder with the packed record of this path."""
    return next((up for up in file.parents if (up / RECORDS).exists() and file.is_relative_to(up / RUNS)), None)


def read_record(file: Path) -> Record:
    """The record of a file, or of a path below a published folder."""
    folder = packed_in(file)
    if folder is None:
        for around in file.absolute().parents:
            check_format(around)
        return record.read(file)
    with opened(folder) as store:
        return store.record(file.relative_to(folder / RUNS).as_posix())


def pack(runs: Path, experiments: Iterable[str], out: Path) -> int:
    """Write the records of these experiments to one compressed file, one line each; returns their number."""
    lines = []
    for path in sorted(path for name in experiments for path in (runs / name).rglob("*.json")):
        entry = {"path": path.relative_to(runs).as_posix(), "record": json.loads(path.read_text(encoding="utf-8"))}
        lines.append(canonical_json(entry) + "\n")
    write_bytes(out, gzip.compress("".join(lines).encode(), mtime=0))
    return len(lines)


def pack_small(folder: Path, paths: Iterable[str], out: Path) -> None:
    """Write small text files below a folder to one compressed file, one line each."""
    lines = [{"path": path, "text": (folder / path).read_text(encoding="utf-8")} for path in sorted(paths)]
    write_bytes(out, gzip.compress("".join(canonical_json(line) + "\n" for line in lines).encode(), mtime=0))


def unpacked_small(packed: Path) -> dict[str, str]:
    """The small files in a compressed file, by path."""
    try:
        lines = [json.loads(line) for line in inflate(packed.read_bytes()).decode().splitlines()]
        texts = {str(line["path"]): str(line["text"]) for line in lines}
    except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
        raise UserError(f"{packed}: this is not a packed file of eflops publish ({error}).") from None
    if len(texts) != len(lines):
        raise UserError(f"{packed}: it contains a path twice; publish the results again.")
    return texts


def unpacked(packed: Path) -> dict[str, bytes]:
    """The records of a compressed file as JSON, by path."""
    records: dict[str, bytes] = {}
    try:
        data = inflate(packed.read_bytes())
        lines = LINE.findall(data)
        # The lines that fit must be all of the file: one of another form must not be skipped unseen.
        if sum(len(name) + len(text) + len(b'{"path":,"record":}\n') for name, text in lines) != len(data):
            raise ValueError("a line does not have a path and a record")
        for name, text in lines:
            path = json.loads(name) if b"\\" in name else name[1:-1].decode()
            if path in records:
                raise ValueError(f"it contains {path} twice")
            if path.startswith("/") or ".." in path.split("/") or not path:
                raise ValueError(f"{path} is not the path of a record")
            records[path] = text
    except (OSError, EOFError, ValueError, TypeError, zlib.error) as error:
        raise UserError(f"{packed}: this is not a packed file of records of eflops publish ({error}).") from None
    return records
