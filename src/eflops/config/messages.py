"""Mistakes in the config and in the requested files, as sentences: where, the value, and what would be right."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from eflops.config.jobs import job_files
from eflops.config.models import FORMER, KINDS, Config, Experiment, Interval, Method, OwnData, Search
from eflops.errors import UserError

LONGEST = 80
MISSING = "missing; this key is required."


class ConfigError(UserError):
    """One or more mistakes in the config, one sentence each."""

    def __init__(self, mistakes: Iterable[str]) -> None:
        # A key may hold a line break, and a sentence is one line.
        self.mistakes = [mistake.replace("\r", "\\r").replace("\n", "\\n") for mistake in mistakes]
        super().__init__("\n".join(self.mistakes))


def sentences(error: ValidationError, raw: object, model: type[BaseModel] | None = None, prefix: str = "") -> list[str]:
    """One sentence for each key of a validation error; a value that matches no branch of a union counts as one
    mistake."""
    by_key: dict[str, str] = {}
    # Of the branches of a union the one that says more than "another type" explains best.
    for detail in sorted(error.errors(), key=lambda detail: detail["type"].endswith("_type")):
        path = _path(detail["loc"], raw, detail["type"])
        key_path = ".".join(filter(None, [prefix, *map(str, path)])) or "the config"
        by_key.setdefault(key_path, _sentence(key_path, detail, path, raw, model))
    return list(by_key.values())


def unknown(key_path: str, key: str, known: Iterable[str]) -> str:
    """The sentence for an unknown name, with the nearest known name."""
    names = sorted(map(str, known))
    if FORMER.get(key) in names:
        return f"{key_path}: '{key}' is now called '{FORMER[key]}'; write {FORMER[key]}."
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.0)
    hint = f"did you mean '{near[0]}'? Known here: {', '.join(names)}" if near else "this mapping must be empty"
    return f"{key_path}: '{key}' is not known; {hint}."


def _sentence(
    key_path: str, detail: ErrorDetails, path: list[int | str], raw: object, model: type[BaseModel] | None
) -> str:
    kind, value = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return unknown(key_path, str(path[-1]), (model or _model_at(path[:-1], raw)).model_fields)
    if kind == "missing":
        return f"{key_path}: {MISSING}"
    if kind.startswith("union_tag"):
        stated = value.get("kind") if isinstance(value, Mapping) else value
        known = ", ".join(kind for kind in KINDS if kind != "own")
        return f"{key_path}.kind: {shown(stated)} is not a data set; it should be {known} or 'module:function'."
    reason = detail["msg"].removesuffix(".").replace("Input should", "it should").replace("String should", "it should")
    return f"{key_path}: {shown(value)} is wrong; {reason[0].lower()}{reason[1:]}."


def shown(value: object) -> str:
    """A value as shown in a sentence, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _path(location: tuple[int | str, ...], raw: object, kind: str) -> list[int | str]:
    """The keys of a location, without the branch names that pydantic puts between them."""
    path: list[int | str] = []
    current: Any = raw
    for position, part in enumerate(location):
        last = position == len(location) - 1
        inside = range(len(current)) if isinstance(current, list) else current
        if isinstance(inside, range | Mapping) and part in inside:
            current = current[part]
        elif not (last and kind == "missing"):
            continue
        path.append(part)
    return path


def _model_at(path: list[int | str], raw: object) -> type[BaseModel]:
    """The model that checks the mapping at `path`."""
    if len(path) < 2:
        return Config
    if path[0] == "datasets":
        datasets: Any = raw
        return KINDS.get(str(datasets["datasets"][path[1]].get("kind")), OwnData)
    if len(path) > 2:
        return Interval
    models: dict[str, type[BaseModel]] = {"methods": Method, "experiments": Experiment, "searches": Search}
    return models[str(path[0])]


# Below these folders every file has a name that follows from the config.
NAMED = ("tables", "figures", "gathered", "cells", "search", "data")


def misspelt(file: str, config: Config) -> str:
    """The mistake in a file name that no rule makes, as a sentence; empty for all other words."""
    below = file.removeprefix(f"{config.results}/")
    folder, _, rest = below.partition("/")
    if below == file or not rest or folder not in NAMED:
        return ""
    known = {path for path in job_files(config) if path.startswith(f"{folder}/")}
    near = difflib.get_close_matches(below, sorted(known), n=1, cutoff=0.0)
    if below in known or not near:
        return ""
    return f"{file}: no rule makes this file; did you mean {config.results}/{near[0]}?"
