"""The parts of a deployment, each by itself: the command line, keys, the dealing of data, processes."""

import ssl
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key

from eflops.cli import main
from eflops.data.federation import Block, Federation, load
from eflops.deploy.deal import deal, server_view
from eflops.deploy.keys import make_certificates, make_node_key
from eflops.deploy.processes import Processes

ROWS = (2, 5, 3)
CONFIG = {
    "datasets": {"synthetic": {"kind": "synthetic", "density": 0.1}},
    "methods": {
        "eflops": {"method": "eflops", "label": "E-FLoPS"},
        "centralized": {"method": "eflops", "label": "pooled", "pooled": True},
    },
    "experiments": {"small": {"dataset": "synthetic", "ratios": [1.2], "methods": ["eflops"]}},
}


def federation() -> Federation:
    draw = np.random.default_rng(0)
    blocks = [Block(draw.random((rows, 4), dtype=np.float32), draw.integers(0, 2, rows)) for rows in (*ROWS, 6)]
    meta = {"task": "classification", "classes": 2, "label_counts": [[1, 1], [2, 3], [0, 3]]}
    return Federation(tuple(blocks[:-1]), blocks[-1], {"support": np.array([1])}, meta)


@pytest.fixture
def dealt(tmp_path: Path) -> Path:
    """A federation dealt out to a server and three nodes."""
    nodes = [tmp_path / f"node{client}" for client in range(len(ROWS))]
    deal(federation(), {}, tmp_path / "server", Path("toy/all-draw0"), nodes)
    return tmp_path


def test_a_node_holds_its_own_clients_rows_and_nothing_else(dealt: Path) -> None:
    whole = federation()
    for client in range(len(ROWS)):
        own = load(dealt / f"node{client}" / "data")
        assert own.client_ids == (client,)
        assert np.array_equal(own.clients[0].x, whole.clients[client].x)
        assert (len(own.clients), len(own.test), own.truth) == (1, 0, {})
        assert own.meta == {"task": "classification", "classes": 2, "client_ids": [client]}


def test_the_server_holds_the_test_rows_and_the_counts_and_nothing_else(dealt: Path) -> None:
    known, counts = server_view(dealt / "server", Path("toy/all-draw0"))
    assert counts.tolist() == list(ROWS)
    assert known.clients == ()
    assert np.array_equal(known.test.x, federation().test.x)
    files = {str(path.relative_to(dealt / "server")) for path in (dealt / "server").rglob("*") if path.is_file()}
    assert files == {"data/toy/all-draw0/manifest.json", "test/federation.npz", "test/manifest.json"}
    assert "label_counts" not in (dealt / "server/data/toy/all-draw0/manifest.json").read_text()


def test_the_servers_certificate_is_good_for_its_address_under_its_own_authority(tmp_path: Path) -> None:
    make_certificates(tmp_path, "127.0.0.1")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tmp_path / "ca.crt"))
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    leaf = x509.load_pem_x509_certificate((tmp_path / "server.crt").read_bytes())
    leaf.verify_directly_issued_by(x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes()))
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]


def test_private_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    make_certificates(tmp_path, "127.0.0.1")
    make_node_key(tmp_path / "node0", tmp_path / "node0.pub")
    for secret in (tmp_path / "server.key", tmp_path / "node0" / "key"):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    private = load_ssh_private_key((tmp_path / "node0" / "key").read_bytes(), None)
    assert private.public_key() == load_ssh_public_key((tmp_path / "node0.pub").read_bytes())


SLEEP = "import time; time.sleep(600)"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "{SLEEP}"])
print(child.pid, flush=True)
child.wait()
"""


def test_processes_are_stopped_with_their_children_even_those_that_lost_their_parent(tmp_path: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", SLEEP])
    with Processes(tmp_path) as processes:
        for name in ("one", "two"):
            processes.start(name, ["python", "-c", PARENT], {})
        children = [psutil.Process(first_number(processes.log(name))) for name in ("one", "two")]
        processes.running["one"].kill()
        processes.running["one"].wait()
        assert all(child.is_running() for child in children)
    gone, alive = psutil.wait_procs(children, timeout=60)
    assert (len(gone), alive) == (2, [])
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def first_number(log: Path) -> int:
    """The number that a process writes first, as soon as it is there."""
    while not (text := log.read_text()).endswith("\n"):
        pass
    return int(text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--experiment", "smal"], "--experiment: 'smal' is not known; did you mean 'small'?"),
        (["--method", "eflop"], "--method: 'eflop' is not known; did you mean 'eflops'?"),
        (["--method", "centralized"], "--method centralized trains on pooled data"),
        (["--clients", "0"], "--clients is 0"),
        (["--client-fraction", "1.5"], "--client-fraction is 1.5"),
        (["--variant", "bas"], "--variant: 'bas' is not known; did you mean 'base'?"),
        (["--set", "round=3"], "--set.round: 'round' is not known; did you mean 'rounds'?"),
        (["--set", "rounds=many"], "--set.rounds: 'many' is wrong"),
    ],
)
def test_a_mistake_on_the_command_line_is_said_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    chosen = {
        "--config": [str(tmp_path / "config.yaml")],
        "--experiment": ["small"],
        "--folder": [str(tmp_path / "new")],
    }
    chosen |= {options[0]: options[1:]}
    assert main(["deploy", *(word for option, values in chosen.items() for word in (option, *values))]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    arguments = ["--config", str(tmp_path / "config.yaml"), "--experiment", "small", "--folder", str(tmp_path)]
    assert main(["deploy", *arguments, "--clients", "2"]) == 1
    assert "holds other files" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]
