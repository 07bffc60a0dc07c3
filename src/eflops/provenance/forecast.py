"""What a run would do: which jobs, why each, and how long they would take.

Snakemake's own dry run says which jobs are due. Why is told in plain words: by the keys of the config, the files and
the modules that changed.
"""

import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from eflops.errors import UserError
from eflops.provenance.due import Reasons
from eflops.provenance.show import INDENT
from eflops.provenance.times import Times, told

JOB = re.compile(r"^Job \d+: (?P<title>.+)\nReason: (?P<reason>.*)\nShell command: (?P<command>.*)$", re.MULTILINE)

TITLE = re.compile(r"^Job \d+: ", re.MULTILINE)


@dataclass(frozen=True)
class Due:
    """A job that would run: its command and name (its log's path below the logs), what it does, why, how long."""

    command: str
    name: str
    title: str
    reasons: tuple[str, ...]
    seconds: float | None


@dataclass(frozen=True)
class Forecast:
    """All jobs that would run, and the seconds that they would take on so many cores."""

    jobs: tuple[Due, ...]
    cores: int
    seconds: float
    unknown: int

    def as_json(self) -> dict[str, Any]:
        """The forecast as JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        if not self.jobs:
            return "Nothing would run: everything is up to date."
        lines = []
        for reasons, jobs in self._by_reason():
            lines.append("; ".join(reasons)[:1].upper() + "; ".join(reasons)[1:] + ":")
            lines += [f"{INDENT}{job.title} ({told(job.seconds)})" for job in jobs]
        counts = Counter(job.command for job in self.jobs)
        kinds = ", ".join(f"{count} {command}" for command, count in counts.items())
        unknown = f"; {self.unknown} jobs never ran before and are not counted" if self.unknown else ""
        time = f"about {told(self.seconds)} on {self.cores} cores{unknown}"
        return "\n".join([*lines, f"{len(self.jobs)} jobs would run ({kinds}): {time}."])

    def _by_reason(self) -> Iterator[tuple[tuple[str, ...], list[Due]]]:
        """The jobs that run for the same reasons, together."""
        groups: dict[tuple[str, ...], list[Due]] = {}
        for job in self.jobs:
            groups.setdefault(job.reasons, []).append(job)
        yield from groups.items()


def forecast(arguments: Sequence[str], cores: int | None = None) -> Forecast:
    """What `snakemake` with these arguments would do."""
    return read_plan(dry_run(arguments), cores or os.cpu_count() or 1)


def dry_run(arguments: Sequence[str]) -> str:
    """What Snakemake says it would do."""
    # The profile hides reasons; naming something else to hide shows them again.
    shown = ["--dry-run", "--printshellcmds", "--nocolor", "--quiet", "host"]
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *shown]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()
        raise UserError(f"snakemake cannot plan this run: {' '.join(last[-3:])}")
    return f"{done.stdout}\n{done.stderr}"


def read_plan(text: str, cores: int) -> Forecast:
    """The forecast that follows from a dry run's text."""
    found = [(match["title"], match["reason"], shlex.split(match["command"])) for match in JOB.finditer(text)]
    if len(found) != len(TITLE.findall(text)):
        raise UserError("snakemake's plan has a form that this version cannot read; see: snakemake --dry-run")
    if not found:
        return Forecast((), cores, 0.0, 0)
    results = _results_of(found[0][2])
    reasons, times = Reasons(results), Times(results)
    jobs = []
    for title, reason, words in found:
        command, name = command_of(words), name_of(words)
        why, share = reasons.of(command, words, reason)
        jobs.append(Due(command, name, title, why, times.of(command, name, share)))
    known = [(job.command, job.seconds) for job in jobs if job.seconds is not None]
    return Forecast(tuple(jobs), cores, times.together(known, cores), len(jobs) - len(known))


def command_of(words: Sequence[str]) -> str:
    """Which of our commands a job runs."""
    return next((word for before, word in pairwise(words) if before == "eflops"), "")


def name_of(words: Sequence[str]) -> str:
    """A job's name: its log below the logs, which its benchmark shares."""
    return _log(words).partition("/logs/")[2].removesuffix(".log")


def _results_of(words: Sequence[str]) -> Path:
    return Path(_log(words).partition("/logs/")[0])


def _log(words: Sequence[str]) -> str:
    return words[words.index(">") + 1] if ">" in words else ""
