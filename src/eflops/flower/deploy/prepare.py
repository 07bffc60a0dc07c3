"""`eflops deploy`: the folders and commands of a federation's hosts, and a demonstration of them on this machine."""

import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from flwr.common.config import parse_config_args

from eflops.errors import UserError
from eflops.flower.deploy.demonstration import Demonstration
from eflops.flower.deploy.hosts import Hosts
from eflops.flower.plan import make_draw, plan


def prepare(
    run_config: str, addresses: Sequence[str], port: int, config: Sequence[Path], folder: Path, start: bool
) -> None:
    """Write what each host needs, say what to type there, and start it here if asked to."""
    paths = [path.resolve() for path in config]
    asked = plan({**parse_config_args([run_config]), "config": " ".join(map(str, paths))}, Path("/"))
    hosts = Hosts(folder, asked, None if asked.told.data else make_draw(asked), addresses, port)
    _make_room(folder)
    hosts.prepare(paths)
    for host in (hosts.server, *hosts.nodes):
        print(f"{host}: " + ", then ".join(str(path) for path in sorted(host.glob("*.sh"), reverse=True)))
    if start:
        _start(hosts)


def _start(hosts: Hosts) -> None:
    """Run the demonstration; being asked to end is an exception, so that all is stopped on the way out."""
    signal.signal(signal.SIGTERM, _leave)
    with Demonstration(hosts) as demonstration:
        demonstration.run(lambda line: print(line, flush=True))
    if not list(hosts.server.glob(f"{hosts.plan.told.results}/runs/**/*.json")):
        raise UserError(f"the run failed; see the logs in {hosts.folder}")


def _make_room(folder: Path) -> None:
    """An earlier deployment makes room for the next; anything else stays."""
    if (folder / "server" / "app").exists():
        shutil.rmtree(folder)
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"--folder {folder} holds other files; name a folder that is empty or new.")


def _leave(*_: object) -> NoReturn:
    sys.exit(143)
