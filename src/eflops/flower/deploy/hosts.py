"""A federation as folders, one for each host: each holds what its owner may see, and the two commands to type there.

server     superlink.sh and run.sh; manifest, test block, certificates, public keys, the app; later the results
node0 ...  supernode.sh and superexec.sh; this client's key, and its block where a draw is dealt out
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eflops.data.federation import Federation
from eflops.files import write_text
from eflops.flower import QUIET
from eflops.flower.deploy.deal import deal
from eflops.flower.deploy.keys import make_certificates, make_node_key
from eflops.flower.plan import Plan

SUPERLINK = "superlink"
SERVER_COMMANDS = ("superlink.sh", "run.sh")
NODE_COMMANDS = ("supernode.sh", "superexec.sh")
# Flower looks for new tasks every second, which is a good part of a round.
BRISK = {"FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.2"}


@dataclass(frozen=True)
class Hosts:
    """The hosts of a federation.

    draw: what is dealt out; None where server and nodes bring files of their own.
    addresses: the server's, by which nodes reach it. port: the server's, and above it the nodes'.
    """

    folder: Path
    plan: Plan
    draw: Federation | None
    addresses: Sequence[str]
    port: int

    @property
    def server(self) -> Path:
        """The server's folder."""
        return self.folder / "server"

    @property
    def nodes(self) -> list[Path]:
        """The folder of each client's node."""
        clients = len(self.draw.clients) if self.draw else self.plan.data["clients"]
        return [self.folder / f"node{client}" for client in range(clients)]

    @property
    def _data(self) -> str:
        """The server's test rows, in its folder."""
        return "." if self.draw else Path(self.plan.told.data).name

    def prepare(self, config: Sequence[Path]) -> None:
        """Deal the data out, make keys and certificates, write the app and each host's commands."""
        if self.draw:
            deal(self.draw, self.plan.made_by, self.server, self.plan.draw_name, self.nodes)
        make_certificates(self.server / "certificates", self.addresses)
        for client, node in enumerate(self.nodes):
            make_node_key(node, self.server / "keys" / f"{node.name}.pub")
            shutil.copyfile(self.server / "certificates" / "ca.crt", node / "ca.crt")
            self._write(node, NODE_COMMANDS, self._node_commands(client))
        write_text(self.server / "app" / "pyproject.toml", self._app(config))
        for path in config:
            shutil.copyfile(path, self.server / "app" / path.name)
        if not self.draw:
            shutil.copyfile(self.plan.told.data, self.server / self._data)
        self._write(self.server, SERVER_COMMANDS, self._server_commands())

    def _server_commands(self) -> tuple[str, str]:
        superlink = f"""exec flower-superlink --host 0.0.0.0 --port {self.port} --enable-supernode-auth \\
  --ssl-certfile certificates/server.crt --ssl-keyfile certificates/server.key --ssl-ca-certfile certificates/ca.crt \\
  --disable-runtime-dependency-installation
"""
        # Flower wants the certificate's absolute path, which only the host knows.
        run = f"""mkdir -p "$FLWR_HOME" && cat > "$FLWR_HOME/config.toml" <<END
[superlink]
default = "{SUPERLINK}"
[superlink.{SUPERLINK}]
address = "127.0.0.1:{self.port}"
root-certificates = "$PWD/certificates/ca.crt"
insecure = false
END
for key in keys/*.pub; do flwr supernode register "$key" {SUPERLINK}; done
exec flwr run app {SUPERLINK} --stream "$@"
"""
        return superlink, run

    def _node_commands(self, client: int) -> tuple[str, str]:
        port = self.port + 1 + client
        rows = "data='$PWD/data'" if self.draw else f"data='$PWD/rows.csv' label='{self.plan.told.label}'"
        supernode = f"""exec flower-supernode --superlink {self.addresses[0]}:{self.port} --root-certificates ca.crt \\
  --auth-supernode-private-key key --isolation process --host 127.0.0.1 --port {port} \\
  --node-config "client={client} {rows}"
"""
        superexec = f"exec python -m eflops.flower.superexec --insecure --runtime-api-address 127.0.0.1:{port}\n"
        return supernode, superexec

    def _write(self, folder: Path, names: Sequence[str], commands: Sequence[str]) -> None:
        """Write a host's commands; they find their files wherever the folder is copied to."""
        exports = "".join(f"export {name}={value}\n" for name, value in {**QUIET, **BRISK}.items())
        for name, command in zip(names, commands, strict=True):
            head = f'#!/bin/sh\ncd "$(dirname "$0")" || exit 1\nexport FLWR_HOME="$PWD/flower"\n{exports}'
            write_text(folder / name, head + command)
            (folder / name).chmod(0o755)

    def _app(self, config: Sequence[Path]) -> str:
        """The app's pyproject, with this run's config as its defaults; a string of JSON is a string of TOML too."""
        values = {**self.plan.told.model_dump(), "config": " ".join(path.name for path in config), "data": self._data}
        lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in values.items())
        return f"""[project]
name = "eflops"
version = "0"
description = "One run of eflops on a federation"
license = "MIT"

[tool.flwr.app]
publisher = "eflops"

[tool.flwr.app.components]
serverapp = "eflops.flower.app:server"
clientapp = "eflops.flower.client_app:client"

[tool.flwr.app.config]
{lines}
"""
