"""study.json: the checked config and the code that a results folder was made with."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import eflops
from eflops.code import code_hashes, data_module, training_roots
from eflops.config.load import check, read
from eflops.config.models import Config
from eflops.errors import UserError
from eflops.files import read_json, write_text

NAME = "study.json"


@dataclass(frozen=True)
class Study:
    """The config, and the content hash of every module by name (empty where it was not recorded)."""

    config: Config
    code: dict[str, str]


def write(raw: Mapping[str, Any], path: Path) -> None:
    """Write the study of a config and of the present code; methods keep the config's order, which tables follow."""
    config = check(raw)
    stored = {"config": config.model_dump(mode="json"), "code": present_code(config)}
    write_text(path, json.dumps(stored, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def read_study(folder: Path, *configs: Path) -> Study:
    """The study of a results folder, or of the config files where they are given."""
    if configs:
        return Study(read(*configs), {})
    try:
        stored = read_json(folder / NAME)
        return Study(check(stored["config"]), stored["code"])
    except FileNotFoundError:
        raise UserError(
            f"{folder}: there is no {NAME}, so this is not a results folder; name one, or make it with: snakemake all"
        ) from None
    except (json.JSONDecodeError, KeyError, TypeError):
        raise UserError(f"{folder / NAME}: this is not a study as the workflow writes it; make it again.") from None


def present_code(config: Config) -> dict[str, str]:
    """The content hash of every module of the package, and of the methods and data sets of one's own."""
    return code_hashes(*_package_modules(), *_own_modules(config))


def _package_modules() -> Iterator[str]:
    root = Path(eflops.__file__).parent
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _own_modules(config: Config) -> Iterator[str]:
    for method in config.methods.values():
        yield training_roots(method.method, "linear", config.engine)[-1]
    for dataset in config.datasets.values():
        yield data_module(dataset.kind)
