"""Shared code of the rules' scripts: the log, the progress in it, and one sentence for each error."""

import errno
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eflops import trust
from eflops.errors import UserError
from eflops.files import write_text
from eflops.results.specs import read_wanted

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# How lines of a log begin that a person should see although the job went well.
WARNING = b"warning: "
LINE_SECONDS = 5.0
BAR = 30


@contextmanager
def run_job(snakemake: Any) -> Iterator[dict[str, Any]]:
    """Run a rule's job: log its output, pass it the values of its spec, and store the spec when it is done.

    snakemake: the object that Snakemake passes to scripts. The job's input and output have a file `spec` each, and
    `params.spec` is the digest of the spec that was planned.
    """
    with logged(snakemake.log[0]):
        text = read_wanted(Path(snakemake.input.spec), snakemake.params.spec)
        yield json.loads(text)
        # Last: a job that was killed before leaves no spec, so that it is due.
        write_text(Path(snakemake.output.spec), text)


@contextmanager
def logged(log: str) -> Iterator[None]:
    """Redirect all output, including that of subprocesses, to the job's log; an error ends the job."""
    sys.path.extend(filter(None, os.environ.get("EFLOPS_OWN", "").split(os.pathsep)))
    # Snakemake's standard error, for warnings that a person should see although the job went well.
    terminal = os.dup(2)
    try:
        _send_to(Path(log))
        with trust.session():
            # Custom methods, data sets and products lie where the workflow found them; it runs what its config names.
            trust.allow_all()
            yield
        used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        seconds = round(sum(each.ru_utime + each.ru_stime for each in used), 2)
        # Snakemake's own benchmark looks at a job now and then and misses its end.
        write_text(Path(log).with_suffix(".json"), json.dumps({"cpu_seconds": seconds}) + "\n")
        sys.stdout.flush()
        sys.stderr.flush()
        warnings = [line for line in Path(log).read_bytes().splitlines(keepends=True) if line.startswith(WARNING)]
        os.write(terminal, b"".join(warnings))
    except (Exception, KeyboardInterrupt) as error:
        _say(_words(error, Path(log).parent), terminal)
        sys.exit(1)


def _send_to(log: Path) -> None:
    """Redirect standard output and standard error of this process to a file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    with open(log, "wb") as stream:
        # By file descriptor and not by sys.stdout, so that output of compiled libraries and subprocesses is in the log
        # too.
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)


def _words(error: BaseException, folder: Path) -> str:
    """The error message of a job: a sentence for what the user can fix, with the traceback for anything else."""
    if isinstance(error, KeyboardInterrupt):
        return "eflops: stopped; finished records are kept, and the same command continues from there."
    if isinstance(error, UserError):
        return f"eflops: {error}"
    if isinstance(error, OSError) and error.errno in FULL:
        return (
            f"eflops: the disk of {folder.resolve()} is full ({os.strerror(error.errno)}); free some space and run the"
            " same command again: finished files are kept, and no partial file is left."
        )
    return f"{''.join(traceback.format_exception(error))}eflops: {type(error).__name__}: {error}"


def _say(words: str, terminal: int) -> None:
    """Print to the log, or to the terminal if the log cannot be written."""
    try:
        sys.stdout.flush()
        print(words, file=sys.stderr, flush=True)
    except OSError:
        os.write(terminal, f"{words}\n".encode())


def progress(title: str) -> Callable[[str, int, int, float], None]:
    """A reporter of a block's rounds: a progress bar on a terminal, a line every few seconds in a log."""
    started, last = time.monotonic(), [0.0]

    def report(phase: str, round_: int, total: int, metric: float) -> None:
        now = time.monotonic()
        finished = round_ >= total
        if not finished and now - last[0] < (0.2 if sys.stderr.isatty() else LINE_SECONDS):
            return
        last[0] = now
        left = (now - started) / round_ * (total - round_)
        text = f"{title}: {phase} round {round_}/{total}, mean {metric:.3f}, {left:.0f} s left"
        if sys.stderr.isatty():
            done = BAR * round_ // total
            print(f"\r[{'#' * done}{'.' * (BAR - done)}] {text}\033[K", end="\n" if finished else "", file=sys.stderr)
        else:
            print(text, file=sys.stderr, flush=True)

    return report
