"""How a run is made again: the job and the command that follow from its record alone."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
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


def data_command(settings: Mapping[str, Any], out: str) -> str:
    """The command that makes a data draw again from the settings in its manifest."""
    own = {key: value for key, value in settings.items() if key not in ("ratio", "draw")}
    words = ["python", "-m", "eflops", "data", "--settings", canonical_json(own), "--ratio", str(settings["ratio"])]
    raw = ["--raw", f"resources/{own['source']}"] if own.get("source") else []
    return shlex.join([*words, "--draw", str(settings["draw"]), *raw, "--out", out])


def train_commands(records: Iterable[Record], data: str = "results/data", folder: str = "again") -> list[str]:
    """The commands that train these runs again, without any config file; their records are written below `folder`."""
    cells: dict[str, list[Record]] = {}
    for record in records:
        cells.setdefault(canonical_json(record.origin.job), []).append(record)
    return [_train_command(members, data, folder) for members in cells.values()]


def _train_command(records: Sequence[Record], data: str, folder: str) -> str:
    first = records[0]
    job = {**first.origin.job, "variants": {record.run.variant: record.origin.settings for record in records}}
    place = f"{folder}/{record_path(first).removesuffix('/' + run_of(first).path)}"
    words = ["python", "-m", "eflops", "train", "--job", canonical_json(job), "--data", data, "--folder", place]
    return shlex.join([*words, *(run_of(record).path for record in records)])
