"""How long past jobs took: the benchmark files of a results folder, also as one small table for publishing."""

from pathlib import Path

import pandas as pd

from eflops.files import write_text
from eflops.results import paths
from eflops.script import CPU_SECONDS

FOLDER = "benchmarks"
TABLE = "benchmarks.csv"


def read(folder: Path) -> pd.DataFrame:
    """Seconds and peak memory of every past job, by its name (the log's path below the logs), one row per job."""
    packed, loose = folder / TABLE, folder / FOLDER
    if not loose.is_dir() and packed.exists():
        return pd.read_csv(packed)
    rows = [_row(path, loose) for path in sorted(loose.rglob("*.tsv"))]
    return pd.DataFrame(rows, columns=["job", "seconds", "cpu_seconds", "memory_mb"])


def write(folder: Path, out: Path) -> None:
    """Write the benchmarks of a results folder as one table."""
    write_text(out / TABLE, read(folder).to_csv(index=False))


def _row(path: Path, folder: Path) -> list[object]:
    measured = pd.read_csv(path, sep="\t").mean(numeric_only=True)
    name = path.relative_to(folder).with_suffix("").as_posix()
    used = _cpu_seconds(folder.parent / paths.LOG.format(job=name))
    seconds, sampled, memory = (round(float(measured[column]), 2) for column in ("s", "cpu_time", "max_rss"))
    return [name, seconds, sampled if used is None else used, memory]


def _cpu_seconds(log: Path) -> float | None:
    """What a job's script said at its end that it used; None where it did not."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return float(lines[-1].removeprefix(CPU_SECONDS)) if lines and lines[-1].startswith(CPU_SECONDS) else None
