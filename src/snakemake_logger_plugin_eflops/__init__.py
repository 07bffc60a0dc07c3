"""What Snakemake prints while our workflow runs: one line per job, how many there are and how long it will take.

Snakemake finds this package by its name, and profiles/default asks for it. Errors are printed in full, with the end of
the failed job's log; a dry run and all else look as ever. The complete log is kept by Snakemake itself.
"""

import sys
import time
from collections import deque
from dataclasses import dataclass, field
from logging import WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake.logging import ColorizingTextHandler, DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from eflops.script import STOPPED

SILENT = {LogEvent.PROGRESS, LogEvent.JOB_STARTED, LogEvent.SHELLCMD, LogEvent.WORKFLOW_STARTED, LogEvent.RULEGRAPH}
# What Snakemake says of its own work, which tells the user nothing.
NOISE = (
    "Assuming unrestricted shared filesystem",
    "Using shell:",
    "Conda environments: ignored",
    "Select jobs to execute",
    "Execute ",
    "Elapsed time:",
)
# Snakemake reads overlays before the Snakefile, and names neither the file nor the line of a broken one.
BROKEN = "Config file is not valid JSON or YAML"
# After Ctrl-C Snakemake tells of every job that it stopped as of an error.
STOPPING = "Terminating processes on user request"
OF_STOPPED = ("RuleException", "WorkflowError:\nAt least one job did not complete")
KEPT = (
    "Stopping. What is finished is kept, and the same command goes on from there; should Snakemake find the folder"
    " locked then: snakemake --unlock"
)
TAIL = 20
WARNED = "warning: "
# The seconds of a job whose rule has not ended any yet, where nothing else is known.
UNKNOWN = 3.0


@dataclass
class Clock:
    """The jobs of a run: those that wait by rule, those that run, and what the finished ones of each rule took."""

    waiting: dict[str, int]
    cores: int = 1
    running: dict[int, tuple[str, float]] = field(default_factory=dict)
    taken: dict[str, list[float]] = field(default_factory=dict)

    def started(self, job: int, rule: str, now: float) -> None:
        """A job begins."""
        self.waiting[rule] = max(self.waiting.get(rule, 0) - 1, 0)
        self.running[job] = rule, now

    def finished(self, job: int, now: float) -> None:
        """A job is done; one that was never begun, such as a target, is none."""
        if job in self.running:
            rule, since = self.running.pop(job)
            self.taken.setdefault(rule, []).append(now - since)

    def left(self, now: float) -> float | None:
        """The seconds until all jobs are done; None until a tenth of the jobs of some heavy rule are done."""
        if not any(self._known(rule) for rule in self.taken):
            return None
        begun = [max(self._mean(rule) - (now - since), 0.0) for rule, since in self.running.values()]
        work = sum(begun) + sum(self._mean(rule) * count for rule, count in self.waiting.items())
        return max([work / self.cores, *begun])

    def _known(self, rule: str) -> bool:
        """Whether enough jobs of the rule that has the most left are done to say anything."""
        most = max(self.waiting, key=lambda each: self.waiting[each], default=rule)
        done = len(self.taken.get(most, []))
        return done >= 3 and done >= 0.1 * (done + self.waiting.get(most, 0))

    def _mean(self, rule: str) -> float:
        """The seconds of a rule's job."""
        taken = self.taken.get(rule)
        return sum(taken) / len(taken) if taken else UNKNOWN


