"""Loading the config and checking what one entry says about another."""

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from eflops.config.mistakes import ConfigError, sentences, unknown
from eflops.config.models import Config, Experiment, Interval, Search, Synthetic
from eflops.config.settings import TrainingSettings, settings_class


def merge(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `change` laid over it, mapping by mapping, as Snakemake merges config files."""
    merged = dict(base)
    for key, value in change.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def read(*paths: Path) -> Config:
    """The config of one file, with further files laid over it."""
    raw: dict[str, Any] = {}
    for path in paths:
        try:
            raw = merge(raw, yaml.safe_load(Path(path).read_text(encoding="utf-8")) or {})
        except yaml.YAMLError as error:
            raise ConfigError([f"{path}: this is not valid YAML; {' '.join(str(error).split())}."]) from None
    return check(raw)


def check(raw: Mapping[str, Any]) -> Config:
    """The config of a plain mapping, or a ConfigError that lists every mistake."""
    try:
        config = Config.model_validate(dict(raw))
    except ValidationError as error:
        raise ConfigError(sentences(error, raw)) from None
    checks = (_dataset_mistakes, _method_mistakes, _experiment_mistakes, _search_mistakes)
    first_by_place: dict[str, str] = {}
    for mistake in (mistake for find in checks for mistake in find(config)):
        first_by_place.setdefault(mistake.partition(": ")[0], mistake)
    if first_by_place:
        raise ConfigError(first_by_place.values())
    return config


def resolve(config: Config, method: str, dataset: str, *changes: Mapping[str, Any]) -> TrainingSettings:
    """The settings of a method on a data set: its own, those for the data set, then `changes` in order."""
    entry = config.methods[method]
    like = config.datasets[dataset].settings_like or dataset
    values = {**entry.settings, **entry.per_dataset.get(like, {})}
    for change in changes:
        values.update(change)
    return settings_class(entry.method).model_validate(values)


def _settings_mistakes(config: Config, method: str, values: Mapping[str, Any], place: str) -> Iterator[str]:
    """Mistakes in a part of a method's settings; every setting has a default, so a part can be checked alone."""
    model = settings_class(config.methods[method].method)
    try:
        model.model_validate(dict(values))
    except ValidationError as error:
        yield from sentences(error, values, model, place)


def _dataset_mistakes(config: Config) -> Iterator[str]:
    for name, entry in config.datasets.items():
        if entry.settings_like and entry.settings_like not in config.datasets:
            yield unknown(f"datasets.{name}.settings_like", entry.settings_like, config.datasets)


def _method_mistakes(config: Config) -> Iterator[str]:
    for name, entry in config.methods.items():
        module = entry.method.split(":")[0] if ":" in entry.method else f"eflops.methods.{entry.method}"
        try:
            found = importlib.util.find_spec(module) is not None
        except ModuleNotFoundError:
            found = False
        if not found:
            right = "name a method of eflops.methods or 'module:Class'"
            yield f"methods.{name}.method: there is no module {module}; {right}."
            continue
        yield from _settings_mistakes(config, name, entry.settings, f"methods.{name}.settings")
        for dataset, values in entry.per_dataset.items():
            if dataset not in config.datasets:
                yield unknown(f"methods.{name}.per_dataset", dataset, config.datasets)
            yield from _settings_mistakes(config, name, values, f"methods.{name}.per_dataset.{dataset}")


def _names_mistakes(config: Config, entry: Experiment | Search, place: str) -> Iterator[str]:
    """Mistakes in the data set, the methods and the ratios that an experiment or search names."""
    if entry.dataset not in config.datasets:
        yield unknown(f"{place}.dataset", entry.dataset, config.datasets)
        return
    for method in entry.methods:
        if method not in config.methods:
            yield unknown(f"{place}.methods", method, config.methods)
    sized = isinstance(config.datasets[entry.dataset], Synthetic)
    if sized and not entry.ratios:
        yield f"{place}.ratios: missing; synthetic data needs at least one N/d, such as [0.64]."
    if not sized and entry.ratios:
        yield f"{place}.ratios: {entry.ratios} is wrong; {entry.dataset} has a fixed size, so leave this key out."


def _known_methods(config: Config, entry: Experiment | Search) -> list[str]:
    return [method for method in entry.methods if method in config.methods]


def _experiment_mistakes(config: Config) -> Iterator[str]:
    for name, entry in config.experiments.items():
        place = f"experiments.{name}"
        yield from _names_mistakes(config, entry, place)
        if entry.vary and entry.cases:
            yield f"{place}: vary and cases cannot both be given; keep one of them."
        for method in _known_methods(config, entry):
            yield from _settings_mistakes(config, method, entry.settings, f"{place}.settings")
            for key, values in entry.vary.items():
                for value in values:
                    yield from _settings_mistakes(config, method, {key: value}, f"{place}.vary")
            for case, settings in entry.cases.items():
                yield from _settings_mistakes(config, method, settings, f"{place}.cases.{case}")


def _search_mistakes(config: Config) -> Iterator[str]:
    for name, entry in config.searches.items():
        place = f"searches.{name}"
        yield from _names_mistakes(config, entry, place)
        for method in _known_methods(config, entry):
            ranges = {**entry.ranges, **entry.method_ranges.get(method, {})}
            for key, values in ranges.items():
                ends = [values.low, values.high] if isinstance(values, Interval) else values
                for value in ends:
                    yield from _settings_mistakes(config, method, {key: value}, f"{place}.ranges")
        for other, experiment in config.experiments.items():
            if experiment.dataset == entry.dataset and set(experiment.draws) & set(entry.draws):
                shared = sorted(set(experiment.draws) & set(entry.draws))
                right = "a search needs draws of its own"
                yield f"{place}.draws: {shared} are also evaluated by experiments.{other}; {right}."
