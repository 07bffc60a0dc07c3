"""The parts of a deployment, each by itself: the command line, keys, the dealing of data, processes."""

import ssl
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import psutil
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key

from eflops.cli import main
from eflops.data.federation import Block, Federation, load, read_manifest
from eflops.flower.deploy import Demonstration, log_of
from eflops.flower.hosts import Hosts, deal
from eflops.flower.keys import make_certificates, make_node_key
from eflops.flower.plan import check, plan
from eflops.flower.simulation import stop_superlink

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
        node_data = load(dealt / f"node{client}" / "data")
        assert node_data.client_ids == (client,)
        assert np.array_equal(node_data.clients[0].x, whole.clients[client].x)
        assert (len(node_data.clients), len(node_data.test), node_data.truth) == (1, 0, {})
        assert node_data.meta == {"task": "classification", "classes": 2, "client_ids": [client]}


def test_the_server_holds_the_test_rows_and_the_counts_and_nothing_else(dealt: Path) -> None:
    manifest = read_manifest(dealt / "server" / "data" / "toy" / "all-draw0")
    known = load(dealt / "server" / "test")
    assert [manifest["arrays"][f"client{client:03d}_y"]["shape"][0] for client in range(3)] == list(ROWS)
    assert known.clients == ()
    assert np.array_equal(known.test.x, federation().test.x)
    files = {str(path.relative_to(dealt / "server")) for path in (dealt / "server").rglob("*") if path.is_file()}
    assert files == {"data/toy/all-draw0/manifest.json", "test/federation.npz", "test/manifest.json"}
    assert "label_counts" not in (dealt / "server/data/toy/all-draw0/manifest.json").read_text()


def test_the_servers_certificate_is_good_for_its_addresses_under_its_own_authority(tmp_path: Path) -> None:
    make_certificates(tmp_path, ["10.7.0.1", "fl.example.org"])
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tmp_path / "ca.crt"))
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    leaf = x509.load_pem_x509_certificate((tmp_path / "server.crt").read_bytes())
    leaf.verify_directly_issued_by(x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes()))
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["10.7.0.1", "127.0.0.1"]
    assert names.get_values_for_type(x509.DNSName) == ["fl.example.org", "localhost"]


def test_private_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    make_certificates(tmp_path, ["127.0.0.1"])
    make_node_key(tmp_path / "node0", tmp_path / "node0.pub")
    for secret in (tmp_path / "server.key", tmp_path / "node0" / "key"):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    private = load_ssh_private_key((tmp_path / "node0" / "key").read_bytes(), None)
    assert private.public_key() == load_ssh_public_key((tmp_path / "node0.pub").read_bytes())


def test_dealt_rows_are_for_their_owner_alone(dealt: Path) -> None:
    for node in sorted(dealt.glob("node*")):
        assert stat.S_IMODE((node / "data").stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in (node / "data").iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("listen", "bound", "local"),
    [(None, "10.7.0.1", "10.7.0.1"), ("0.0.0.0", "0.0.0.0", "127.0.0.1"), ("10.7.0.9", "10.7.0.9", "10.7.0.9")],
)
def test_the_superlink_binds_the_given_address_and_no_wider_one_unless_told(
    listen: str | None, bound: str, local: str
) -> None:
    hosts = Hosts(Path(), None, None, ["10.7.0.1", "fl.example.org"], 8000, listen)  # type: ignore[arg-type]
    superlink, run = hosts._server_commands()
    assert f"flower-superlink --host {bound} --port 8000" in superlink
    assert f'address = "{local}:8000"' in run


def test_a_superlink_that_flwr_run_left_behind_is_stopped_with_its_children_and_no_other_process(
    tmp_path: Path,
) -> None:
    program = tmp_path / "flower-superlink"
    program.write_text(PARENT)
    left = subprocess.Popen([sys.executable, str(program), "--insecure", "--simulation"], stdout=subprocess.PIPE)
    other = subprocess.Popen([sys.executable, str(program), "--insecure"], stdout=subprocess.PIPE)
    try:
        assert left.stdout is not None
        assert other.stdout is not None
        child, bystander = (psutil.Process(int(each.stdout.readline())) for each in (left, other))
        assert stop_superlink() == 2
        left.wait(60)
        assert not child.is_running()
        assert other.poll() is None
        assert bystander.is_running()
    finally:
        for process in (left, other):
            for each in (*psutil.Process(process.pid).children(), process) if process.poll() is None else ():
                each.kill()
            process.wait()