class LogHandler(LogHandlerBase):
    """Prints the progress of a run."""

    def __post_init__(self) -> None:
        stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.plain = ColorizingTextHandler(self.common_settings.nocolor, stream)
        self.clock: Clock | None = None
        self.waiting: dict[str, int] = {}
        self.logs: dict[int, list[str]] = {}
        self.cores, self.begun, self.done, self.total = 1, 0, 0, 0
        self.since = time.monotonic()
        self.stopping = False

    def setFormatter(self, fmt: Any) -> None:
        """Snakemake's own formatter serves all that is not said otherwise here."""
        super().setFormatter(fmt)
        self.plain.setFormatter(fmt)

    def emit(self, record: LogRecord) -> None:
        """Print what is worth it of a record."""
        try:
            text = self._text(record)
        except Exception:  # a message that cannot be told our way is told Snakemake's way
            self.plain.emit(record)
            return
        if text is None:
            self.plain.emit(record)
        elif text:
            print(text, file=self.plain.stream, flush=True)

    def _text(self, record: LogRecord) -> str | None:
        """Our words; empty to say nothing, None to leave it to Snakemake."""
        event: Any = getattr(record, "event", None)
        tell = {
            LogEvent.RESOURCES_INFO: self._resources,
            LogEvent.RUN_INFO: self._run,
            LogEvent.JOB_INFO: self._job,
            LogEvent.JOB_FINISHED: self._finished,
            LogEvent.JOB_ERROR: self._error,
        }.get(event)
        if BROKEN in str(record.msg):
            return _broken(sys.argv[1:])
        if self.common_settings.dryrun or (event == LogEvent.SHELLCMD and self.common_settings.printshellcmds):
            return None
        if tell:
            return tell(vars(record))
        if str(record.msg).startswith(STOPPING):
            self.stopping = True
            return KEPT
        if self.stopping and str(record.msg).startswith(OF_STOPPED):
            return ""
        noise = event is None and record.levelno < WARNING and str(record.msg or "").startswith(NOISE)
        return "" if noise or event in SILENT else None

    def _resources(self, said: dict[str, Any]) -> str:
        self.cores = said.get("cores") or said.get("nodes") or self.cores
        return ""

    def _run(self, said: dict[str, Any]) -> str:
        """The jobs of the run, by rule."""
        self.waiting = {rule: count for rule, count in said["stats"].items() if rule != "total"}
        self.total = sum(self.waiting.values())
        return f"{self.total} jobs on {self.cores} {'core' if self.cores == 1 else 'cores'}."

    def _job(self, said: dict[str, Any]) -> str:
        """A job begins."""
        now = time.monotonic()
        self.clock = self.clock or Clock(dict(self.waiting), self.cores)
        left = self.clock.left(now)
        self.clock.started(said["jobid"], said["rule_name"], now)
        self.begun += 1
        self.logs[said["jobid"]] = list(said.get("log") or [])
        words = said["rule_msg"] or f"{said['rule_name']} is complete"
        time_left = "" if left is None else f", about {_about(left)} left"
        width = len(str(self.total))
        return f"[{self.begun:{width}}/{self.total}] {time.strftime('%H:%M')}{time_left}: {words}"

    def _finished(self, said: dict[str, Any]) -> str:
        """A job is done: what it warned of; after the last one the time of them all."""
        if self.clock:
            self.clock.finished(said["job_id"], time.monotonic())
        self.done += 1
        warnings = [line for log in self.logs.pop(said["job_id"], []) for line in _warnings(Path(log))]
        taken = _about(time.monotonic() - self.since)
        return "\n".join([*warnings, *([f"All {self.total} jobs done in {taken}."] if self.done == self.total else [])])

    def _error(self, said: dict[str, Any]) -> str:
        """A job failed: what Snakemake says of it, and the end of its logs, where the cause stands."""
        shown = DefaultFormatter(self.common_settings.quiet, show_failed_logs=False)
        ends = {path: _end(Path(path)) for path in said["log"]}
        if any(STOPPED in end for end in ends.values()):
            return f"Stopped: a job of rule {said['rule_name']}"
        return "\n".join([shown.format_job_error(said), *(f"The end of {path}:\n{ends[path]}" for path in ends)])

    @property
    def writes_to_stream(self) -> bool:
        return True

    @property
    def writes_to_file(self) -> bool:
        return False

    @property
    def has_filter(self) -> bool:
        return False

    @property
    def has_formatter(self) -> bool:
        return False

    @property
    def needs_rulegraph(self) -> bool:
        return False


def _about(seconds: float) -> str:
    """A time as exact as a guess can be."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _broken(arguments: list[str]) -> str | None:
    """What is wrong with the config files among the arguments; None if nothing is found."""
    from eflops.config.load import read_yaml
    from eflops.config.messages import ConfigError

    mistakes: list[str] = []
    for path in (argument.rpartition("=")[2] for argument in arguments if argument.endswith((".yaml", ".yml"))):
        try:
            read_yaml(Path(path))
        except ConfigError as error:
            mistakes += error.mistakes
    return "\n".join(f"config: {mistake}" for mistake in mistakes) or None


def _warnings(log: Path) -> list[str]:
    """What a job that is done warned of, which nobody would look for in its log."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    return [line for line in lines if line.startswith(WARNED)]


def _end(log: Path) -> str:
    """The last lines of a log."""
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            return "".join(f"    {line}" for line in deque(lines, TAIL)) or "    (it is empty)"
    except OSError:
        return "    (there is none)"
