"""What a whole study would cost from nothing, also at sizes that were never run.

Jobs of one thread are counted with the seconds that their like took: a run of a cell as a measured run of that cell,
scaled where the synthetic data have other features by what benchmarks/scaling.py measured.
"""

import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from eflops.config import cells
from eflops.config.models import Config, Synthetic
from eflops.errors import UserError
from eflops.provenance import study
from eflops.provenance.times import Times, told

SCALING = Path("benchmarks/scaling.csv")


@dataclass(frozen=True)
class Cost:
    """Jobs, hours of one core, and seconds on so many cores; training jobs of which nothing was measured apart."""

    jobs: int
    cpu_hours: float
    cores: int
    seconds: float
    unknown: int

    def as_json(self) -> dict[str, Any]:
        """The cost as JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        unknown = f"; {self.unknown} jobs were never measured and are not counted" if self.unknown else ""
        hours, time = f"{self.cpu_hours:.1f} CPU hours", f"{told(self.seconds)} on {self.cores} cores"
        return f"Forecast: {self.jobs} jobs, {hours}, {time}{unknown}."


def resized(config: Config, seeds: int | None, features: int | None, seeds_per_job: int | None) -> Config:
    """The study with other numbers of seeds, where it has the most of them, and of synthetic features."""
    changes: dict[str, Any] = {}
    if seeds:
        most = max(entry.seeds for entry in config.experiments.values())
        changes["experiments"] = {
            name: entry.model_copy(update={"seeds": seeds}) if entry.seeds == most else entry
            for name, entry in config.experiments.items()
        }
    if features:
        changes["datasets"] = {
            name: entry.model_copy(update={"features": features}) if isinstance(entry, Synthetic) else entry
            for name, entry in config.datasets.items()
        }
    if seeds_per_job:
        changes["seeds_per_job"] = seeds_per_job
    return config.model_copy(update=changes)


def cost(config: Config, results: Path, cores: int) -> Cost:
    """The cost of all experiments of a config, by what the jobs of a results folder took."""
    past = Past(results)
    known = [("train", seconds) for seconds in past.training(config) if seconds is not None]
    others = [(name.split("/")[0], seconds) for name, seconds in past.times.seconds.items() if name[:6] != "train/"]
    jobs = [*known, *others]
    unknown = sum(seconds is None for seconds in past.training(config))
    hours = sum(seconds for _, seconds in jobs) / 3600
    return Cost(len(jobs) + unknown, round(hours, 2), cores, past.times.together(jobs, cores), unknown)


class Past:
    """What the jobs of a results folder took, and how many runs they trained."""

    def __init__(self, results: Path) -> None:
        self.times = Times(results)
        self.config = study.read_study(results).config

    def training(self, config: Config) -> Iterator[float | None]:
        """The seconds of every training job of the experiments; None where no run like its own was measured."""
        for name in config.experiments:
            plan = cells.plan(config, name)
            for ratio in plan.ratios:
                factor = self._factor(config, plan.dataset, ratio)
                for method in plan.methods:
                    each = self._run_seconds(name, ratio, method)
                    for _, runs in plan.parts(config.seeds_per_job):
                        yield None if each is None else each * len(runs) * factor

    def _run_seconds(self, name: str, ratio: str, method: str) -> float | None:
        """The seconds of one run, start of the process included, as its cell was measured."""
        cell = f"train/{name}/{ratio}/{method}"
        found = [
            seconds for job, seconds in self.times.seconds.items() if job == cell or job.startswith(f"{cell}_seeds")
        ]
        return sum(found) / len(cells.plan(self.config, name).runs) if found else None

    def _factor(self, config: Config, dataset: str, ratio: str) -> float:
        """How much more a run costs for the features it has; rows grow with them, because N/d stays."""
        before, now = self.config.datasets.get(dataset), config.datasets[dataset]
        if not (isinstance(before, Synthetic) and isinstance(now, Synthetic)) or before.features == now.features:
            return 1.0
        share = cells.ratio_value(ratio) or 1.0
        was, is_ = (np.dot(self._round, _terms(each.features, share * each.features)) for each in (before, now))
        return float(is_ / was)

    @cached_property
    def _round(self) -> np.ndarray:
        """What a round of eflops costs: a constant, so much a feature, and so much a feature and row; fitted."""
        if not SCALING.exists():
            raise UserError(f"{SCALING}: there is no such file; make it with: python benchmarks/scaling.py")
        with open(SCALING, newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if row["method"] == "eflops"]
        terms = np.array([_terms(float(row["features"]), float(row["rows"])) for row in rows])
        spent = np.array([float(row["ms_per_round"]) for row in rows])
        alike = np.array([row["varied"] in ("features", "rows") for row in rows])
        # Divided by what was measured, so that small sizes count as much as large ones.
        return nnls((terms / spent[:, None])[alike], np.ones(alike.sum()))[0]


def _terms(features: float, rows: float) -> tuple[float, float, float]:
    return 1.0, features, features * rows
