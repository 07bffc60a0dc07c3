"""From experiments to jobs: which cells there are, which runs each trains, and where their records lie."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from eflops.config.load import resolve
from eflops.config.models import Config, Experiment, Interval, Range, Search
from eflops.config.settings import PER_RUN, TrainingSettings, as_typed
from eflops.rng import numpy_generator

BASE = "base"
WHOLE = "all"


@dataclass(frozen=True)
class Run:
    """One training run: a variant of the settings, a data draw and a run seed."""

    variant: str
    draw: int
    seed: int

    @property
    def path(self) -> str:
        """The run's record below its cell's folder."""
        return f"{self.variant}/draw{self.draw}-seed{self.seed}.json"

    @classmethod
    def parse(cls, path: str) -> "Run":
        """The run whose record lies at `path`."""
        parts = PurePosixPath(path)
        draw, seed = parts.stem.split("-")
        return cls(parts.parent.name, int(draw.removeprefix("draw")), int(seed.removeprefix("seed")))


@dataclass(frozen=True)
class Plan:
    """An experiment or search, unfolded: the same runs for each of its ratios and methods."""

    name: str
    dataset: str
    methods: tuple[str, ...]
    ratios: tuple[str, ...]
    draws: tuple[int, ...]
    seeds: tuple[int, ...]
    variants: tuple[str, ...]

    @property
    def runs(self) -> list[Run]:
        """Every run of one cell."""
        return [Run(*parts) for parts in itertools.product(self.variants, self.draws, self.seeds)]

    def parts(self, seeds: int | None) -> Iterator[tuple[str, list[Run]]]:
        """The runs that each job of a cell trains, all or those of so many seeds, with the suffix of its name."""
        if seeds is None or seeds >= len(self.seeds):
            yield "", self.runs
            return
        for start in range(0, len(self.seeds), seeds):
            part = replace(self, seeds=self.seeds[start : start + seeds])
            yield f"_seeds{part.seeds[0]}to{part.seeds[-1]}", part.runs

    def as_json(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}


def ratio_label(ratio: float) -> str:
    """The name of a ratio in paths, e.g. nd0.64."""
    return f"nd{ratio:.2f}"


def ratio_value(label: str) -> float | None:
    """The N/d that a path's label names; None for data of a fixed size."""
    return None if label == WHOLE else float(label.removeprefix("nd"))


def data_label(ratio: str, draw: int) -> str:
    """The folder of one data draw, e.g. nd0.64-draw0."""
    return f"{ratio}-draw{draw}"


def plan(config: Config, name: str) -> Plan:
    """The plan of an experiment or a search."""
    entry = config.experiments[name] if name in config.experiments else config.searches[name]
    return Plan(
        name=name,
        dataset=entry.dataset,
        methods=tuple(entry.methods),
        ratios=tuple(map(ratio_label, entry.ratios)) or (WHOLE,),
        draws=tuple(entry.draws),
        seeds=tuple(range(entry.first_seed, entry.first_seed + entry.seeds)),
        variants=tuple(_changes(entry, entry.methods[0])),
    )


def variants(config: Config, name: str, method: str) -> dict[str, TrainingSettings]:
    """The settings of every variant of a method in an experiment or search."""
    entry = config.experiments[name] if name in config.experiments else config.searches[name]
    return {
        label: resolve(config, method, entry.dataset, entry.settings, change)
        for label, change in _changes(entry, method).items()
    }


def job(config: Config, name: str, ratio: str, method: str) -> dict[str, Any]:
    """All that a cell's training depends on besides data and code: its slice of the config, as JSON values."""
    entry = config.experiments[name] if name in config.experiments else config.searches[name]
    chosen = config.methods[method]
    dataset = config.datasets[entry.dataset]
    return {
        "experiment": name,
        "dataset": entry.dataset,
        "model": dataset.model,
        "density": dataset.density,
        "client_fraction": dataset.client_fraction,
        "ratio": ratio,
        "name": method,
        "method": chosen.method,
        "options": dict(chosen.options),
        "pooled": chosen.pooled,
        "engine": config.engine,
        "evaluate_every": entry.evaluate_every if isinstance(entry, Experiment) else 10**9,
        "variants": {label: as_typed(settings) for label, settings in variants(config, name, method).items()},
    }


def _changes(entry: Experiment | Search, method: str) -> dict[str, dict[str, Any]]:
    """The change of settings behind each variant's label."""
    if isinstance(entry, Search):
        ranges = {**entry.ranges, **entry.method_ranges.get(method, {})}
        return {f"trial{trial:02d}": _draw(ranges, trial, entry.group) for trial in range(entry.trials)}
    if entry.cases:
        return {label: dict(change) for label, change in entry.cases.items()}
    grid = [dict(zip(entry.vary, values, strict=True)) for values in itertools.product(*entry.vary.values())]
    return {_label(change): change for change in grid}


def _label(change: dict[str, Any]) -> str:
    return ",".join(f"{key}={value}" for key, value in change.items()) or BASE


def _draw(ranges: dict[str, Range], trial: int, group: int) -> dict[str, Any]:
    """The settings of one trial of a random search; each setting has a stream of its own.

    What runs of one batch must agree on is drawn once a group of trials, so that a group trains side by side.
    """
    return {key: _draw_one(values, key, trial if key in PER_RUN else trial // group) for key, values in ranges.items()}


def _draw_one(values: Range, key: str, trial: int) -> Any:
    generator = numpy_generator(trial, f"search/{key}")
    if not isinstance(values, Interval):
        return values[int(generator.integers(len(values)))]
    if values.log:
        value = math.exp(generator.uniform(math.log(values.low), math.log(values.high)))
    else:
        value = generator.uniform(values.low, values.high)
    return float(f"{value:.3g}")


def plans(config: Config) -> Iterator[Plan]:
    """The plans of all experiments and searches."""
    for name in (*config.experiments, *config.searches):
        yield plan(config, name)
