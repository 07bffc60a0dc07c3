"""A real federation: a SuperLink and nodes as processes of their own, encrypted and authenticated."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import yaml

from eflops import record
from eflops.cli import main
from eflops.config.cells import Run
from eflops.data import build
from eflops.data.federation import load, save
from eflops.deploy.deployment import HOST
from eflops.deploy.keys import make_certificates, make_node_key
from eflops.deploy.network import Network
from eflops.deploy.processes import Processes
from eflops.train import Job, train

pytestmark = pytest.mark.flower

CLIENTS = 3
MARK = "EFLOPS_TEST_MARK"
WATCH = """
import os, sys
log = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def note(event, arguments, root=os.environ["WATCH_ROOT"]):
    if event == "open" and str(arguments[0]).startswith(root):
        place = os.path.basename(os.path.dirname(os.environ["FLWR_HOME"]))
        os.write(log, f"{place}\\t{arguments[0]}\\n".encode())
sys.addaudithook(note)
"""
SYNTHETIC = {
    "kind": "synthetic", "features": 60, "density": 0.1, "correlation": 0.2, "snr": 20.0, "test_rows": 40, "clients": 3,
    "client_fraction": 1.0, "count_concentration": 1.0, "min_rows": 8, "shift_scale": 0.5, "shift_offset": 0.0,
}  # fmt: skip
CONFIG = {
    "datasets": {"synthetic": SYNTHETIC},
    "methods": {
        "eflops": {"method": "eflops", "label": "E-FLoPS"},
        "dies": {"method": "faulty:Dies", "label": "a client dies"},
        "central": {"method": "eflops", "label": "pooled", "pooled": True},
    },
    "experiments": {
        "small": {
            "dataset": "synthetic",
            "ratios": [1.2],
            "methods": ["eflops", "dies"],
            "seeds": 2,
            "settings": {"rounds": 2, "tune_rounds": 1, "rate": 0.05},
        }
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small config."""
    root = tmp_path_factory.mktemp("deploy")
    (root / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    return root


def command(folder: Path, name: str, *options: str) -> list[str]:
    return ["deploy", "--config", str(folder / "config.yaml"), "--experiment", "small",
            "--folder", str(folder / name), *options]  # fmt: skip


@pytest.fixture(scope="module")
def deployed(folder: Path) -> Path:
    """A deployment from start to end, each of its processes watched for the files that it opens."""
    (folder / "watch").mkdir()
    (folder / "watch" / "sitecustomize.py").write_text(WATCH)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder / "watch"), prepend=os.pathsep)
        patch.setenv("WATCH_LOG", str(folder / "opened.txt"))
        patch.setenv("WATCH_ROOT", str(folder / "clean"))
        patch.setenv(MARK, str(folder))
        assert main(command(folder, "clean", "--method", "eflops", "--seed", "1")) == 0
    return folder / "clean"


def only_record(deployment: Path) -> record.Record:
    (path,) = (deployment / "server" / "runs").rglob("*.json")
    return record.read(path)


def test_a_deployment_gives_the_batched_result_bit_for_bit(deployed: Path, tmp_path: Path) -> None:
    found = only_record(deployed)
    data = tmp_path / "data" / found.origin.data
    save(build({**SYNTHETIC, "clients": CLIENTS}, 1.2, 0), data, {})
    slice_ = {**found.origin.job, "engine": "batched", "variants": {"base": found.origin.settings}}
    run = Run(found.run.variant, found.run.draw, found.run.seed)
    train(Job(slice_, tmp_path / "data", tmp_path, (run,), 32), lambda title: lambda *_: None)
    in_batch = record.read(tmp_path / run.path)
    assert found.result == in_batch.result
    assert found.origin.data_sha256 == in_batch.origin.data_sha256


def test_a_deployment_leaves_no_process_behind(deployed: Path) -> None:
    assert not list(processes_with(str(deployed.parent)))


def test_the_record_counts_the_channel_beside_the_wire(deployed: Path) -> None:
    found = only_record(deployed)
    traffic, channel = found.result.traffic.values(), found.circumstances.channel
    assert channel["messages"] == sum(phase["messages"] for phase in traffic) == 2 * CLIENTS * 3
    wire = {way: sum(phase[way] for phase in traffic) for way in ("down", "up")}
    assert wire["down"] < channel["down"] < 3 * wire["down"]
    assert wire["up"] < channel["up"] < 3 * wire["up"]


def test_the_server_reads_no_clients_block_and_a_node_only_its_own(deployed: Path) -> None:
    opened: dict[str, set[Path]] = {}
    for line in (deployed.parent / "opened.txt").read_text().splitlines():
        place, path = line.split("\t")
        opened.setdefault(place, set()).add(Path(path).relative_to(deployed))
    folders = {place: {path.parts[0] for path in paths} for place, paths in opened.items()}
    assert folders.pop("server") == {"server", "app"}
    assert folders == {f"node{client}": {f"node{client}"} for client in range(CLIENTS)}
    assert Path("server/test/federation.npz") in opened["server"]
    assert all(Path(f"node{client}/data/federation.npz") in opened[f"node{client}"] for client in range(CLIENTS))


def test_no_file_of_the_server_and_no_log_holds_a_clients_rows(deployed: Path) -> None:
    kept = [path.read_bytes() for place in ("server", "logs", "app") for path in (deployed / place).rglob("*")
            if path.is_file()]  # fmt: skip
    for client in range(CLIENTS):
        for row in load(deployed / f"node{client}" / "data").clients[0].x:
            assert not [text for text in kept if row.tobytes() in text]


def test_a_run_goes_on_when_a_node_is_killed_in_the_middle_of_a_round(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULTY_FOLDER", str(folder))
    monkeypatch.setenv(MARK, f"{folder} dies")
    options = ("--method", "dies", "--on-fault", "continue", "--timeout", "30", "--set", "rounds=3", "tune_rounds=0")
    assert main(command(folder, "killed", *options)) == 0
    found = only_record(folder / "killed").result
    assert found.status == "finished"
    assert "training round 2: client 1 did not answer in time" in found.faults
    assert not [fault for fault in found.faults if "round 1:" in fault]
    assert not list(processes_with(f"{folder} dies"))


def test_a_node_that_the_server_was_not_told_of_is_refused(tmp_path: Path) -> None:
    make_certificates(tmp_path / "server" / "certificates", HOST)
    make_node_key(tmp_path / "stranger", tmp_path / "unused.pub")
    with Processes(tmp_path / "logs") as processes:
        network = Network(tmp_path / "server", processes)
        network.start_superlink()
        for name in ("stranger", "nobody"):
            (tmp_path / name).mkdir(exist_ok=True)
            shutil.copy(tmp_path / "server" / "certificates" / "ca.crt", tmp_path / name)
        network.start_node(tmp_path / "stranger", 0)
        network.start_node(tmp_path / "nobody", 1, authenticated=False)
        for name in ("stranger", "nobody"):
            assert processes.running[name].wait(120) != 0
            assert "Failed to initialize the connection" in processes.log(name).read_text()


def processes_with(mark: str) -> Iterator[psutil.Process]:
    """Other processes that inherited a mark."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.pid != os.getpid():
                yield process
