"""Turning validation errors into sentences: where, what stands there, and what would be right."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from eflops.config.models import Config, Dataset, Experiment, Golub, Interval, Method, Mnist, OwnData, Search, Synthetic
from eflops.errors import UserError

KINDS: dict[str, type[Dataset]] = {"synthetic": Synthetic, "golub": Golub, "mnist": Mnist}


class ConfigError(UserError):
    """One or more mistakes in the config, a sentence each."""

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = list(mistakes)
        super().__init__("\n".join(self.mistakes))


def sentences(error: ValidationError, raw: Any, model: type[BaseModel] | None = None, prefix: str = "") -> list[str]:
    """One sentence for each place of a validation error; a value that fits no branch of a union is one mistake."""
    found: dict[str, str] = {}
    for detail in error.errors():
        path = _path(detail["loc"], raw, detail["type"])
        place = ".".join(filter(None, [prefix, *map(str, path)])) or "the config"
        found.setdefault(place, _sentence(place, detail, path, raw, model))
    return list(found.values())


def unknown(place: str, key: str, known: Iterable[str]) -> str:
    """The sentence for a name that is not known, with the nearest one that is."""
    names = sorted(known)
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.0)
    hint = f"did you mean '{near[0]}'? Known here: {', '.join(names)}" if near else "nothing may stand here"
    return f"{place}: '{key}' is not known; {hint}."


def _sentence(place: str, detail: Any, path: list[Any], raw: Any, model: type[BaseModel] | None) -> str:
    kind, value = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return unknown(place, str(path[-1]), (model or _model_at(path[:-1], raw)).model_fields)
    if kind == "missing":
        return f"{place}: missing; this key is required."
    if kind.startswith("union_tag"):
        stated = value.get("kind") if isinstance(value, Mapping) else value
        return f"{place}.kind: {stated!r} is not a data set; it should be synthetic, golub, mnist or 'module:function'."
    reason = detail["msg"].removesuffix(".").replace("Input should", "it should").replace("String should", "it should")
    return f"{place}: {value!r} is wrong; {reason[0].lower()}{reason[1:]}."


def _path(location: tuple[Any, ...], raw: Any, kind: str) -> list[Any]:
    """The keys of a location, without the branch names that pydantic puts between them."""
    path: list[Any] = []
    current = raw
    for position, part in enumerate(location):
        last = position == len(location) - 1
        if (isinstance(current, Mapping) and part in current) or (
            isinstance(current, list) and isinstance(part, int) and part < len(current)
        ):
            current = current[part]
        elif not (last and kind == "missing"):
            continue
        path.append(part)
    return path


def _model_at(path: list[Any], raw: Any) -> type[BaseModel]:
    """The model that checks the mapping at `path`."""
    if len(path) < 2:
        return Config
    if path[0] == "datasets":
        return KINDS.get(raw["datasets"][path[1]].get("kind"), OwnData)
    if len(path) > 2:
        return Interval
    models: dict[str, type[BaseModel]] = {"methods": Method, "experiments": Experiment, "searches": Search}
    return models[path[0]]
