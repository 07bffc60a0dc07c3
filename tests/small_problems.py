"""Small problems that several tests train on, and a way to train them."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from eflops.config.settings import settings_class
from eflops.data.federation import Federation
from eflops.engines import batched
from eflops.engines.rounds import Server, Tally
from eflops.train import make_method, make_task

SYNTHETIC = {
    "kind": "synthetic", "features": 100, "density": 0.1, "correlation": 0.2, "snr": 20.0, "test_rows": 50,
    "clients": 4, "count_concentration": 1.0, "min_rows": 8, "shift_scale": 0.5, "shift_offset": 0.0,
}  # fmt: skip
GOLUB = {
    "kind": "golub",
    "scaling": "intensity",
    "test_rows": 15,
    "clients": 5,
    "count_concentration": 1.0,
    "min_rows": 3,
}

# Every method that comes with the package, with settings under which it learns the small problem.
METHODS: dict[str, dict[str, Any]] = {
    "eflops": {"rate": 0.05, "gate_rate": 0.5, "temperature": 0.01},
    "flops": {"rate": 0.05, "gate_rate": 0.5, "temperature": 0.0},
    "fediht": {"rate": 0.05},
    "fediterht": {"rate": 0.05},
    "fedavg": {"rate": 0.05},
}


def train_runs(
    federation: Federation,
    model: str,
    name: str,
    seeds: Sequence[int],
    changes: Sequence[dict[str, Any]] = (),
    **settings: Any,
) -> tuple[Tensor, Tally]:
    """The final parameters and the tally of runs trained side by side."""
    batched.prepare()
    method = "eflops" if name == "flops" else name
    chosen = {"rounds": 12, "local_steps": 2, "tune_rounds": 3, **METHODS.get(name, {}), **settings}
    job = {"model": model, "density": 0.1 if model == "linear" else 0.001, "client_fraction": 0.6, "method": method}
    job |= {"options": {}, "name": name}
    variants = [settings_class(method).model_validate({**chosen, **change}) for change in changes or [{}] * len(seeds)]
    task, bench = make_task(job, variants, federation)
    server = Server(task, bench, batched.transport(None, task, federation), 3, lambda *_: None)
    return server.run(make_method(job, task), seeds)
