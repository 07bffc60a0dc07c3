"""The processes of a federation: a SuperLink, a SuperNode for every client, and Flower's own commands.

Every connection is encrypted under the deployment's own authority, and the SuperLink takes only nodes whose key it was
told. Flower's files lie in the deployment's folder, not in the user's home.
"""

import json
import socket
import ssl
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.error import URLError

from eflops.deploy.deployment import HOST
from eflops.deploy.processes import Processes
from eflops.errors import UserError
from eflops.files import write_text

SUPERLINK = "superlink"
START_SECONDS = 60.0
POLL_SECONDS = 0.2
# Flower looks for new tasks every second; on one machine that is a good part of a round.
BRISK = {"FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1"}


class Network:
    """A SuperLink and what connects to it, as processes of this machine."""

    def __init__(self, server: Path, processes: Processes) -> None:
        self.processes, self.certificates = processes, (server / "certificates").resolve()
        self.home = {"FLWR_HOME": str((server / "flower").resolve())}
        self.port = free_port()

    def start_superlink(self) -> None:
        """Start the SuperLink and wait until it answers."""
        files = {"certfile": "server.crt", "keyfile": "server.key", "ca-certfile": "ca.crt"}
        command = ["flower-superlink", "--host", HOST, "--port", str(self.port), "--enable-supernode-auth"]
        for option, name in files.items():
            command += [f"--ssl-{option}", str(self.certificates / name)]
        started = self.processes.start(
            SUPERLINK, [*command, "--disable-runtime-dependency-installation"], {**self.home, **BRISK}
        )
        context = ssl.create_default_context(cafile=str(self.certificates / "ca.crt"))
        deadline = time.monotonic() + START_SECONDS
        while not _answers(f"https://{HOST}:{self.port}/health", context):
            if started.poll() is not None or time.monotonic() > deadline:
                raise UserError(f"the SuperLink did not start:\n{self.processes.last_words(SUPERLINK)}")
            time.sleep(POLL_SECONDS)
        write_text(Path(self.home["FLWR_HOME"]) / "config.toml", self._connection())

    def register(self, keys: Sequence[Path]) -> None:
        """Tell the SuperLink the public keys of the nodes that may connect."""
        commands = {f"register-{key.stem}": ["supernode", "register", str(key), SUPERLINK] for key in keys}
        for name, arguments in commands.items():
            self.processes.start(name, ["flwr", *arguments], self.home)
        for name in commands:
            self._wait(name)

    def start_node(self, folder: Path, client: int, *, authenticated: bool = True) -> None:
        """Start a client's node; without authentication it has no key to show."""
        config = f"client={client} data={json.dumps(str((folder / 'data').resolve()))}"
        command = ["flower-supernode", "--superlink", f"{HOST}:{self.port}"]
        command += ["--root-certificates", str((folder / "ca.crt").resolve())]
        command += ["--host", HOST, "--port", str(free_port()), "--node-config", config]
        if authenticated:
            command += ["--auth-supernode-private-key", str((folder / "key").resolve())]
        home = {"FLWR_HOME": str((folder / "flower").resolve())}
        self.processes.start(folder.name, command, {**home, **BRISK})

    def run(self, app: Path, say: Callable[[str], None]) -> None:
        """Run an app from beginning to end; `say` gets what its server says, line by line."""
        self.processes.start("run", ["flwr", "run", str(app.resolve()), SUPERLINK, "--stream"], self.home)
        with open(self.processes.log("run"), encoding="utf-8", errors="replace") as log:

            def forward() -> None:
                for line in log.read().splitlines():
                    say(line)

            self._wait("run", forward)

    def _wait(self, name: str, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Wait for a command of Flower's as long as the SuperLink lives."""
        running = self.processes.running
        while running[name].poll() is None:
            # Asking all also lets go of those that died, so that what they started notices and ends too.
            ended = [other for other, process in running.items() if process.poll() is not None]
            if SUPERLINK in ended:
                raise UserError(f"the SuperLink ended:\n{self.processes.last_words(SUPERLINK)}")
            meanwhile()
            time.sleep(POLL_SECONDS)
        meanwhile()
        if running[name].returncode != 0:
            raise UserError(f"flwr {name} failed:\n{self.processes.last_words(name)}")

    def _connection(self) -> str:
        return f"""[superlink]
default = "{SUPERLINK}"

[superlink.{SUPERLINK}]
address = "{HOST}:{self.port}"
root-certificates = {json.dumps(str(self.certificates / "ca.crt"))}
insecure = false
"""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _answers(address: str, context: ssl.SSLContext) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5, context=context) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False
