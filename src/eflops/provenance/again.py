"""How a run is made again: the job and the command that follow from its record alone."""

import shlex
from typing import Any

from eflops.config.cells import Run
from eflops.files import canonical_json
from eflops.record import Record


def run_of(record: Record) -> Run:
    """The run within its cell."""
    return Run(record.run.variant, record.run.draw, record.run.seed)


def job_of(record: Record) -> dict[str, Any]:
    """The cell's slice of the config as it was, with this run's settings as the only variant."""
    return {**record.origin.job, "variants": {record.run.variant: record.origin.settings}}


def record_path(record: Record) -> str:
    """Where the record lies below the runs folder."""
    return f"{record.run.experiment}/{record.origin.job['ratio']}/{record.run.method}/{run_of(record).path}"


def train_command(record: Record, data: str = "results/data", folder: str = "again") -> str:
    """The command that trains this run again, without any config file; its record is written below `folder`."""
    words = ["python", "-m", "eflops", "train", "--job", canonical_json(job_of(record)), "--data", data]
    return shlex.join([*words, "--folder", folder, run_of(record).path])
