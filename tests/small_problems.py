"""Small problems that several tests train on, and a way to train them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from eflops.config.cell import CellSpec
from eflops.config.load import read
from eflops.config.settings import TrainingSettings, settings_class
from eflops.data.federation import Block, Federation
from eflops.data.job import Job
from eflops.files import PROJECT
from eflops.results.labels import Run
from eflops.results.record import Result
from eflops.training.engines import batched, reference
from eflops.training.methods.base import Task
from eflops.training.rounds import Connect, Server
from eflops.training.train import make_method, make_result, make_task
from eflops.training.training_log import TrainingLog

SYNTHETIC = {
    "kind": "synthetic", "features": 100, "density": 0.1, "correlation": 0.2, "snr": 20.0, "test_rows": 50,
    "clients": 4, "count_concentration": 1.0, "min_rows": 8, "shift_scale": 0.5, "shift_offset": 0.0,
}  # fmt: skip
GOLUB = read(PROJECT / "config.yaml").datasets["golub"].model_dump()

# Every method that comes with the package, with settings under which it learns the small problem.
METHODS: dict[str, dict[str, Any]] = {
    "eflops": {"rate": 0.05, "gate_rate": 0.5, "temperature": 0.01},
    "flops": {"rate": 0.05, "gate_rate": 0.5, "temperature": 0.0},
    "fediht": {"rate": 0.05},
    "fediterht": {"rate": 0.05},
    "fedavg": {"rate": 0.05},
    "feddualavg": {"rate": 0.05, "l1": 0.05},
    "eflops_feedback": {"rate": 0.05, "gate_rate": 0.5, "temperature": 0.01, "feedback": 0.15},
    "fedavg_feedback": {"rate": 0.05, "feedback": 0.15},
}
GATED = {"eflops", "flops", "eflops_feedback"}


def random_images() -> Federation:
    """Random images with random labels: two clients of the CNN."""
    draw = np.random.default_rng(0)

    def block(rows: int) -> Block:
        return Block(draw.random((rows, 1, 28, 28), np.float32), draw.integers(0, 10, rows))

    return Federation((block(6), block(5)), block(7), {}, {"classes": 10})


def train_runs(
    federation: Federation,
    model: str,
    name: str,
    seeds: Sequence[int],
    changes: Sequence[dict[str, Any]] = (),
    **settings: Any,
) -> tuple[Tensor, TrainingLog]:
    """The final parameters and the log of runs trained side by side."""
    return _train(federation, model, name, seeds, changes, settings)[1:]


def train_results(federation: Federation, model: str, name: str, seeds: Sequence[int], **settings: Any) -> list[Result]:
    """The results of runs trained side by side, as their records would hold them."""
    task, theta, log = _train(federation, model, name, seeds, (), settings)
    return [make_result(task, theta[row], log, row) for row in range(len(seeds))]


def _train(
    federation: Federation,
    model: str,
    name: str,
    seeds: Sequence[int],
    changes: Sequence[dict[str, Any]],
    settings: dict[str, Any],
) -> tuple[Task, Tensor, TrainingLog]:
    batched.prepare()
    job, variants = small_job(model, name, changes or [{}] * len(seeds), settings)
    task, evaluation = make_task(job, variants, federation)
    server = Server(task, evaluation, batched.transport(task, federation), 3, lambda *_: None)
    return task, *server.run(make_method(job, task), seeds)


def train_reference(
    federation: Federation, model: str, name: str, seed: int, **settings: Any
) -> tuple[Tensor, TrainingLog]:
    """The same of one run trained in plain torch."""
    job, variants = small_job(model, name, [{}], settings)
    task, evaluation = make_task(job, variants, federation)
    results = []

    def work(connect: Connect, largest_block: int) -> None:
        clients: Any = connect(task, federation, Run("base", 0, seed))
        results.append(reference.Server(task, evaluation, clients, 3, lambda *_: None).run(None, [seed]))

    reference.run(Job(job, Path(), Path(), ()), work)
    return results[0]


def small_job(
    model: str, name: str, changes: Sequence[dict[str, Any]], settings: dict[str, Any]
) -> tuple[CellSpec, list[TrainingSettings]]:
    """A cell, and the settings of its runs; `intercept` among them is the model's."""
    settings = {**settings}
    intercept = settings.pop("intercept", False)
    method = "eflops" if name in GATED else name.removesuffix("_feedback")
    chosen = {"rounds": 12, "local_steps": 2, "finetune_rounds": 3, **METHODS.get(name, {}), **settings}
    density = {"linear": 0.1, "softmax": 0.001, "cnn": 0.025, "glm": 0.25}[model]
    job = {
        "experiment": "small", "dataset": "small", "ratio": "all", "model": model, "density": density, "name": name,
        "client_fraction": 0.6, "method": method, "options": {}, "pooled": False, "engine": "batched",
        "evaluate_every": 3, "variants": {}, "intercept": intercept,
    }  # fmt: skip
    variants = [settings_class(method).model_validate({**chosen, **change}) for change in changes]
    return CellSpec.model_validate(job), variants