SLEEP = "import time; time.sleep(600)"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "{SLEEP}"])
print(child.pid, flush=True)
child.wait()
"""


def test_commands_are_stopped_with_their_children_even_those_that_lost_their_parent(tmp_path: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", SLEEP])
    commands = [tmp_path / name for name in ("one.sh", "two.sh")]
    (tmp_path / "parent.py").write_text(PARENT)
    with Demonstration(None) as demonstration:  # type: ignore[arg-type]
        for command in commands:
            command.write_text(f"#!/bin/sh\nexec {sys.executable} {tmp_path / 'parent.py'}\n")
            command.chmod(0o755)
            demonstration.start(command)
        children = [psutil.Process(first_number(log_of(command))) for command in commands]
        demonstration.running[commands[0]].kill()
        demonstration.running[commands[0]].wait()
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


def deploy(folder: Path, *options: str) -> int:
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    keys = ["--run-config", 'experiment="small" clients=2']
    return main(["deploy", "--config", str(folder / "config.yaml"), "--folder", str(folder / "new"), *keys, *options])


def test_a_mistake_on_the_command_line_is_said_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert deploy(tmp_path, "--run-config", 'experiment="smal"') == 2
    assert "experiment: 'smal' is not known; did you mean 'small'?" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("option", ["--address", "--listen"])
@pytest.mark.parametrize("address", ["x; touch y", "$(touch y)", "a b", "x\nEND"])
def test_an_address_that_a_shell_would_run_is_refused(
    tmp_path: Path, option: str, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert deploy(tmp_path, option, address) == 2
    assert "is neither a host name nor an IP address" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("label", ["a'b", "$(touch y)", "`touch y`", "a$b"])
def test_a_label_that_a_shell_would_change_is_refused(
    tmp_path: Path, label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("")
    keys = f'experiment="small" clients=2 data="{tmp_path}/rows.csv" label="{label}"'
    assert deploy(tmp_path, "--run-config", keys) == 2
    assert not (tmp_path / "new").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert deploy(tmp_path, "--folder", str(tmp_path)) == 2
    assert "contains other files" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def test_every_host_gets_two_commands_with_the_servers_address(tmp_path: Path) -> None:
    assert deploy(tmp_path, "--address", "10.7.0.1", "--address", "fl.example.org", "--port", "9000") == 0
    scripts = {str(path.relative_to(tmp_path / "new")) for path in (tmp_path / "new").rglob("*.sh")}
    nodes = {f"node{client}/{name}.sh" for client in (0, 1) for name in ("supernode", "superexec")}
    assert scripts == {"server/superlink.sh", "server/run.sh", *nodes}
    assert "--superlink 10.7.0.1:9000" in (tmp_path / "new/node0/supernode.sh").read_text()
    assert "--enable-supernode-auth" in (tmp_path / "new/server/superlink.sh").read_text()
    # A folder can be copied to another host: nothing in it names where it was made.
    for path in (tmp_path / "new").rglob("*"):
        assert not path.is_file() or str(tmp_path).encode() not in path.read_bytes()


def test_the_apps_run_config_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    assert deploy(tmp_path) == 0
    app = tomllib.loads((tmp_path / "new/server/app/pyproject.toml").read_text())["tool"]["flwr"]["app"]
    keys = check(app["config"])
    assert (keys.experiment, keys.clients, keys.config, keys.data) == (
        "small",
        2,
        "config.yaml",
        ".",
    )


def test_the_app_brings_the_whole_config_with_what_a_search_chose(tmp_path: Path) -> None:
    (tmp_path / "chosen.yaml").write_text(yaml.safe_dump({"synthetic": {"eflops": {"rate": 0.0625}}}))
    (tmp_path / "more.yaml").write_text(yaml.safe_dump({"chosen": str(tmp_path / "chosen.yaml")}))
    assert deploy(tmp_path, "--config", str(tmp_path / "more.yaml")) == 0
    (tmp_path / "chosen.yaml").unlink()
    chosen_run = plan({"experiment": "small"}, tmp_path / "new" / "server" / "app")
    assert chosen_run.spec.variants["base"].rate == 0.0625


def test_a_config_may_lie_in_a_folder_whose_name_has_a_space(tmp_path: Path) -> None:
    (tmp_path / "my study").mkdir()
    assert deploy(tmp_path / "my study") == 0


def test_hosts_that_bring_files_of_their_own_are_dealt_no_rows(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("sample,a,class\n1,2.0,ALL\n")
    keys = f"experiment='small' clients=2 data='{tmp_path / 'test.csv'}' label='class'"
    assert deploy(tmp_path, "--run-config", keys) == 0
    assert not list((tmp_path / "new").rglob("*.npz"))
    assert (tmp_path / "new" / "server" / "test.csv").exists()
    assert "client=1 data='$PWD/rows.csv' label='class'" in (tmp_path / "new/node1/supernode.sh").read_text()
    app = tomllib.loads((tmp_path / "new/server/app/pyproject.toml").read_text())["tool"]["flwr"]["app"]
    assert (app["config"]["data"], app["config"]["label"]) == ("test.csv", "class")
