"""How a number or a run is made again: the job that follows from a record alone, and the commands to type."""

import shlex
from typing import Any

from eflops.config.models import with_present_names
from eflops.results.labels import Run
from eflops.training.record import Record

RESULTS = "results"


def run_of(record: Record) -> Run:
    """The run within its cell."""
    return Run(record.run.variant, record.run.draw, record.run.seed)


def job_of(record: Record) -> dict[str, Any]:
    """The cell's slice of the config as it was, with this run's settings as the only variant."""
    return {**record.origin.job, "variants": {record.run.variant: with_present_names(record.origin.settings)}}


def record_path(record: Record) -> str:
    """Where the record lies below the runs folder."""
    return f"{record.run.experiment}/{record.origin.job['ratio']}/{record.run.method}/{run_of(record).path}"


def verify_command(results: str, *words: str) -> str:
    """The command that trains runs behind a number, or one run, again and compares."""
    file, *rest = words
    return shlex.join(["eflops", "verify", f"{results}/{file}", *rest])


def make_command(place: str) -> str:
    """The command that makes a file of the results with all that it needs."""
    return shlex.join(["snakemake", "--cores", "2", f"{RESULTS}/{place}"])
