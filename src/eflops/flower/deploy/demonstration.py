"""The hosts of a federation on this machine: starts exactly the commands that were written for them, and stops them."""

import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError

from eflops.errors import UserError
from eflops.flower.deploy.hosts import NODE_COMMANDS, SERVER_COMMANDS, Hosts

START_SECONDS = 60.0
POLL_SECONDS = 0.2
GRACE_SECONDS = 10.0
STARTED = "Successfully started run"


class Demonstration:
    """Commands as background processes, each a group of its own with a log beside it."""

    def __init__(self, hosts: Hosts) -> None:
        self.hosts = hosts
        self.running: dict[Path, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Demonstration":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(self, say: Callable[[str], None]) -> None:
        """The whole federation from start to end; `say` gets what the server says, line by line."""
        superlink, run = (self.hosts.server / name for name in SERVER_COMMANDS)
        self.start(superlink)
        self._wait(lambda: self._answers() or superlink not in self._alive(), START_SECONDS, "the SuperLink", superlink)
        self.start(run)
        with open(log_of(run), encoding="utf-8", errors="replace") as log:
            said: list[str] = []

            def read() -> bool:
                for line in log.read().splitlines():
                    said.append(line)
                    say(line)
                return run not in self._alive()

            self._wait(lambda: read() or any(STARTED in line for line in said), START_SECONDS, "flwr run", run)
            for node in self.hosts.nodes:
                for name in NODE_COMMANDS:
                    self.start(node / name)
            self._wait(lambda: read() or superlink not in self._alive(), None, "the run", run)
            read()

    def start(self, command: Path) -> None:
        """Start a host's command, with the programs of this Python environment."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        with open(log_of(command), "wb") as log:
            self.running[command] = subprocess.Popen(
                [str(command.resolve())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )

    def stop(self) -> None:
        """Ask all commands and what they started to end, wait, and end those that did not."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in self.running.values():
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
            deadline = time.monotonic() + GRACE_SECONDS
            while any(_group_lives(process) for process in self.running.values()) and time.monotonic() < deadline:
                time.sleep(POLL_SECONDS)
        self.running.clear()

    def _alive(self) -> set[Path]:
        return {command for command, process in self.running.items() if process.poll() is None}

    def _wait(self, done: Callable[[], bool], seconds: float | None, what: str, command: Path) -> None:
        deadline = time.monotonic() + (seconds or float("inf"))
        while not done():
            if time.monotonic() > deadline:
                raise UserError(f"{what} did not start; see {log_of(command)}")
            time.sleep(POLL_SECONDS)

    def _answers(self) -> bool:
        context = ssl.create_default_context(cafile=str(self.hosts.server / "certificates" / "ca.crt"))
        try:
            with urllib.request.urlopen(
                f"https://127.0.0.1:{self.hosts.port}/health", timeout=5, context=context
            ) as it:
                return bool(it.status == 200)
        except (URLError, OSError):
            return False


def log_of(command: Path) -> Path:
    """Where a command writes what it has to say."""
    return command.with_suffix(".log")


def _group_lives(process: "subprocess.Popen[bytes]") -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True
