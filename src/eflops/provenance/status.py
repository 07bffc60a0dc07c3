"""Planned runs compared with the existing records: missing and stale ones with the reason, and the duration of jobs."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from eflops.analysis.gather import origin_change
from eflops.config.jobs import training_jobs
from eflops.config.models import Config
from eflops.data.job import job_of
from eflops.errors import UserError
from eflops.provenance.times import whole_run
from eflops.results import record


@dataclass
class Status:
    """Planned runs by experiment: how many are planned, missing or stale, and why."""

    results: Path
    planned: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    stale: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every planned run has an up-to-date record."""
        return not self.missing and not self.stale


def status_of(config: Config, results: Path) -> Status:
    """Compare every planned run with its record."""
    status = Status(results)
    for _, spec in training_jobs(config):
        job = job_of(spec, results)
        name = spec.experiment
        for run in job.runs:
            status.planned[name] += 1
            path = job.folder / run.path
            if not path.exists():
                status.missing[name] += 1
                continue
            try:
                entry = record.read(path)
                origin = job.origin(run)
                current = record.key(entry.run, entry.origin) == record.key(job.spec.identity(run), origin)
                why = "" if current else origin_change(entry, origin)
            except (UserError, FileNotFoundError) as error:
                why = str(error)
            if why:
                status.stale.setdefault(name, Counter())[why] += 1
    return status


def as_text(status: Status) -> str:
    """One line per experiment, the reasons below it, and what to do."""
    width = max(map(len, status.planned), default=0)
    lines = []
    for name, count in status.planned.items():
        missing, stale = status.missing[name], sum(status.stale.get(name, Counter()).values())
        words = [f"{count - missing - stale} of {count} runs complete"]
        words += [f"{missing} missing"] if missing else []
        words += [f"{stale} stale"] if stale else []
        lines.append(f"{name:{width}}  {', '.join(words)}")
        lines += [f"{'':{width}}    {number} runs: {why}" for why, number in status.stale.get(name, Counter()).items()]
    if not status.complete:
        lines += [
            "",
            "Make missing and stale runs with: snakemake --cores 2 all (those of searches: snakemake --cores 2 search)",
        ]
    took = whole_run(status.results)
    return "\n".join([*lines, *(["", took] if took else [])])
