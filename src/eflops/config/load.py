"""Read config files: merge them, reject duplicate keys, and report every error as a sentence."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from eflops import trust
from eflops.config.checks import mistakes
from eflops.config.messages import MISSING, ConfigError, sentences, shown
from eflops.config.models import Config
from eflops.files import locate

# What other config files are laid over.
BASE = Path("config.yaml")
# A config has five levels.
DEEPEST = 40
# With anchors, a few lines can stand for more values than any memory holds.
LARGEST = 1_000_000


class UniqueKeyLoader(yaml.SafeLoader):
    """A YAML loader that rejects duplicate keys; a key that comes from an anchor may be overridden, as usual."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} appears twice", key_node.start_mark
                )
            keys.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a config file; a ConfigError names the file and the line."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), UniqueKeyLoader)
    except OSError as error:
        raise ConfigError([f"{path}: the config file cannot be read ({error.strerror})."]) from None
    except (UnicodeDecodeError, yaml.reader.ReaderError):
        raise ConfigError([f"{path}: this is not a text file in UTF-8; a config file must be one."]) from None
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        tab = "there is a tab; indent with spaces" if "'\\t'" in str(error.problem) else ""
        problem = tab or " ".join(filter(None, [error.context, error.problem]))
        raise ConfigError([f"{path}{line}: this is not valid YAML; {problem}."]) from None
    except RecursionError:
        raise ConfigError([f"{path}: this is nested too deeply; a config has at most {DEEPEST} levels."]) from None
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise ConfigError([f"{path}: this is not valid YAML; {' '.join(str(error).split())}."]) from None
    if content is not None and not isinstance(content, dict):
        raise ConfigError(
            [f"{path}: this is a {type(content).__name__}; a config file has keys, such as 'experiments:'."]
        )
    if unusable := _unusable(content):
        raise ConfigError([f"{path}, {unusable}"])
    return content or {}


def refuse_broken_files(arguments: Iterable[str]) -> None:
    """End the program with a sentence for each config file among a command's arguments that cannot be read.

    The default profile calls it before Snakemake reads these files.
    """
    broken: list[str] = []
    for path in (argument.rpartition("=")[2] for argument in arguments if argument.endswith((".yaml", ".yml"))):
        try:
            read_yaml(Path(path))
        except ConfigError as error:
            broken += error.mistakes
    if broken:
        sys.exit("\n".join(f"config: {mistake}" for mistake in broken))


def _unusable(raw: object) -> str:
    """The part of a config that cannot be traversed or stored, as a sentence; empty if there is none."""
    waiting: list[tuple[tuple[str, ...], object]] = [((), raw)]
    seen = 0
    while waiting:
        path, value = waiting.pop()
        seen += 1
        if seen > LARGEST:
            return f"{'.'.join(path[:3])}...: this has more than {LARGEST:,} values; use fewer anchors."
        key_path = ".".join(path)
        if len(path) > DEEPEST:
            return (
                f"{'.'.join(path[:3])}...: this is nested too deeply, or contains itself; use at most {DEEPEST} levels."
            )
        if isinstance(value, str) and not value.isprintable() and any("\ud800" <= each <= "\udfff" for each in value):
            return f"{key_path}: {value!r} contains half of a character, which no file can store; remove it."
        if isinstance(value, Mapping):
            parts = [(str(key).encode("ascii", "backslashreplace").decode(), key) for key in value]
            waiting += [((*path, part), each) for part, key in parts for each in (key, value[key])]
        elif isinstance(value, list):
            waiting += [((*path, str(number)), each) for number, each in enumerate(value)]
    return ""


def merge(base: Mapping[str, object], change: Mapping[str, object]) -> dict[str, Any]:
    """`base` updated with `change`, mapping by mapping, as Snakemake merges config files."""
    merged = dict(base)
    for key, value in change.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
    return merged


