"""The demonstration of a real federation: the hosts' own commands on this machine, encrypted and authenticated."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from ports import free_ports
from small_app import in_batch, only_record, write_config

from eflops.cli import main
from eflops.data.federation import load

pytestmark = pytest.mark.flower

CLIENTS = 3
MARK = "EFLOPS_TEST_MARK"
WATCH = """
import os, sys
log = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def note(event, arguments, root=os.environ["WATCH_ROOT"]):
    if event != "open" or not isinstance(arguments[0], (str, os.PathLike)):
        return
    path = os.path.abspath(arguments[0])
    if path.startswith(root):
        place = os.path.basename(os.path.dirname(os.environ.get("FLWR_HOME", "/here/flower")))
        os.write(log, f"{place}\\t{path}\\n".encode())
sys.addaudithook(note)
"""


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demonstration from start to end, each of its processes watched for the files that it opens."""
    folder = tmp_path_factory.mktemp("deploy")
    (folder / "watch").mkdir()
    (folder / "watch" / "sitecustomize.py").write_text(WATCH)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{folder / 'watch'}{os.pathsep}{Path(__file__).parent}", prepend=os.pathsep)
        patch.setenv("WATCH_LOG", str(folder / "opened.txt"))
        patch.setenv("WATCH_ROOT", str(folder / "clean"))
        patch.setenv(MARK, str(folder))
        run_config = "experiment='small' seed=1 settings='rounds=2 finetune_rounds=1'"
        places = ["--config", str(write_config(folder)), "--folder", str(folder / "clean")]
        assert main(["deploy", *places, "--run-config", run_config, "--port", str(free_ports(4)), "--start"]) == 0
    return folder / "clean"


def test_a_federation_gives_the_batched_result_bit_for_bit(deployed: Path, tmp_path: Path) -> None:
    deployed_record = only_record(deployed / "server" / "results-flower")
    batched = in_batch(tmp_path, {"seed": 1, "settings": "rounds=2 finetune_rounds=1"})
    assert deployed_record.result_sha256 == batched.result_sha256


def test_a_demonstration_leaves_no_process_behind(deployed: Path) -> None:
    # What was killed may take a while to be gone on a busy machine.
    assert not psutil.wait_procs(list(processes_with(str(deployed.parent))), timeout=60)[1]


def test_the_record_counts_the_channel_beside_the_wire(deployed: Path) -> None:
    deployed_record = only_record(deployed / "server" / "results-flower")
    traffic, channel = deployed_record.result.traffic.values(), deployed_record.circumstances.channel
    assert channel["messages"] == sum(phase["messages"] for phase in traffic) == 2 * CLIENTS * 3
    wire = {way: sum(phase[way] for phase in traffic) for way in ("down", "up")}
    assert wire["down"] < channel["down"]
    assert wire["up"] < channel["up"] < 3 * wire["up"]


def test_the_server_reads_no_clients_block_and_a_node_only_its_own(deployed: Path) -> None:
    opened: dict[str, set[Path]] = {}
    for line in (deployed.parent / "opened.txt").read_text().splitlines():
        host, path = line.split("\t")
        opened.setdefault(host, set()).add(Path(path).relative_to(deployed))
    for host, paths in opened.items():
        assert {path.parts[0] for path in paths} == {host}
    assert set(opened) == {"server", *(f"node{client}" for client in range(CLIENTS))}
    assert Path("server/test/federation.npz") in opened["server"]
    assert all(Path(f"node{client}/data/federation.npz") in opened[f"node{client}"] for client in range(CLIENTS))


def test_no_file_of_the_server_holds_a_clients_rows(deployed: Path) -> None:
    kept = [path.read_bytes() for path in (deployed / "server").rglob("*") if path.is_file()]
    for client in range(CLIENTS):
        for row in load(deployed / f"node{client}" / "data").clients[0].x:
            assert not [text for text in kept if row.tobytes() in text]


def processes_with(mark: str) -> Iterator[psutil.Process]:
    """The processes that inherited this mark."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK) == mark:
                yield process
