"""Flower's simulation gives the batched engine's results, bit for bit, and goes on when clients fail.

All cells share one simulation, because starting one takes longer than training them.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import faulty
import numpy as np
import psutil
import pytest
from flwr.serverapp import Grid
from flwr.supercore import telemetry
from ray._common.usage import usage_lib

from eflops import trust
from eflops.config.cell import CellSpec
from eflops.data.build import build
from eflops.data.federation import Block, Federation, save
from eflops.data.job import Job
from eflops.flower import simulation
from eflops.flower.grid import FaultPolicy
from eflops.results import record
from eflops.results.labels import Run
from eflops.training.train import train, train_runs
from small_problems import GOLUB

pytestmark = pytest.mark.flower

CLIENTS = 3
METHODS = (
    "eflops", "flops", "fediht", "fediterht", "fedavg", "feddualavg", "centralized", "eflops_feedback",
    "fedavg_feedback",
)  # fmt: skip
DATASETS = {"synthetic": "linear", "golub": "softmax", "mnist": "cnn"}
FAULTY = {
    "Raises": FaultPolicy("continue"),
    "Garbles": FaultPolicy("repeat", repeats=1),
    "Dawdles": FaultPolicy("continue", seconds=8.0),
}
FAULTLESS = "faulty:Faultless"
RUNS = (Run("base", 0, 3), Run("fast", 0, 4))


def job(root: Path, engine: str, dataset: str, name: str, runs: Sequence[Run] = RUNS) -> Job:
    """A small cell; a name with a colon is a method of its own."""
    method = {"flops": "eflops", "centralized": "eflops"}.get(name, name.removesuffix("_feedback"))
    settings: dict[str, Any] = {
        "rounds": 3,
        "finetune_rounds": 2,
        "prune_from": 0.4,
        "rate": 0.05,
        "finetune_rate": 0.01,
    }
    settings |= {"local_steps": "epoch", "batch_size": 8} if dataset == "mnist" else {"local_steps": 2}
    settings |= {"temperature": 0.0} if name == "flops" else {}
    settings |= {"feedback": 0.1} if name.endswith("_feedback") else {}
    spec = CellSpec.model_validate({
        "experiment": "flower", "dataset": dataset, "model": DATASETS[dataset], "density": 0.02, "ratio": "nd1.00",
        "client_fraction": 0.7 if ":" not in name else 1.0, "name": name.lower(), "method": method, "options": {},
        "pooled": name == "centralized", "engine": engine, "evaluate_every": 1,
        "variants": {
            name: settings | change for name, change in {"base": {}, "fast": {"rate": 0.07}}.items()
        },
    })  # fmt: skip
    return Job(spec, root / "data", root / engine / dataset / name, tuple(runs), 32)


def federations() -> Iterator[tuple[str, Federation]]:
    """Small federations of the three kinds; the images are noise, which a CNN trains on as well."""
    shared = {"clients": CLIENTS, "count_concentration": 1.0, "min_rows": 6}
    synthetic = {"features": 90, "density": 0.05, "correlation": 0.2, "snr": 20.0, "test_rows": 40, "shift_scale": 1.0}
    yield "synthetic", build({"kind": "synthetic", **synthetic, **shared, "shift_offset": 0.0}, 1.0, 0)
    yield "golub", build({**GOLUB, **shared}, None, 0)
    draw = np.random.default_rng(0)
    blocks = [
        Block(draw.random((rows, 1, 28, 28), dtype=np.float32), draw.integers(0, 10, rows)) for rows in (11, 16, 20, 25)
    ]
    yield "mnist", Federation(tuple(blocks[1:]), blocks[0], meta={"task": "classification", "classes": 10})


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every cell by both engines, and those with faults by Flower."""
    root = tmp_path_factory.mktemp("simulation")
    for dataset, federation in federations():
        save(federation, root / "data" / dataset / "nd1.00-draw0", {})
    cells = [(dataset, name) for dataset in DATASETS for name in METHODS]
    with trust.session():
        trust.allow("method", FAULTLESS)
        for cell in [*cells, ("synthetic", FAULTLESS)]:
            train(job(root, "batched", *cell), lambda title: lambda *_: None)

    def work(grid: Grid, nodes: dict[int, int]) -> None:
        for cell in cells:
            _on_flower(job(root, "flower", *cell), grid, nodes, FaultPolicy())
        for name, fault_policy in FAULTY.items():
            _on_flower(job(root, "flower", "synthetic", f"faulty:{name}", RUNS[:1]), grid, nodes, fault_policy)

    with trust.session(), pytest.MonkeyPatch.context() as patch:
        trust.allow_all()
        patch.setenv(faulty.FOLDER, str(root))
        patch.setenv("FAULTY_SECONDS", "16")
        simulation.simulate(CLIENTS, work)
    return root


