"""A federation across hosts: network namespaces with addresses of their own, TLS by them, and no shared folder."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespaces import Lan, why_not
from small_app import in_batch, only_record, write_config

from eflops.cli import main
from eflops.flower.keys import make_node_key

pytestmark = pytest.mark.hosts

NODES = ("node0", "node1", "node2")
ROOT = Path(__file__).parents[2]
# Nothing waits so long unless it hangs: what must happen is waited for, as long as the process that does it lives.
LONGEST_SECONDS = 1200.0
# Stands for a node whose owner changed what it sends: for one round no message at all.
GARBAGE = """
import os, sys
if "eflops.flower.superexec" in " ".join(sys.orig_argv):
    from eflops.training import messages
    from eflops.training.methods import base
    encode, answer = messages.encode, base.answer
    def noted(*arguments):
        messages.encode = (lambda *_: bytes(1000)) if arguments[4] == 1 else encode
        return answer(*arguments)
    base.answer = noted
"""


@pytest.fixture(scope="module")
def lan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lan]:
    """A server and three nodes, each with the folder that was made for it, and two strangers."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("lan")
    tools, python_path = (
        str(Path(sys.executable).parent),
        os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)]),
    )
    with Lan(folder / "hosts", {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": python_path}) as lan:
        address = lan.add("server")
        run_config = (
            "experiment='small' method='fedavg' seed=1 faults='repeat' timeout=12 repeats=50 "
            "settings='rounds=6 finetune_rounds=1'"
        )
        options = ["--config", str(write_config(folder)), "--folder", str(folder / "hosts"), "--run-config", run_config]
        assert main(["deploy", *options, "--address", address]) == 0
        (folder / "hosts" / "node2" / "garbage").mkdir()
        (folder / "hosts" / "node2" / "garbage" / "sitecustomize.py").write_text(GARBAGE)
        for name in NODES:
            lan.add(name)
        superlink = lan.start("server", "./superlink.sh")
        wait_for(lan, superlink, "./superlink.sh", "Application startup complete")
        yield lan


def said(lan: Lan, host: str, command: str) -> str:
    return lan.log(host, command).read_text(errors="replace")


def wait_for(lan: Lan, process: "subprocess.Popen[bytes]", command: str, text: str) -> None:
    """Wait until a command of the server says something."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while text not in said(lan, "server", command):
        assert process.poll() is None, f"{command} ended before it said {text!r}"
        assert time.monotonic() < deadline, f"{command} did not say {text!r}"
        time.sleep(0.1)


def start_run(lan: Lan, *run_configs: str) -> "subprocess.Popen[bytes]":
    options = " ".join(f"--run-config {word!r}" for word in run_configs)
    run = lan.start("server", f"./run.sh {options}")
    wait_for(lan, run, "./run.sh", "Successfully started run")
    return run


@pytest.fixture(scope="module")
def first_run(lan: Lan) -> str:
    """What the server said of a run during which the link to one client was cut for a round and came back."""
    run = start_run(lan)
    for name in NODES:
        lan.start(name, "./supernode.sh")
        lan.start(name, "./superexec.sh")
    wait_for(lan, run, "./run.sh", "training round 1/")
    lan.cut("node1")
    wait_for(lan, run, "./run.sh", "client 1 did not answer in time")
    lan.mend("node1")
    assert run.wait(LONGEST_SECONDS) == 0
    return said(lan, "server", "./run.sh")


def test_a_link_that_was_cut_for_a_round_changes_no_bit(lan: Lan, first_run: str, tmp_path: Path) -> None:
    run_config = {"method": "fedavg", "seed": 1, "settings": "rounds=6 finetune_rounds=1"}
    assert "client 1 did not answer in time" in first_run
    assert in_batch(tmp_path, run_config).result_sha256 in first_run
    assert only_record(lan.folder / "server" / "results-flower").result.faults == []


def test_hosts_share_no_folder(lan: Lan, first_run: str) -> None:
    seen = lan.start("node0", f"ls -a {lan.folder} /mnt")
    seen.wait(LONGEST_SECONDS)
    listed = said(lan, "node0", "ls")
    assert "supernode.sh" in listed
    assert not [name for name in ("server", *NODES) if f"\n{name}\n" in listed]


def test_a_client_that_sends_garbage_is_set_aside_with_a_sentence_in_the_log(lan: Lan, first_run: str) -> None:
    path = os.pathsep.join(["/mnt/garbage", lan.environment["PYTHONPATH"]])
    lan.stop("node2", "./superexec.sh")
    lan.start("node2", "./superexec.sh", PYTHONPATH=path)
    run_config = f"faults='continue' timeout={LONGEST_SECONDS} results='other' settings='rounds=3 finetune_rounds=0'"
    run = start_run(lan, f"seed=0 {run_config}")
    assert run.wait(LONGEST_SECONDS) == 0
    fault = "training round 2: client 2 answered with bytes that are not a message"
    assert fault in said(lan, "server", "./run.sh")
    assert only_record(lan.folder / "server" / "other").result.faults == [fault]


@pytest.mark.parametrize("key", ["none", "unknown", "another"])
def test_a_client_without_its_key_or_with_anothers_is_refused(lan: Lan, first_run: str, key: str) -> None:
    stranger = lan.folder / f"no-{key}"
    shutil.copytree(lan.folder / "node0", stranger, ignore=shutil.ignore_patterns("flower"))
    if key == "none":
        command = (stranger / "supernode.sh").read_text()
        (stranger / "supernode.sh").write_text(command.replace("--auth-supernode-private-key key", ""))
    elif key == "unknown":
        make_node_key(stranger, stranger / "key.pub")
    else:
        shutil.copyfile(lan.folder / "node1" / "key", stranger / "key")
    lan.add(stranger.name)
    refused = lan.start(stranger.name, "./supernode.sh")
    assert refused.wait(LONGEST_SECONDS) != 0
    assert "Failed to initialize the connection" in said(lan, stranger.name, "./supernode.sh")
