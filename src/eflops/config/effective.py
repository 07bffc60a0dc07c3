"""The settings in effect, each with the file and the key that it comes from; the choices that the config overrides."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eflops.config.load import read_yaml
from eflops.config.messages import unknown
from eflops.config.models import Config, Experiment, entry_of
from eflops.config.plan import layers, variants_of
from eflops.errors import UserError


def settings_text(config: Config, files: Sequence[Path], name: str, method: str | None = None) -> str:
    """The settings of an experiment or search, one per line: value, file and key.

    Args:
        config: the checked config of `files`.
        files: the config files; later ones override.
        name: an experiment or a search.
        method: one of its methods; all of them if not given.
    """
    if name not in (known := [*config.experiments, *config.searches]):
        raise UserError(unknown("experiments", name, known))
    methods = entry_of(config, name).methods
    if method is not None and method not in methods:
        raise UserError(unknown(f"{name}.methods", method, methods))
    raws = [(str(file), read_yaml(file)) for file in files]
    parts = [f"{name}, {each}\n{_method_text(config, raws, name, each)}" for each in ([method] if method else methods)]
    return "\n\n".join(parts)


def _method_text(config: Config, raws: Sequence[tuple[str, Mapping[str, object]]], name: str, method: str) -> str:
    origins = {key: f"{key_path}.{key}" for key_path, part in layers(config, name, method) if key_path for key in part}
    origins |= _changed(config, name, method)
    variants = [dict(settings) for settings in variants_of(config, name, method).values()]
    rows = []
    for key in variants[0]:
        values = list(dict.fromkeys(json.dumps(settings[key]) for settings in variants))
        shown = ", ".join(values[:5]) + (f", ... ({len(values)} values)" if len(values) > 5 else "")
        rows.append((key, shown, _source(raws, origins[key]) if key in origins else "the method's default"))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"  {key:{widths[0]}}  {value:{widths[1]}}  {source}" for key, value, source in rows)


def _changed(config: Config, name: str, method: str) -> dict[str, str]:
    """The key behind each setting that the variants change."""
    entry = entry_of(config, name)
    if isinstance(entry, Experiment):
        cases = {key: f"experiments.{name}.cases" for change in entry.cases.values() for key in change}
        return cases or {key: f"experiments.{name}.vary.{key}" for key in entry.vary}
    return {
        **{key: f"searches.{name}.ranges.{key}" for key in entry.ranges},
        **{key: f"searches.{name}.method_ranges.{method}.{key}" for key in entry.method_ranges.get(method, {})},
        **{key: f"searches.{name}.cross.{method}.{key}" for key in entry.cross.get(method, {})},
    }


def _source(raws: Sequence[tuple[str, Mapping[str, object]]], key_path: str) -> str:
    """The last file that holds a key, with the key; what a search chose is in the file that `chosen` names."""
    keys = key_path.split(".")
    for file, raw in reversed(raws):
        if keys[0] == "chosen" and isinstance(raw.get("chosen"), str):
            return f"{raw['chosen']}: {key_path.partition('.')[2]}"
        value: object = raw
        for key in keys:
            value = value.get(key, _ABSENT) if isinstance(value, Mapping) else _ABSENT
        if value is not _ABSENT:
            return f"{file}: {key_path}"
    return key_path


_ABSENT = object()


def overridden_choices(config: Config) -> Iterator[str]:
    """Each setting that a search chose and that the config overrides, one per line."""
    seen = set()
    for name, entry in config.experiments.items():
        for method in entry.methods:
            chosen: dict[str, tuple[str, Any]] = {}
            for key_path, part in layers(config, name, method):
                for key, value in part.items():
                    if key_path.startswith("chosen."):
                        chosen[key] = (key_path, value)
                    elif key in chosen and chosen[key][1] != value:
                        origin, old = chosen[key]
                        line = f"{key_path}.{key}: {value} overrides {old}, which the search chose ({origin})"
                        if line not in seen:
                            yield line
                        seen.add(line)
