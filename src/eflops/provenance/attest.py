"""reproductions.csv: full reproductions, with machine, duration, and whether any number moved."""

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from eflops.errors import UserError
from eflops.files import write_text
from eflops.provenance.diff import diff
from eflops.provenance.times import job_times
from eflops.results.record import machine

COLUMNS = ("version", "date", "processor", "system", "cores", "minutes", "compared", "moved")


def attest(results: Path, published: Path, out: Path, cores: int, minutes: float | None = None) -> dict[str, str]:
    """Compare a full run with the published results, and append a row to the table of reproductions.

    Args:
        results: the results folder of the run.
        published: what it is compared with.
        out: the table; created if missing.
        cores: the number of cores of the run.
        minutes: the duration; default: estimated from the job times.
    """
    if results.resolve() == published.resolve():
        raise UserError(f"{results}: these are the published results; name the folder of your own run.")
    times = job_times(results)
    if minutes is None and times.empty:
        raise UserError(f"{results}: no job was timed there; state the run's duration with --minutes.")
    difference = diff(published, results)
    if not difference.compared:
        raise UserError(
            f"{results}: it has no table or figure in common with {published}; make them with: snakemake all"
        )
    here = machine()
    row = {
        "version": version("eflops"),
        "date": datetime.now(UTC).date().isoformat(),
        "processor": str(here["processor"]),
        "system": str(here["system"]),
        "cores": str(cores),
        "minutes": f"{times['seconds'].astype(float).sum() / 60 / cores if minutes is None else minutes:.0f}",
        "compared": str(difference.compared),
        "moved": str(len(difference.moves)),
    }
    write_text(out, pd.concat([_rows(out), pd.DataFrame([row])]).to_csv(index=False))
    return row


def _rows(path: Path) -> pd.DataFrame:
    """The rows of the table; none if it does not exist."""
    rows = pd.read_csv(path, dtype=str, keep_default_na=False) if path.exists() else pd.DataFrame(columns=COLUMNS)
    if tuple(rows) != COLUMNS:
        raise UserError(f"{path}: its columns should be {', '.join(COLUMNS)}; name another file with --out.")
    return rows
