"""docs/config.md, written from the models: python docs/config_page.py > docs/config.md"""

import json
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic.fields import FieldInfo

from eflops.config.models import KINDS, Admission, Config, Dataset, Experiment, Interval, Method, Search
from eflops.config.settings import DEFAULTS, FeedbackSettings, GatedSettings, LassoSettings, Strict, TrainingSettings

HEAD = """# The config file

`config.yaml` describes all of the paper's experiments. A file given with `--configfile` is merged into it, mapping by
mapping; a list replaces a list. `eflops check --config FILE` lists every error. [choices.md](choices.md) explains the
values. This page is generated from the models that validate the file (`src/eflops/config/models.py`, `settings.py`).

## Which setting is in effect

A method's settings in an experiment come from these sources; later ones override earlier ones:

1. the method's defaults (below), then `methods.<name>.defaults`
2. `chosen`: what a search chose for the data set, or for the one that its `settings_like` names
3. `chosen`: the entry that the experiment's `chosen_entry` names
4. `methods.<name>.settings`
5. `methods.<name>.per_dataset`
6. `experiments.<name>.settings`, or `searches.<name>.settings`
7. one value of `vary`, one of the `cases`, or one trial of a search

So the config overrides what a search chose, except for `defaults`. A search ignores `chosen`.
With `methods.<name>.settings_like`, a method uses the chosen settings of another method.

`eflops settings EXPERIMENT [METHOD]` prints every setting in effect, with its file and key.
`eflops check` lists each chosen setting that the config overrides.
"""
SECTIONS: tuple[tuple[str, type[Strict], type[Strict]], ...] = (
    ("Top-level keys", Config, Strict),
    ("`datasets.<name>`: every data set", Dataset, Strict),
    *((f"`datasets.<name>` with `kind: {kind}`", model, Dataset) for kind, model in KINDS.items() if kind != "own"),
    ("`datasets.<name>` with a custom builder", KINDS["own"], Dataset),
    ("`methods.<name>`", Method, Strict),
    ("Settings of every method", TrainingSettings, Strict),
    ("Further settings of eflops, fedavg and custom methods", FeedbackSettings, TrainingSettings),
    ("Further settings of eflops", GatedSettings, FeedbackSettings),
    ("Further settings of feddualavg", LassoSettings, TrainingSettings),
    ("`experiments.<name>`", Experiment, Strict),
    ("`searches.<name>`", Search, Strict),
    ("`searches.<name>.admit`", Admission, Strict),
    ("`searches.<name>.ranges.<setting>`", Interval, Strict),
)
# A limit from here on guards against slips of the pen and is not worth a reader's time.
LARGE = 10**9
NAMES: dict[object, str] = {
    int: "whole number",
    float: "number",
    bool: "true or false",
    str: "text",
    type(None): "null",
}
SIGNS = {Ge: (">=", "ge"), Gt: (">", "gt"), Le: ("<=", "le"), Lt: ("<", "lt")}


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(part for section in SECTIONS for part in _section(*section)), _defaults()])


def _defaults() -> str:
    rows = [
        f"| `{method}` | {', '.join(f'{key}: {json.dumps(value)}' for key, value in values.items())} |"
        for method, values in DEFAULTS.items()
    ]
    lines = ["## Where a method's defaults differ", "", "| method | defaults |", "| --- | --- |", *rows, ""]
    return "\n".join(lines)


def _section(title: str, model: type[Strict], base: type[Strict]) -> Iterator[str]:
    summary = (model.__doc__ or "").strip().partition("\n")[0]
    yield f"## {title}\n\n{summary}\n"
    yield "| key | type | default | meaning |\n| --- | --- | --- | --- |"
    for name, field in model.model_fields.items():
        if name not in base.model_fields:
            cells = (f"`{name}`", _type(_whole(field)), _default(field), field.description or "")
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def _whole(field: FieldInfo) -> Any:
    """The field's type with what pydantic took off it."""
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    words = {None: "null", True: "true", False: "false", "": "empty"}
    value = field.default
    if isinstance(value, Strict):
        return "{}"
    return words[value] if value is None or isinstance(value, bool) or value == "" else str(value)


def _type(kind: object) -> str:
    """A type in words that a person who writes YAML knows."""
    if get_origin(kind) is Annotated:
        inner, *marks = get_args(kind)
        limits = [limit for mark in marks for limit in _limits(mark)]
        return " ".join([_type(inner), ", ".join(limits)]).strip()
    if get_origin(kind) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return _union(get_args(kind))
    if get_origin(kind) is list:
        return f"list of: {_type(get_args(kind)[0])}"
    if get_origin(kind) is dict:
        return f"mapping of names to: {_type(get_args(kind)[1])}"
    return NAMES.get(kind) or getattr(kind, "__name__", "").lower()


def _union(kinds: tuple[object, ...]) -> str:
    """Alternatives; data sets and plain values have a name of their own."""
    if {bool, int, float, str} <= set(kinds):
        return "value"
    if all(get_origin(kind) is Annotated and isinstance(get_args(kind)[0], type) for kind in kinds):
        return "data set"
    return " or ".join(map(_type, kinds))


def _limits(mark: object) -> Iterator[str]:
    for limit in getattr(mark, "metadata", [mark]):
        if type(limit) in SIGNS:
            sign, name = SIGNS[type(limit)]
            value = getattr(limit, name)
            if value < LARGE:
                yield f"{sign} {value}"
        elif isinstance(limit, MinLen):
            yield "(not empty)"


if __name__ == "__main__":
    print(page(), end="")
