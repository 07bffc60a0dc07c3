"""What docs/cluster.md says of S3 works as printed: plans go by the bucket, and a run has the bits of a local one."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from own_environment import python_with
from pins import read_lock
from workflow.conftest import MINI, ROOT, Study, lay_out

pytestmark = pytest.mark.workflow
PAGE = (ROOT / "docs/cluster.md").read_text()
# Two cells of the small study.
CELLS = MINI.replace("ratios: [0.64, 1.0]", "ratios: [0.64]").replace(
    "methods: [eflops, flops, fediht, fedavg]", "methods: [eflops, fedavg]"
)
RECORDS = [
    f"results/runs/support_recovery/nd0.64/{method}/base/draw0-seed{seed}.json"
    for method in ("eflops", "fedavg")
    for seed in (0, 1)
]
# The server is not part of what is tested.
SERVER = ("moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5")
PATIENCE = 60


@pytest.fixture(scope="module")
def environment() -> Path:
    """The environment that the docs tell to make, with a server for S3 besides."""
    (packages,) = re.findall(r"^\.venv-s3/bin/pip install (.+)$", PAGE, re.MULTILINE)
    assert f"snakemake=={read_lock()['snakemake']}" in packages.split()
    return python_with("storage", *packages.split(), *SERVER).parents[1]


@pytest.fixture
def bucket(environment: Path, tmp_path: Path) -> Iterator[str]:
    """The address of an empty bucket."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, log = f"http://127.0.0.1:{port}/bucket", tmp_path / "server.log"
    with open(log, "wb") as stream:
        program = [environment / "bin/python", "-I", environment / "bin/moto_server"]
        words = [*program, "--host", "127.0.0.1", "--port", str(port)]
        server = subprocess.Popen(words, stdout=stream, stderr=stream)
    try:
        end = time.monotonic() + PATIENCE
        while not answers(port):
            assert server.poll() is None, f"the server ended: {log.read_text()}"
            assert time.monotonic() < end, f"waited {PATIENCE} s for the server: {log.read_text()}"
            time.sleep(0.2)
        ask("PUT", address)
        yield address
    finally:
        server.terminate()
        server.wait(PATIENCE)


@pytest.fixture
def study(environment: Path, tmp_path: Path) -> Path:
    """A folder with the workflow, a config of two cells and the environment that the docs name."""
    folder = tmp_path / "study"
    lay_out(folder, CELLS)
    (folder / ".venv-s3").symlink_to(environment)
    return folder


def answers(port: int) -> bool:
    """Whether somebody listens at a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ask(method: str, address: str, content: bytes | None = None) -> bytes:
    """What the server answers to one who has a key; it does not look which."""
    request = urllib.request.Request(address, content, {"Authorization": "AWS a:b"}, method=method)
    with urllib.request.urlopen(request) as answer:
        return bytes(answer.read())


def as_printed(study: Path, bucket: str, *more: str) -> str:
    """What the command of the docs prints, but for the endpoint, which there is an example."""
    (command,) = re.findall(r"^```sh s3\n(.*?)\n```", PAGE, re.DOTALL | re.MULTILINE)
    assert "https://s3.example.org" in command
    command = " ".join([command.replace("https://s3.example.org", bucket.removesuffix("/bucket")), *more])
    keys = {"SNAKEMAKE_STORAGE_S3_ACCESS_KEY": "a", "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "b"}
    # As with the project's environment active.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=study,
        env={**os.environ, **keys, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_plan_is_made_by_what_the_bucket_holds(study: Path, bucket: str) -> None:
    whole = as_printed(study, bucket, "--dry-run")
    assert "Train eflops on support_recovery nd0.64" in whole
    assert "Make synthetic nd0.64" in whole
    for name in ("manifest.json", "federation.npz"):
        ask("PUT", f"{bucket}/eflops/results/data/synthetic/nd0.64-draw0/{name}")
    rest = as_printed(study, bucket, "--dry-run")
    assert "Train eflops on support_recovery nd0.64" in rest
    assert "Make synthetic nd0.64" not in rest


def test_a_run_leaves_the_bits_of_a_local_one_in_the_bucket(study: Path, bucket: str, tmp_path: Path) -> None:
    assert "jobs done in" in as_printed(study, bucket)
    stored = [json.loads(ask("GET", f"{bucket}/eflops/{name}")) for name in RECORDS]
    assert "E-FLoPS" in ask("GET", f"{bucket}/eflops/results/tables/support_recovery.md").decode()
    assert not (study / "results").exists()
    assert "Nothing to be done" in as_printed(study, bucket)

    lay_out(tmp_path / "local", CELLS)
    Study(tmp_path / "local").snakemake(*RECORDS)
    local = [json.loads((tmp_path / "local" / name).read_text()) for name in RECORDS]
    assert [record["result_sha256"] for record in stored] == [record["result_sha256"] for record in local]
