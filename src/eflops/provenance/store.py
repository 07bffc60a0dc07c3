"""One way to read results, whether they lie in a results folder or in a published one (also inside a crate).

A published folder holds all records in one compressed file and no arrays. Opened, it looks like a results folder: the
records are unpacked into a temporary folder and everything else is linked from there.
"""

import gzip
import json
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eflops.errors import UserError
from eflops.files import canonical_json, write_bytes
from eflops.provenance import sums

RECORDS = "records.jsonl.gz"
RUNS = "runs"


@dataclass(frozen=True)
class Store:
    """Results in the layout that the workflow makes.

    folder: where they can be read; named: the folder that the user named; published: whether that is a published one.
    """

    folder: Path
    named: Path
    published: bool

    def record_paths(self) -> list[str]:
        """Where records lie, below the folder of the runs."""
        runs = self.folder / RUNS
        return sorted(path.relative_to(runs).as_posix() for path in runs.rglob("*.json"))

    def files(self) -> list[str]:
        """All files that the user's folder holds, below it."""
        return sums.files(self.named)


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """The results of a folder, for as long as the context lasts."""
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such folder of results; make it with: snakemake all")
    if not (folder / RECORDS).exists():
        yield Store(folder, folder, published=False)
        return
    with tempfile.TemporaryDirectory(prefix="eflops-") as temporary:
        view = Path(temporary)
        for entry in folder.iterdir():
            if entry.name != RECORDS:
                (view / entry.name).symlink_to(entry.resolve())
        unpack(folder / RECORDS, view / RUNS)
        yield Store(view, folder, published=True)


def pack(runs: Path, experiments: Iterable[str], out: Path) -> int:
    """Write the records of these experiments to one compressed file, one line each, and say how many there are."""
    lines = []
    for path in sorted(path for name in experiments for path in (runs / name).rglob("*.json")):
        entry = {"path": path.relative_to(runs).as_posix(), "record": json.loads(path.read_text(encoding="utf-8"))}
        lines.append(canonical_json(entry) + "\n")
    write_bytes(out, gzip.compress("".join(lines).encode(), mtime=0))
    return len(lines)


def unpack(packed: Path, runs: Path) -> None:
    """Write the records of a compressed file as files below `runs`."""
    try:
        lines = gzip.decompress(packed.read_bytes()).decode().splitlines()
        entries = [json.loads(line) for line in lines]
        for entry in entries:
            path = runs / entry["path"]
            if ".." in path.parts or not path.is_relative_to(runs):
                raise ValueError(f"a record cannot lie at {entry['path']}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(entry["record"]), encoding="utf-8")
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        raise UserError(f"{packed}: this is not a file of records as publish writes it ({error}).") from None
