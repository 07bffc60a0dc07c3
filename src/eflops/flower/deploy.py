"""`eflops deploy`: the folders and commands of a federation's hosts, and a demonstration of them on this machine."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path

from flwr.common.config import parse_config_args

from eflops.errors import UserError
from eflops.flower.hosts import NODE_COMMANDS, SERVER_COMMANDS, Hosts
from eflops.flower.plan import make_draw, plan

ADDRESS = re.compile(r"[\w.:-]+", re.ASCII)
START_SECONDS = 300.0
POLL_SECONDS = 0.2
GRACE_SECONDS = 10.0
STARTED = "Successfully started run"


def prepare(
    run_config: str,
    addresses: Sequence[str],
    port: int,
    config: Sequence[Path],
    folder: Path,
    start: bool,
    listen: str | None = None,
) -> None:
    """Write the folder of each host, print the commands to run there, and start them here if requested."""
    for name in filter(None, [*addresses, listen]):
        if not ADDRESS.fullmatch(name):
            raise UserError(f"--address: {name!r} is neither a host name nor an IP address.")
    flower_run = plan(parse_config_args([run_config]), Path.cwd(), config)
    hosts = Hosts(
        folder, flower_run, None if flower_run.run_config.data else make_draw(flower_run), addresses, port, listen
    )
    # The label stands in the nodes' commands, between quotes of the shell and of Flower.
    if odd := sorted({*"\"'$`\\\n"} & {*flower_run.run_config.label}):
        raise UserError(f"--run-config: label contains {odd[0]!r}, which a shell would change; rename the column.")
    _make_room(folder)
    hosts.prepare(config)
    for host in (hosts.server, *hosts.nodes):
        print(f"{host}: " + ", then ".join(str(path) for path in sorted(host.glob("*.sh"), reverse=True)))
    if not start:
        return
    # Being asked to end is an exception, so that all is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Demonstration(hosts) as demonstration:
        demonstration.run(lambda line: print(line, flush=True))
    if not any((hosts.server / flower_run.run_config.results).glob("runs/**/*.json")):
        raise UserError(f"the run failed; see the logs in {hosts.folder}")


def _make_room(folder: Path) -> None:
    """Remove an earlier deployment; refuse to remove anything else."""
    if (folder / "server" / "app").exists():
        shutil.rmtree(folder)
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"--folder {folder} contains other files; name an empty or new folder.")


class Demonstration:
    """The hosts' commands as background processes, each in its own process group with a log."""

    def __init__(self, hosts: Hosts) -> None:
        self.hosts = hosts
        self.running: dict[Path, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Demonstration":
        return self

    def __exit__(self, *_: object) -> None:
        """Terminate all commands and their children, wait for the commands, and kill what is left."""
        for process in self.running.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        for process in self.running.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def start(self, command: Path) -> None:
        """Start a host's command, with the programs of this Python environment."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        # A session of its own, so that one signal reaches the command and all that it started.
        with open(log_of(command), "wb") as log:
            self.running[command] = subprocess.Popen(
                [str(command.resolve())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )

    def run(self, say: Callable[[str], None]) -> None:
        """Run the whole federation; `say` gets the server's output line by line."""
        superlink, run = (self.hosts.server / name for name in SERVER_COMMANDS)
        self.start(superlink)
        deadline = time.monotonic() + START_SECONDS
        while self._runs(superlink) and not self._superlink_answers():
            if time.monotonic() > deadline:
                raise UserError(f"the SuperLink did not start; see {log_of(superlink)}")
            time.sleep(POLL_SECONDS)
        self.start(run)
        with open(log_of(run), encoding="utf-8", errors="replace") as log:
            runs = True
            while runs:
                # What was said before the end is read after it.
                runs = self._runs(superlink) and self._runs(run)
                for line in log.read().splitlines():
                    say(line)
                    # Not earlier: run.sh registers the nodes' keys, and the SuperLink rejects a node whose key it does
                    # not know.
                    if STARTED in line:
                        for node, name in product(self.hosts.nodes, NODE_COMMANDS):
                            self.start(node / name)
                time.sleep(POLL_SECONDS)

    def _runs(self, command: Path) -> bool:
        return self.running[command].poll() is None

    def _superlink_answers(self) -> bool:
        try:
            with socket.create_connection((self.hosts.local, self.hosts.port), timeout=5):
                return True
        except OSError:
            return False


def log_of(command: Path) -> Path:
    """The log file of a command."""
    return command.with_suffix(".log")
