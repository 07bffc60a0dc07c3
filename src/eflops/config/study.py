"""study.json: the checked config and the code that made a results folder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import eflops
from eflops.code import code_hashes, data_module, training_roots
from eflops.config.load import check, read
from eflops.config.models import Config
from eflops.errors import UserError
from eflops.files import read_json, sha256_bytes, write_text
from eflops.results.paths import STUDY
from eflops.results.store import FORMAT, PRESENT_FORMAT, check_format

CONFIG = Path("config.yaml")


# Hashes that a study holds: of itself, and (once published) of the list of all other files.
OWN_HASH, FILES_HASH = "study_sha256", "files_sha256"
# The fingerprint of the key that the published list of hashes was signed with.
SIGNER = "signer"


@dataclass(frozen=True)
class Study:
    """The config, the content hash of every module by name (empty if not recorded), and the plain content of the
    file."""

    config: Config
    code: dict[str, str]
    stored: dict[str, Any] = field(default_factory=dict)


def write(raw: Mapping[str, object], path: Path) -> None:
    """Write the study of a config and the current code; methods keep the config's order, which tables follow."""
    config = check(raw)
    seal({FORMAT: PRESENT_FORMAT, "config": config.model_dump(mode="json"), "code": present_code(config)}, path)


def seal(stored: Mapping[str, object], path: Path) -> None:
    """Write a study with its hash."""
    sealed = {**stored, OWN_HASH: own_hash(stored)}
    write_text(path, json.dumps(sealed, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def own_hash(stored: Mapping[str, object]) -> str:
    """The hash of everything in a study except this hash; the order of methods counts."""
    rest = {key: value for key, value in stored.items() if key != OWN_HASH}
    return sha256_bytes(json.dumps(rest, allow_nan=False, ensure_ascii=False).encode())


def read_study(folder: Path, *configs: Path) -> Study:
    """The study of a results folder, or of config files if given.

    After a single target there is no study yet; then config.yaml is used, if it names this folder.
    """
    if configs:
        return Study(read(*configs), {})
    # A config inside the folder is not the user's but the sender's.
    if not (folder / STUDY).exists() and CONFIG.exists() and not CONFIG.resolve().is_relative_to(folder.resolve()):
        present = read(CONFIG)
        if Path(present.results).resolve() == folder.resolve():
            return Study(present, {})
    check_format(folder)
    try:
        stored = read_json(folder / STUDY)
        if isinstance(stored["config"].get("chosen"), str):
            raise ValueError("a study holds what was chosen, and the name of a file would lead out of the folder")
        return Study(check(stored["config"], trusted=False), dict(stored["code"]), stored)
    except FileNotFoundError:
        raise UserError(
            f"{folder}: there is no {STUDY}, and config.yaml does not name this folder as its results; name a results"
            f" folder, add --config, or make what is missing with: snakemake --cores 2 {folder / STUDY}"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{folder / STUDY}: this is not a study file of the workflow; make it again.") from None


def present_code(config: Config) -> dict[str, str]:
    """The content hash of every module of the package, and of custom methods, models and data sets."""
    methods = (training_roots(entry.method, "linear", config.engine)[-1] for entry in config.methods.values())
    entries = (*config.datasets.values(), *config.experiments.values(), *config.searches.values())
    models = (entry.model.partition(":")[0] for entry in entries if entry.model and ":" in entry.model)
    builders = (data_module(entry.kind) for entry in config.datasets.values())
    root = Path(eflops.__file__).parents[1]
    files = (path.relative_to(root).with_suffix("") for path in Path(eflops.__file__).parent.rglob("*.py"))
    packaged = (".".join(file.parts).removesuffix(".__init__") for file in files)
    return code_hashes(*packaged, *methods, *models, *builders)
