"""Job specs: what a job depends on besides its input files, as one small JSON file per job.

Parsing the workflow writes the wanted spec of every job below `.eflops/` in the working folder, and nothing into the
results. The wanted spec is an input of the job. A successful job stores its spec in the results, below `specs/`.
Comparing the two shows whether a job is due, even without Snakemake's metadata.
"""

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from eflops.errors import UserError
from eflops.files import sha256_bytes
from eflops.results.paths import SPEC

FOLDER = ".eflops"
# 2000-01-01: older than every output, so that Snakemake sees no reason to run the job.
PAST = 946_684_800


@dataclass(frozen=True)
class Wanted:
    """A wanted spec: its file in the working folder, and the digest of its text."""

    file: Path
    digest: str


def wanted_folder(results: Path) -> Path:
    """The folder of the wanted specs of a results folder, below the working folder."""
    return Path(FOLDER, *(part for part in Path(results).parts if part not in (os.sep, os.pardir)))


def want(results: Path, job: str, text: str, complete: bool = True) -> Wanted:
    """Write a job's wanted spec, with a date such that Snakemake runs the job if and only if it is due.

    Args:
        results: the results folder, which is not changed.
        job: the job's name, such as "tables/support_recovery".
        text: the spec as JSON, ending in a newline.
        complete: whether all undeclared outputs of the job exist; Snakemake checks the declared outputs.
    """
    file = wanted_folder(results) / f"{job}.json"
    if complete and _text(results / SPEC.format(job=job)) == text:
        # Up to date: a date in the past is older than any output, so Snakemake sees nothing to do.
        # Not written again if it is as wanted, so that reading the workflow writes nothing for jobs that are done.
        if _text(file) != text or file.stat().st_mtime != PAST:
            _write(file, text, PAST)
    else:
        # Snakemake ignores a new date where it remembers the same content, and the spec of a cell that lost a record
        # is the same as before. Blanks that spell the time make the content new and leave the JSON as it is.
        now = time.time_ns()
        _write(file, text + f"{now:b}".translate({ord("0"): " ", ord("1"): "\t"}) + "\n", now / 1e9)
    return Wanted(file, digest(text))


def digest(text: str) -> str:
    """A short hash of a spec's text."""
    return sha256_bytes(text.encode())[:16]


def read_wanted(file: Path, expected: str) -> str:
    """The text of a job's wanted spec.

    expected: its digest when the job was planned. Parsing the workflow with another config in the meantime, such as
    in a dry run, changes the file.
    """
    text = file.read_text(encoding="utf-8").rstrip() + "\n"
    if digest(text) != expected:
        raise UserError(
            f"{file}: another snakemake has read this folder with a different config since this run started; run it "
            "again."
        )
    return text


def refuse_read_only(folder: Path) -> None:
    """Reject a folder that is not writable or cannot be created."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not os.access(there, os.W_OK):
        raise UserError(
            f"{there}: this folder cannot be written to; make it writable, or set `results` to another folder."
        )


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _write(file: Path, text: str, date: float) -> None:
    """Write a file and set its date in one step, because another process may read it.

    A lost file does no harm, so it is not synced.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, prefix=".", delete=False) as stream:
        stream.write(text)
    os.chmod(stream.name, 0o644)
    # Before the rename: a reader must never see the new text with the present date.
    os.utime(stream.name, (date, date))
    os.replace(stream.name, file)
