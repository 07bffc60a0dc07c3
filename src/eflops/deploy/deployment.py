"""What a deployment is made of, as folders: each holds what its owner may see, and no more.

app        the Flower app: a pyproject that names `eflops.deploy.app`
server     the manifest, the test block, the certificates, the plan and, at the end, the record
node0 ...  a client's block and its key
logs       what each process had to say
"""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eflops import __version__
from eflops.config.cells import Run, data_label
from eflops.data.federation import Federation
from eflops.deploy.deal import deal
from eflops.deploy.keys import make_certificates, make_node_key
from eflops.engines.flower.client import work_of
from eflops.engines.flower.grid import Patience
from eflops.files import write_json, write_text

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Deployment:
    """One run of a cell on a federation of its own."""

    folder: Path
    job: dict[str, Any]
    run: Run
    clients: int
    patience: Patience

    @property
    def server(self) -> Path:
        """The server's folder."""
        return self.folder / "server"

    @property
    def app(self) -> Path:
        """The folder of the Flower app."""
        return self.folder / "app"

    @property
    def record(self) -> Path:
        """Where the server writes the run's record."""
        return self.server / "runs" / self.run.path

    def node(self, client: int) -> Path:
        """The folder of a client's node."""
        return self.folder / f"node{client}"

    def public_key(self, client: int) -> Path:
        """Where the server has the public key of a client's node."""
        return self.server / "keys" / f"node{client}.pub"

    def prepare(self, federation: Federation, settings: dict[str, Any]) -> None:
        """Deal the data out, make keys and certificates, write the plan and the app."""
        nodes = [self.node(client) for client in range(self.clients)]
        name = Path(self.job["dataset"]) / data_label(self.job["ratio"], self.run.draw)
        deal(federation, settings, self.server, name, nodes)
        make_certificates(self.server / "certificates", HOST)
        for client, node in enumerate(nodes):
            make_node_key(node, self.public_key(client))
            shutil.copyfile(self.server / "certificates" / "ca.crt", node / "ca.crt")
        plan = {"job": self.job, "run": asdict(self.run), "patience": asdict(self.patience)}
        write_json(self.server / "plan.json", plan)
        write_text(self.app / "pyproject.toml", self._pyproject())

    def _pyproject(self) -> str:
        """The app's pyproject; a string of JSON is a string of TOML too."""
        return f"""[project]
name = "eflops-deployment"
version = "{__version__}"
description = "A run of eflops on a real federation"

[tool.flwr.app]
publisher = "eflops"

[tool.flwr.app.components]
serverapp = "eflops.deploy.app:server"
clientapp = "eflops.deploy.app:client"

[tool.flwr.app.config]
work = {json.dumps(work_of(self.job, self.run.variant))}
server = {json.dumps(str(self.server.resolve()))}
"""
