"""From experiments to cells: the cells, their runs and settings, and the paths of records."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from eflops.code import engine_of
from eflops.config.cell import CellSpec
from eflops.config.models import (
    FORMER,
    Config,
    Experiment,
    Interval,
    Range,
    Search,
    Value,
    entry_of,
    model_of,
)
from eflops.config.settings import DEFAULTS, PER_RUN, TrainingSettings, settings_class
from eflops.results.labels import BASE, WHOLE, Run, data_label, ratio_label
from eflops.rng import numpy_generator

Changes = dict[str, Value]


@dataclass(frozen=True)
class Plan:
    """An expanded experiment or search: each combination of ratio and method is a cell.

    variants: the labels of each method's variants; the methods of a search may have different ones (`cross`).
    """

    name: str
    dataset: str
    methods: tuple[str, ...]
    ratios: tuple[str, ...]
    draws: tuple[int, ...]
    seeds: tuple[int, ...]
    variants: dict[str, tuple[str, ...]]

    def runs(self, method: str) -> list[Run]:
        """Every run of a method's cells."""
        return [Run(*parts) for parts in itertools.product(self.variants[method], self.draws, self.seeds)]

    @property
    def record_paths(self) -> list[str]:
        """The records of all cells below the experiment's folder, in the order of the gathered tables."""
        return [
            f"{ratio}/{method}/{run.path}"
            for ratio in self.ratios
            for method in self.methods
            for run in self.runs(method)
        ]

    @property
    def data_draws(self) -> Iterator[tuple[str, str, int]]:
        """Each data draw of the cells: its folder below that of all data, its N/d and its number."""
        for ratio, draw in itertools.product(self.ratios, self.draws):
            yield f"{self.dataset}/{data_label(ratio, draw)}", ratio, draw

    def parts(self, seeds: int | None) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The seeds that each job of a cell trains, with the suffix of its name."""
        if seeds is None or seeds >= len(self.seeds):
            yield "", self.seeds
            return
        for start in range(0, len(self.seeds), seeds):
            part = self.seeds[start : start + seeds]
            yield f"_seeds{part[0]}to{part[-1]}", part


def plan_of(config: Config, name: str) -> Plan:
    """The plan of an experiment or a search."""
    entry = entry_of(config, name)
    return Plan(
        name=name,
        dataset=entry.dataset,
        methods=tuple(entry.methods),
        ratios=tuple(map(ratio_label, entry.ratios)) or (WHOLE,),
        draws=tuple(entry.draws),
        seeds=tuple(range(entry.first_seed, entry.first_seed + entry.seeds)),
        variants={method: _labels(entry, method) for method in entry.methods},
    )


def layers(config: Config, name: str, method: str) -> list[tuple[str, Mapping[str, Value]]]:
    """The sources of a method's settings in an experiment or search, later ones override; each with its key.

    The order is: a method's defaults, then those of the config; what a search chose for the data set (or the one it
    is like), then for the entry that `chosen_entry` names; the config's settings of the method, then of the method
    on this data; those of the experiment or search. A variant's change (vary, cases, trial) overrides all. What a
    person writes overrides what a search chose, except `defaults`; a search ignores what searches chose.
    """
    entry, column = entry_of(config, name), config.methods[method]
    searched = isinstance(entry, Search)
    other = None if isinstance(entry, Search) else entry.chosen_entry
    like = config.datasets[entry.dataset].settings_like
    methods = [*filter(None, [column.settings_like]), method]
    choices = {} if searched else config.choices
    first = {"initial": "module"} if ":" in model_of(config, name)[0] else {}
    return [
        ("", {**DEFAULTS.get(column.method, {}), **first}),
        (f"methods.{method}.defaults", column.defaults),
        *(
            (f"chosen.{source}.{each}", choices.get(source, {}).get(each, {}))
            for source in filter(None, [like or entry.dataset, other])
            for each in methods
        ),
        (f"methods.{method}.settings", column.settings),
        *(
            (f"methods.{method}.per_dataset.{source}", column.per_dataset.get(source, {}))
            for source in filter(None, [like, entry.dataset, other])
        ),
        (f"{'searches' if searched else 'experiments'}.{name}.settings", entry.settings),
    ]


def variants_of(config: Config, name: str, method: str) -> dict[str, TrainingSettings]:
    """The settings of every variant of a method in an experiment or search."""
    model = settings_class(config.methods[method].method)
    values = {key: value for _, part in layers(config, name, method) for key, value in part.items()}
    changes = _changes(entry_of(config, name), method)
    return {label: model.model_validate({**values, **change}) for label, change in changes.items()}


def cell_spec(config: Config, name: str, ratio: str, method: str) -> CellSpec:
    """The spec of one cell."""
    return next(spec for spec in cell_specs(config, name, [method]) if spec.ratio == ratio)


def cell_specs(config: Config, name: str, methods: Iterable[str] | None = None) -> Iterator[CellSpec]:
    """The cells of an experiment or search, method by method, without the hash of their code.

    All ratios of a method share their settings, which are validated once.
    """
    plan = plan_of(config, name)
    entry, dataset = entry_of(config, plan.name), config.datasets[plan.dataset]
    model, gated = model_of(config, plan.name)
    for method in plan.methods if methods is None else methods:
        column, variants = config.methods[method], variants_of(config, plan.name, method)
        shared_gates = any(getattr(settings, "gates", "weight") != "weight" for settings in variants.values())
        first = CellSpec(
            experiment=plan.name,
            dataset=plan.dataset,
            model=model,
            gated=gated,
            intercept=getattr(dataset, "intercept", False) and ":" not in model,
            density=dataset.density,
            genes_per_class=getattr(dataset, "genes_per_class", None),
            keep=getattr(dataset, "keep", None),
            client_fraction=dataset.client_fraction,
            ratio=plan.ratios[0],
            name=method,
            method=column.method,
            options=column.options,
            pooled=column.pooled,
            engine=engine_of(config.engine, model, column.method, shared_gates),
            evaluate_every=entry.evaluate_every if isinstance(entry, Experiment) else 10**9,
            variants=variants,
            draws=plan.draws,
            seeds=plan.seeds,
        )
        yield from (first.model_copy(update={"ratio": ratio}) for ratio in plan.ratios)


def _labels(entry: Experiment | Search, method: str) -> tuple[str, ...]:
    """The labels of a method's variants, in order; a crossed trial has one for each value."""
    if isinstance(entry, Search):
        crossed = [f",{_label(change)}" if change else "" for change in _grid(entry.cross.get(method, {}))]
        return tuple(f"trial{trial:02d}{value}" for trial in range(entry.trials) for value in crossed)
    return tuple(entry.cases) or tuple(map(_label, _grid(entry.vary)))


