"""Processes of a deployment: each with a log and a group of its own, and all of them stopped with what they started."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from eflops.engines.flower import QUIET

GRACE_SECONDS = 10.0


class Processes:
    """Starts named processes and, at the end of a `with`, stops exactly these and their children."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Processes":
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        """Start a command of this Python environment in the background."""
        tools = Path(sys.executable).parent
        path = os.pathsep.join([str(tools), os.environ.get("PATH", "")])
        with open(self.log(name), "wb") as log:
            self.running[name] = subprocess.Popen(
                [str(tools / command[0]), *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **QUIET, "PATH": path, "PYTHONUNBUFFERED": "1", **environment},
                start_new_session=True,
            )
        return self.running[name]

    def log(self, name: str) -> Path:
        """Where a process writes what it has to say."""
        return self.logs / f"{name}.log"

    def last_words(self, name: str, lines: int = 5) -> str:
        """The end of a process's log."""
        text = self.log(name).read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.strip().splitlines()[-lines:])

    def stop(self) -> None:
        """Ask all processes and their children to end, wait, and end those that did not."""
        family = {process for started in self.running.values() for process in _family(started.pid)}
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        _, left = psutil.wait_procs(family, timeout=GRACE_SECONDS)
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left)
        for started in self.running.values():
            started.wait()
        self.running.clear()


def _family(pid: int) -> set[psutil.Process]:
    """A process, its descendants, and its group, where children stay that a dead process left behind."""
    found = set()
    for process in psutil.process_iter():
        with suppress(ProcessLookupError):
            if os.getpgid(process.pid) == pid:
                found.add(process)
    with suppress(psutil.NoSuchProcess):
        found |= {psutil.Process(pid), *psutil.Process(pid).children(recursive=True)}
    return found
