"""A federation as folders, one per host: each holds the files for its owner, and the two commands to run there.

server     superlink.sh and run.sh; manifest, test block, certificates, public keys, the app; later the results
node0 ...  supernode.sh and superexec.sh; this client's key, and its block if a draw is distributed
"""

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import cast

import yaml

from eflops.config import load
from eflops.config.data import DataSettings
from eflops.data.federation import MANIFEST, Facts, Federation, save
from eflops.files import write_text
from eflops.flower import QUIET
from eflops.flower.keys import make_certificates, make_node_key
from eflops.flower.plan import FlowerRun

SERVER_COMMANDS = ("superlink.sh", "run.sh")
NODE_COMMANDS = ("supernode.sh", "superexec.sh")
EVERY_INTERFACE = "0.0.0.0"
# Flower looks for new tasks every second, which is a good part of a round.
BRISK = {"FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.2"}
# All that a model must know of the data besides their rows; the rest could tell one client of another.
COMMON = ("task", "classes")
APP = """[project]
name = "eflops"
version = "0"
description = "One run of eflops on a federation"
license = "MIT"

[tool.flwr.app]
publisher = "eflops"

[tool.flwr.app.components]
serverapp = "eflops.flower.server:app"
clientapp = "eflops.flower.client:app"

[tool.flwr.app.config]
"""


@dataclass(frozen=True)
class Hosts:
    """The hosts of a federation.

    draw: the draw to distribute; None if server and nodes have their own files. addresses: the addresses by which
    nodes reach the server. port: the server's port; nodes use the ports above. listen: the address that the
    SuperLink binds; None: the first of `addresses`.
    """

    folder: Path
    plan: FlowerRun
    draw: Federation | None
    addresses: Sequence[str]
    port: int
    listen: str | None = None

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
    def bound(self) -> str:
        """The address that the SuperLink binds."""
        return self.listen or self.addresses[0]

    @property
    def local(self) -> str:
        """The address by which the server's machine reaches its SuperLink."""
        return "127.0.0.1" if self.bound == EVERY_INTERFACE else self.bound

    def prepare(self, config: Sequence[Path]) -> None:
        """Distribute the data, create keys and certificates, write the app and each host's commands."""
        run_config = self.plan.run_config
        test_rows = "." if self.draw else Path(run_config.data).name
        values = {**run_config.model_dump(), "config": "config.yaml", "data": test_rows}
        # A string of JSON is a string of TOML too.
        defaults = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        write_text(self.server / "app" / "pyproject.toml", APP + defaults)
        whole = load.with_chosen(reduce(load.merge, map(load.read_yaml, config)))
        write_text(self.server / "app" / "config.yaml", yaml.safe_dump(whole, sort_keys=False))
        if self.draw:
            deal(self.draw, self.plan.made_by, self.server, self.plan.draw_name, self.nodes)
        else:
            shutil.copyfile(run_config.data, self.server / test_rows)
        make_certificates(self.server / "certificates", self.addresses)
        _write(self.server, SERVER_COMMANDS, self._server_commands())
        for client, node in enumerate(self.nodes):
            make_node_key(node, self.server / "keys" / f"{node.name}.pub")
            shutil.copyfile(self.server / "certificates" / "ca.crt", node / "ca.crt")
            _write(node, NODE_COMMANDS, self._node_commands(client))

    def _server_commands(self) -> tuple[str, str]:
        # By default the SuperLink would install an app's dependencies before each run, in versions of its own choice.
        superlink = f"""exec flower-superlink --host {self.bound} --port {self.port} --enable-supernode-auth \\
  --ssl-certfile certificates/server.crt --ssl-keyfile certificates/server.key --ssl-ca-certfile certificates/ca.crt \\
  --disable-runtime-dependency-installation
"""
        # Flower wants the certificate's absolute path, which only the host knows.
        run = f"""mkdir -p "$FLWR_HOME" && cat > "$FLWR_HOME/config.toml" <<END
[superlink]
default = "superlink"
[superlink.superlink]
address = "{self.local}:{self.port}"
root-certificates = "$PWD/certificates/ca.crt"
insecure = false
END
for key in keys/*.pub; do flwr supernode register "$key" superlink; done
exec flwr run app superlink --stream "$@"
"""
        return superlink, run

    def _node_commands(self, client: int) -> tuple[str, str]:
        port = self.port + 1 + client
        rows = "data='$PWD/data'" if self.draw else f"data='$PWD/rows.csv' label='{self.plan.run_config.label}'"
        # --isolation process leaves starting ClientApps to our SuperExec, which forks instead of importing everything
        # anew.
        supernode = f"""exec flower-supernode --superlink {self.addresses[0]}:{self.port} --root-certificates ca.crt \\
  --auth-supernode-private-key key --isolation process --host 127.0.0.1 --port {port} \\
  --node-config "client={client} {rows}"
"""
        superexec = f"exec python -m eflops.flower.superexec --insecure --runtime-api-address 127.0.0.1:{port}\n"
        return supernode, superexec


def _write(folder: Path, names: Sequence[str], commands: Sequence[str]) -> None:
    """Write a host's commands; they find their files wherever the folder is copied."""
    exports = "".join(f"export {name}={value}\n" for name, value in {**QUIET, **BRISK}.items())
    for name, command in zip(names, commands, strict=True):
        head = f'#!/bin/sh\ncd "$(dirname "$0")" || exit 1\nexport FLWR_HOME="$PWD/flower"\n{exports}'
        write_text(folder / name, head + command)
        (folder / name).chmod(0o755)


def deal(federation: Federation, settings: DataSettings, server: Path, name: Path, nodes: list[Path]) -> None:
    """Write each client's block to its node's folder, and the test block and data/`name` to the server's."""
    # Facts such as client names could tell one client of another, so only COMMON ones leave this machine.
    public = replace(
        federation, meta=cast(Facts, {key: value for key, value in federation.meta.items() if key in COMMON})
    )
    with tempfile.TemporaryDirectory() as folder:
        save(public, Path(folder), settings)
        (server / "data" / name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(folder) / MANIFEST, server / "data" / name / MANIFEST)
    save(replace(public, clients=(), meta={**public.meta, "client_ids": []}), server / "test", settings)
    for client, node in enumerate(nodes):
        # Only the owner may read a client's rows, from the first moment on, as with its key.
        (node / "data").mkdir(mode=0o700, parents=True)
        save(replace(public.subset([client], with_test=False), truth={}), node / "data", settings)
        for path in (node / "data").iterdir():
            path.chmod(0o600)
