"""`flwr run .` on Flower's own simulation, by Flower's own commands."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from ending import stop
from small_app import CONFIG, in_batch, only_record, write_config

pytestmark = pytest.mark.flower

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
Run = Callable[..., str]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def flwr_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A function that runs the project's app with a small config; uv may not reach for a network."""
    folder = tmp_path_factory.mktemp("run")
    shutil.copy(ROOT / "pyproject.toml", write_config(folder / "app").parent)
    write_config(folder / "app" / "config")
    port, here = free_port(), f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
    quiet = {"FLWR_HOME": str(folder / "flower"), "UV_OFFLINE": "1", "UV_CACHE_DIR": str(folder / "uv")}
    python_path = os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])
    environment = {**os.environ, **quiet, "PATH": here, "FAULTY_FOLDER": str(folder), "PYTHONPATH": python_path}
    (folder / "flower").mkdir()
    (folder / "flower" / "config.toml").write_text(f'[superlink.here]\naddress = "127.0.0.1:{port}"\ninsecure = true\n')
    command = ["flower-superlink", "--insecure", "--simulation", "--host", "127.0.0.1", "--port", str(port)]
    with open(folder / "superlink.log", "wb") as log:
        superlink = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
    try:
        while not _answers(port):
            assert superlink.poll() is None, (folder / "superlink.log").read_text()
            time.sleep(0.2)

        def run(run_config: str, nodes: int) -> str:
            options = ["--stream", "--run-config", run_config, "--federation-config", f"num-supernodes={nodes}"]
            done = subprocess.run(
                ["flwr", "run", ".", "here", *options],
                env=environment, cwd=folder / "app", capture_output=True, text=True, timeout=300,
            )  # fmt: skip
            return done.stdout + done.stderr

        run.app = folder / "app"  # type: ignore[attr-defined]
        yield run
    finally:
        stop(superlink)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
            return True
    except OSError:
        return False


@pytest.mark.slow
def test_flwr_run_goes_on_where_it_was_cut_short_and_gives_the_batched_result(flwr_run: Run, tmp_path: Path) -> None:
    run_config = f"experiment='small' method='raises' seed=1 results='{tmp_path / 'results'}'"
    first = flwr_run(run_config, 3)
    assert "eflops.errors.UserError: training round 2: client 1 failed (ValueError)" in first
    assert "No additional application dependencies needed installation" in first
    second = flwr_run(run_config, 3)
    assert "resuming after 1 rounds of an earlier attempt" in second
    assert "finetuning round 4/4" in second
    flower_record, batched = (
        only_record(tmp_path / "results"),
        in_batch(tmp_path / "batched", {"method": "fedavg", "seed": 1}),
    )
    assert flower_record.result_sha256 == batched.result_sha256
    assert batched.result_sha256 in second
    assert flower_record.origin.data_sha256 == batched.origin.data_sha256
    assert not list((tmp_path / "results" / "state").iterdir())


MODEL = """from torch import nn

def build(shape, classes):
    return nn.Sequential(nn.Linear(shape[0], 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 1))
"""
METHOD = """from eflops.training.methods.fedavg import Method

class Bundled(Method):
    pass
"""


def test_the_bundle_carries_the_users_model_and_method(
    flwr_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Path(str(flwr_run.app))  # type: ignore[attr-defined]
    config = {**CONFIG, "methods": {"own": {"method": "bundled_method:Bundled", "label": "Own"}}}
    config["experiments"] = {
        "small": {**CONFIG["experiments"]["small"], "methods": ["own"], "model": "bundled_net:build"}
    }
    (app / "bundled_net.py").write_text(MODEL)
    (app / "bundled_method.py").write_text(METHOD)
    (app / "config" / "own.yaml").write_text(yaml.safe_dump(config))
    run_config = {"config": "config/own.yaml", "experiment": "small", "method": "own", "seed": 1}
    said = flwr_run(
        " ".join(f"{key}={value!r}" for key, value in run_config.items()) + f" results='{tmp_path / 'r'}'", 3
    )
    assert "finetuning round 4/4" in said, said
    flower_record = only_record(tmp_path / "r")
    assert flower_record.circumstances.bits == "this kind of machine"
    assert {"bundled_net", "bundled_method"} <= flower_record.origin.code.keys()
    monkeypatch.syspath_prepend(app)
    assert flower_record.result_sha256 == in_batch(tmp_path / "batched", run_config, config).result_sha256


def test_flwr_run_says_how_many_nodes_the_data_need(flwr_run: Run, tmp_path: Path) -> None:
    said = flwr_run(f"experiment='small' results='{tmp_path / 'results'}'", 2)
    assert "the data have 3 clients and Flower simulates 2 nodes; add: --federation-config num-supernodes=3" in said
    assert "Traceback" not in said