def in_order_of(base: Mapping[str, object], config: Mapping[str, object]) -> dict[str, Any]:
    """`config` with its keys in the order of `base`, at every depth; other keys follow.

    Snakemake puts the keys of an overlay first, and tables and legends follow the order of the methods.
    """
    ordered: dict[str, Any] = {}
    for key in [*(key for key in base if key in config), *(key for key in config if key not in base)]:
        above, value = base.get(key), config[key]
        if isinstance(above, Mapping) and isinstance(value, Mapping):
            value = in_order_of(above, value)
        ordered[key] = value
    return ordered


def read(*paths: Path, trusted: bool = True) -> Config:
    """The config of one file, updated with further files; `trusted`: see `check`."""
    raw: dict[str, Any] = {}
    for path in paths:
        raw = merge(raw, read_yaml(Path(path)))
    if not raw:
        raise ConfigError(
            [f"{' '.join(map(str, paths))}: the file is empty; docs/config.md describes the keys of a config."]
        )
    try:
        return check(raw, trusted)
    except ConfigError as error:
        if any(mistake.endswith(MISSING) for mistake in error.mistakes) and BASE.exists() and BASE not in paths:
            right = f"if it changes parts of {BASE}, name that file first: --config {BASE} --config {paths[0]}"
            raise ConfigError([*error.mistakes, f"{paths[0]}: {right}"]) from None
        raise


def with_chosen(raw: Mapping[str, object]) -> dict[str, Any]:
    """`raw` with the content of its file of chosen settings instead of the file's name, so it is self-contained."""
    path, methods = raw.get("chosen"), raw.get("methods")
    if not isinstance(path, str) or not isinstance(methods, Mapping):
        return dict(raw)
    file = locate(path)
    if file is None:
        raise ConfigError([f"chosen: there is no file {path}; name one that `make search` wrote, or remove this key."])
    chosen, by_case = {}, _case_entries(raw)
    experiments: dict[str, Any] = {**(raw.get("experiments") or {})}  # type: ignore[dict-item]
    for entry, by_method in read_yaml(file).items():
        if not isinstance(by_method, Mapping) or not all(isinstance(each, Mapping) for each in by_method.values()):
            right = "it should map data sets to methods, and methods to settings, such as eflops: {rate: 0.1}"
            raise ConfigError([f"{path}, {entry}: {shown(by_method)} is wrong; {right}."])
        for name in by_case.get(entry, ()):
            experiments[name] = {**experiments[name], "cases": merge(by_method, experiments[name].get("cases") or {})}
        # The file may hold methods that this config leaves out, and cases.
        chosen[entry] = {method: settings for method, settings in by_method.items() if method in methods}
    return {**raw, "chosen": chosen, **({"experiments": experiments} if experiments else {})}


def _case_entries(raw: Mapping[str, object]) -> dict[str, list[str]]:
    """The experiments whose cases are in the file of chosen settings, by the entry of the cases."""
    experiments = raw.get("experiments")
    by_entry: dict[str, list[str]] = {}
    for name, entry in experiments.items() if isinstance(experiments, Mapping) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("cases_of"), str):
            by_entry.setdefault(entry["cases_of"], []).append(name)
    return by_entry


def check(raw: Mapping[str, object], trusted: bool = True) -> Config:
    """The config of a plain mapping; a ConfigError lists every mistake.

    trusted: whether the config is the user's, so the code that it names may run.
    """
    if unusable := _unusable(raw):
        raise ConfigError([unusable])
    raw = with_chosen(raw)
    try:
        config = Config.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(sentences(error, raw)) from None
    # One sentence per key: each method of an experiment would repeat it.
    first_by_key: dict[str, str] = {}
    for mistake in mistakes(config, trusted):
        first_by_key.setdefault(mistake.partition(": ")[0], mistake)
    if first_by_key:
        raise ConfigError(first_by_key.values())
    if trusted:
        trust.allow_config(config.model_dump(mode="json"))
    return config