def _changes(entry: Experiment | Search, method: str) -> dict[str, Changes]:
    """The change of settings behind each variant's label."""
    changes: Iterable[Changes]
    if isinstance(entry, Search):
        ranges = {**entry.ranges, **entry.method_ranges.get(method, {})}
        trials = (_draw(ranges, trial, entry.group) for trial in range(entry.trials))
        crossed = _grid(entry.cross.get(method, {}))
        changes = ({**drawn, **change} for drawn in trials for change in crossed)
    else:
        changes = [dict(change) for change in entry.cases.values()] or _grid(entry.vary)
    return dict(zip(_labels(entry, method), changes, strict=True))


def _grid(values: Mapping[str, Sequence[Value]]) -> list[Changes]:
    """Every combination of the values; one empty combination if there are no values."""
    return [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]


def _label(change: Changes) -> str:
    """The variant's folder. Keys are sorted, so the order of the config does not matter.

    Descending, as in the folders of published results.
    """
    return ",".join(f"{key}={change[key]}" for key in sorted(change, reverse=True)) or BASE


def _draw(ranges: dict[str, Range], trial: int, group: int) -> Changes:
    """The settings of one trial of a random search; each setting has a separate random stream.

    Settings that must be equal within a batch are drawn once per group of trials, so a group trains in one batch.
    """
    return {
        key: _draw_one(
            values if isinstance(values, Interval) else tuple(values), key, trial if key in PER_RUN else trial // group
        )
        for key, values in ranges.items()
    }


# A setting that was renamed keeps its stream, so that the trials of earlier searches are reproduced.
STREAMS = {present: former for former, present in FORMER.items()}


@cache
def _draw_one(values: Interval | tuple[Value, ...], key: str, trial: int) -> Value:
    generator = numpy_generator(trial, f"search/{STREAMS.get(key, key)}")
    if not isinstance(values, Interval):
        return values[int(generator.integers(len(values)))]
    if values.log:
        value = math.exp(generator.uniform(math.log(values.low), math.log(values.high)))
    else:
        value = generator.uniform(values.low, values.high)
    return float(f"{value:.3g}")


def all_plans(config: Config) -> Iterator[Plan]:
    """The plans of all experiments and searches."""
    for name in (*config.experiments, *config.searches):
        yield plan_of(config, name)
