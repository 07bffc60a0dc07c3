"""A small config that runs on Flower, and the batched record of one of its runs."""

from pathlib import Path
from typing import Any

import yaml

from eflops.data.federation import save
from eflops.data.job import Job
from eflops.flower.plan import make_draw, plan
from eflops.results import record
from eflops.training.train import train

SYNTHETIC = {
    "kind": "synthetic", "features": 60, "density": 0.1, "correlation": 0.2, "snr": 20, "test_rows": 40, "clients": 3,
    "client_fraction": 1.0, "count_concentration": 1.0, "min_rows": 8, "shift_scale": 0.5, "shift_offset": 0.0,
}  # fmt: skip
CONFIG: dict[str, Any] = {
    "datasets": {"synthetic": SYNTHETIC},
    "methods": {
        "eflops": {"method": "eflops", "label": "E-FLoPS"},
        "fedavg": {"method": "fedavg", "label": "FedAvg"},
        "raises": {"method": "faulty:Raises", "label": "FedAvg, one client of which fails once"},
    },
    "experiments": {
        "small": {
            "dataset": "synthetic",
            "ratios": [1.2],
            "methods": ["eflops", "fedavg", "raises"],
            "seeds": 2,
            "settings": {"rounds": 3, "finetune_rounds": 1, "rate": 0.05, "local_steps": 3, "prune_from": 0.5},
        }
    },
}

# With custom methods whose clients have memory, for nodes in this process: a bundle would lack their module.
STATEFUL: dict[str, Any] = {
    **CONFIG,
    "methods": {
        **CONFIG["methods"],
        "counting": {"method": "stateful:Counting", "label": "FedAvg whose clients count their answers"},
        "shifting": {"method": "stateful:Shifting", "label": "The same with a view"},
    },
    "experiments": {
        "small": {**CONFIG["experiments"]["small"], "methods": ["eflops", "fedavg", "counting", "shifting", "raises"]}
    },
}


def write_config(folder: Path, config: dict[str, Any] = CONFIG, name: str = "config.yaml") -> Path:
    """The config as a file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(config))
    return path


def in_batch(folder: Path, keys: dict[str, Any], config: dict[str, Any] = CONFIG) -> record.Record:
    """The batched record of the run that a run config asks for."""
    write_config(folder, config, keys.get("config", "config.yaml"))
    chosen_run = plan({"experiment": "small", **keys}, folder)
    save(make_draw(chosen_run), folder / "data" / chosen_run.draw_name, chosen_run.made_by)
    spec = chosen_run.spec.model_copy(update={"engine": "batched"})
    job = Job(spec, folder / "data", folder / "runs", (chosen_run.run,), 32)
    train(job, lambda title: lambda *_: None)
    return record.read(job.folder / chosen_run.run.path)


def only_record(results: Path) -> record.Record:
    """The record that a server wrote."""
    (path,) = (results / "runs").rglob("*.json")
    return record.read(path)
