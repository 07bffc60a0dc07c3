"""What jobs ask a cluster for: the most that jobs like them were measured to take, with head room.

The table of measurements is tracked, so that a fresh clone asks for the right sizes before it has run anything.
"""

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = Path("workflow/resources.csv")
COLUMNS = ("jobs", "measured", "seconds", "memory_mb")
# For jobs of which none was measured.
UNKNOWN_MINUTES, UNKNOWN_MB = 240, 4000
# A node may be slower and busier than the machine of the measurement, and a job holds Snakemake itself twice.
TIMES_SECONDS, LEAST_MINUTES = 5, 10
TIMES_MEMORY, SNAKEMAKE_MB = 2, 500

Request = Callable[[Any, int], int]


@dataclass(frozen=True)
class Requests:
    """Measured seconds and memory by kind of job, such as `train/golub_runs` or `data/synthetic`."""

    measured: dict[str, tuple[float, float]]

    def memory(self, kind: str) -> Request:
        """Memory in MB, as a rule's resource: more at each attempt; `kind` may name wildcards."""

        def request(wildcards: Any, attempt: int) -> int:
            _, memory = self._of(kind, wildcards)
            return attempt * (round(TIMES_MEMORY * memory) + SNAKEMAKE_MB if memory else UNKNOWN_MB)

        return request

    def minutes(self, kind: str) -> Request:
        """Minutes, as a rule's resource: more at each attempt; `kind` may name wildcards."""

        def request(wildcards: Any, attempt: int) -> int:
            seconds, _ = self._of(kind, wildcards)
            return attempt * (
                max(LEAST_MINUTES, math.ceil(TIMES_SECONDS * seconds / 60)) if seconds else UNKNOWN_MINUTES
            )

        return request

    def _of(self, kind: str, wildcards: Any) -> tuple[float, float]:
        return self.measured.get(kind.format(**dict(wildcards.items())), (0.0, 0.0))


def read(table: Path) -> Requests:
    """The measurements of a table."""
    return Requests({row["jobs"]: (float(row["seconds"]), float(row["memory_mb"])) for row in _rows(table)})


def measure(results: Path, table: Path) -> int:
    """Write the table from the benchmark files of a results folder, keeping what that did not run; how many kinds."""
    from eflops.files import write_text
    from eflops.provenance import benchmarks

    past = benchmarks.read(results)
    past = past[past["job"].str.count("/") > 1]
    past = past.assign(jobs=past["job"].str.split("/").str[:2].str.join("/"))
    found = past.groupby("jobs").agg(
        measured=("job", "size"), seconds=("seconds", "max"), memory_mb=("memory_mb", "max")
    )
    rows = {str(row["jobs"]): row for row in _rows(table)} | {
        str(jobs): {"jobs": str(jobs), **values} for jobs, values in found.to_dict("index").items()
    }
    lines = [",".join(COLUMNS), *(",".join(str(rows[jobs][name]) for name in COLUMNS) for jobs in sorted(rows))]
    write_text(table, "\n".join(lines) + "\n")
    return len(found)


def _rows(table: Path) -> list[dict[str, str]]:
    if not table.exists():
        return []
    with open(table, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