def _on_flower(cell: Job, grid: Grid, nodes: dict[int, int], fault_policy: FaultPolicy) -> None:
    connect = simulation.connector(cell, grid, nodes, fault_policy)
    train_runs(cell, cell.runs, {}, connect, 1, lambda title: lambda *_: None)


def result(root: Path, engine: str, dataset: str, name: str, run: Run = RUNS[0]) -> dict[str, Any]:
    return record.read(root / engine / dataset / name / run.path).result.model_dump()


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("name", METHODS)
def test_a_run_on_flower_has_the_batched_result_bit_for_bit(trained: Path, dataset: str, name: str) -> None:
    for run in RUNS:
        on_flower, in_batch = (result(trained, engine, dataset, name, run) for engine in ("flower", "batched"))
        assert on_flower == in_batch
        assert on_flower["status"] == "finished"


def test_a_round_goes_on_without_a_client_that_raised_and_its_secret_stays_with_it(trained: Path) -> None:
    faulty_result = result(trained, "flower", "synthetic", "faulty:Raises")
    assert faulty_result["status"] == "finished"
    assert faulty_result["faults"] == ["training round 2: client 1 failed (ValueError)"]
    assert faulty_result["weights_sha256"] != result(trained, "batched", "synthetic", FAULTLESS)["weights_sha256"]


def test_a_repeated_round_ends_as_if_the_garbage_had_never_come(trained: Path) -> None:
    assert result(trained, "flower", "synthetic", "faulty:Garbles") == result(
        trained, "batched", "synthetic", FAULTLESS
    )
    assert (trained / "Garbles").exists()


def test_a_round_goes_on_without_a_client_that_is_too_late(trained: Path) -> None:
    faulty_result = result(trained, "flower", "synthetic", "faulty:Dawdles")
    assert faulty_result["status"] == "finished"
    assert faulty_result["faults"][0] == "training round 2: client 1 did not answer in time"
    assert all("client 1" in fault for fault in faulty_result["faults"])


def test_a_record_of_flower_says_what_the_channel_carried(trained: Path) -> None:
    for name in METHODS:
        on_flower = record.read(trained / "flower" / "synthetic" / name / RUNS[0].path)
        traffic, channel = on_flower.result.traffic, on_flower.circumstances.channel
        assert channel["messages"] == sum(phase["messages"] for phase in traffic.values())
        assert channel["up"] > sum(phase["up"] for phase in traffic.values())
        assert channel["down"] > sum(phase["down"] for phase in traffic.values())


def test_flower_and_ray_report_nothing_home() -> None:
    assert telemetry.FLWR_TELEMETRY_ENABLED == "0"
    assert not usage_lib.usage_stats_enabled()


TRAIN = """
import sys
from pathlib import Path
from eflops.config.cell import CellSpec
from eflops.results.labels import Run
from eflops.data.job import Job
from eflops.training.train import train
spec, data, folder, *runs = sys.argv[1:]
job = Job(CellSpec.model_validate_json(spec), Path(data), Path(folder), tuple(map(eval, runs)), 32)
print("trained", train(job, lambda title: lambda *_: None))
"""


@pytest.mark.slow
def test_training_runs_on_flower_and_leaves_no_process_behind(trained: Path, tmp_path: Path) -> None:
    cell = job(trained, "flower", "synthetic", "fediht")
    mark = {"EFLOPS_TEST_MARK": str(tmp_path)}
    arguments = [cell.spec.text(), str(cell.data), str(tmp_path), *map(repr, RUNS)]
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, *arguments],
        env={**os.environ, **mark},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert "trained 2" in done.stdout
    for run in RUNS:
        assert record.read(tmp_path / run.path).result == record.read(cell.folder / run.path).result
    assert not psutil.wait_procs(list(marked(mark)), timeout=60)[1]


def marked(mark: dict[str, str]) -> Iterator[psutil.Process]:
    """The processes that inherited this environment."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if mark.items() <= process.environ().items():
                yield process
