"""The one gate through which code is imported by name.

Methods, models, engines, kinds of data, makers of tables and figures, and claims are named in configs, results folders
and Flower messages. A name is imported only if one of these holds:

- it is a part of this package that is intended for its role (`_is_packaged`);
- the user's config names it: one that was checked in this `session`, or one of its `own_configs`;
- the user allows it: `--trust` on the command line, or a job of the user's workflow.

So a results folder or a message from somebody else is data: it cannot choose what runs.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from eflops.errors import UserError, failed

Role = Literal["engine", "method", "model", "data set", "product", "claim", "section"]
Names = set[tuple[Role, str]]

# Where the package keeps the parts of a role, and what a part of a plain name is called in its module.
PACKAGES: Mapping[Role, tuple[str, str]] = {
    "method": ("eflops.training.methods", "Method"),
    "model": ("eflops.training.models", "build"),
    "data set": ("eflops.data", "build"),
    "product": ("eflops.analysis.products", ""),
    "claim": ("eflops.analysis.scorecard.claims", ""),
    "section": ("eflops.analysis.scorecard", ""),
}
ENGINES = {
    "batched": "eflops.training.engines.batched",
    "reference": "eflops.training.engines.reference",
    "flower": "eflops.flower.simulation",
}
# eflops.data.build finds the builder of a kind and methods.base says what a method is; they are neither.
NO_PARTS: Names = {("data set", "build"), ("method", "base")}
# What the functions of a role return.
RETURNED: Mapping[Role, tuple[str, ...]] = {"product": ("Table", "Figure"), "claim": ("Judgement",)}
# The settings of numba, which it reads in the working folder.
NUMBA = ".numba_config.yaml"
# Where a config names code: the section, and the keys of its entries.
SECTIONS: tuple[tuple[str, str, Role], ...] = (
    ("methods", "method", "method"),
    ("datasets", "kind", "data set"),
    ("datasets", "model", "model"),
    ("experiments", "model", "model"),
    ("searches", "model", "model"),
    ("products", "make", "product"),
)


@dataclass
class _Trusted:
    """The names and configs that the user allowed."""

    names: Names = field(default_factory=set)
    all: bool = False
    # Config files of the user, read when a name is met that is not known otherwise.
    configs: list[Path] = field(default_factory=list)
    # Where the user's modules lie.
    folder: Path | None = None


# Of this thread and session alone: a thread that is started later trusts nothing unless it gets the context.
_trusted: ContextVar[_Trusted] = ContextVar("trusted")


def _present() -> _Trusted:
    """What is let in now; nothing before the first session."""
    if _trusted.get(None) is None:
        _trusted.set(_Trusted())
    return _trusted.get()


class Untrusted(UserError):
    """A name that only the user may allow."""


def load(role: Role, name: str) -> Any:
    """The object with this name in its role: a class, a function, or the module of an engine.

    Args:
        role: what the name is used as.
        name: the plain name of a part of the package ("fedavg"), or "module:attribute".

    Raises:
        Untrusted: the name is neither the package's nor the user's.
        UserError: there is no such module, or it has no such attribute.
    """
    module, attribute = _target(role, name)
    packaged = _is_packaged(role, name)
    if not packaged and not is_trusted(role, name):
        raise Untrusted(
            f"{name}: this {role} is not part of eflops, so a results folder or a message cannot run"
            " it; name it in config.yaml if it is yours, or add --trust if you trust the author of the folder."
        )
    if (folder := own_folder()) and not packaged and str(folder) not in sys.path:
        # Last, so that no file there shadows a library. Not before a name is trusted: libraries try to import many
        # modules that are not installed, and a results folder in which a command is typed may hold files of such names.
        sys.path.append(str(folder))
    try:
        imported = import_module(module)
    except ModuleNotFoundError as error:
        # The module is there, and what it imports is not.
        if error.name and not f"{module}.".startswith(f"{error.name}."):
            raise UserError(f"{name}: this {role} needs the module {error.name}, which is not installed.") from None
        right = f"put {module}.py beside the Snakefile" if ":" in name else f"create it, or write 'module:{role}'"
        raise UserError(f"{name}: there is no module {module}; {right}.") from None
    except Exception as error:
        raise failed(f"{name}: the import of {module}", error) from error
    if attribute and not hasattr(imported, attribute):
        raise UserError(f"{name}: the module {module} has no {attribute}.")
    return getattr(imported, attribute) if attribute else imported


def is_trusted(role: Role, name: str) -> bool:
    """Whether the user allowed a name, for all roles or for this one."""
    trusted = _present()
    while not trusted.all and (role, name) not in trusted.names and trusted.configs:
        allow_config(_read(trusted.configs.pop()))
    return trusted.all or (role, name) in trusted.names


def allow(role: Role, name: str) -> None:
    """Allow a name."""
    _present().names.add((role, name))


def allow_all() -> None:
    """Allow every name, in a process that the user started."""
    _present().all = True


def allow_config(config: object) -> None:
    """Allow all names in the user's config, given as a plain mapping."""
    _present().names.update(_named(config))


@contextmanager
def session(*own_configs: Path, folder: Path | None = None) -> Iterator[None]:
    """Trust only names in these config files of the user and names allowed within the session; restores the previous
    state afterwards.

    Every command, job and answer of a Flower node is a session, so none inherits the trust of another one.

    Args:
        own_configs: config files of the user; they may be missing.
        folder: an additional folder for the user's modules.
    """
    if folder:
        _refuse_settings(folder)
    path = list(sys.path)
    configs = [config.absolute() for config in own_configs]
    before = _trusted.set(_Trusted(configs=configs, folder=folder and folder.absolute()))
    try:
        yield
    finally:
        _trusted.reset(before)
        sys.path[:] = path


def own_folder() -> Path | None:
    """The additional folder for the user's modules."""
    return _present().folder


def disown(folder: Path) -> None:
    """Treat files in a folder that is only read as its sender's, not as the user's."""
    _refuse_settings(folder)
    inside, trusted = folder.resolve(), _present()
    trusted.configs = [path for path in trusted.configs if not path.resolve().is_relative_to(inside)]
    if trusted.folder and trusted.folder.resolve().is_relative_to(inside) and not trusted.all:
        trusted.folder = None


def _refuse_settings(folder: Path) -> None:
    """Refuse a working folder whose settings numba would obey: they can name machine code to load, or a file to write.

    A folder that is only read can become the working folder too, as a crate does.
    """
    if (folder / NUMBA).exists():
        right = "remove it, or set environment variables instead if it is yours"
        raise UserError(f"{folder / NUMBA}: numba would read this file and run machine code that it names; {right}.")


def _target(role: Role, name: str) -> tuple[str, str]:
    """The module of a name, and the attribute in it."""
    module, _, attribute = name.partition(":")
    if attribute:
        return module, attribute
    if role == "engine":
        return ENGINES.get(name, name), ""
    package, attribute = PACKAGES[role]
    return f"{package}.{name}", attribute


def _is_packaged(role: Role, name: str) -> bool:
    """Whether a name is a part of the package that is intended for its role.

    A plain name is that of a module in the role's package, which defines the role's part. A maker is a function
    that such a module defines and that returns a table or a figure, and a claim's check one that returns a
    judgement. Nothing else in the package can be called.
    """
    if role == "engine":
        return name in ENGINES
    package, plain = PACKAGES[role]
    module, attribute = _target(role, name)
    fits = re.fullmatch(rf"{re.escape(package)}\.[a-z]\w*", module, re.ASCII) is not None
    if not fits or (plain and ":" in name) or (role, name) in NO_PARTS:
        return False
    try:
        part = getattr(import_module(module), attribute, None)
    except ModuleNotFoundError:
        return True  # of the package, and absent: `load` says what is missing
    returned = getattr(part, "__annotations__", {}).get("return")
    fits = role not in RETURNED or getattr(returned, "__name__", returned) in RETURNED[role]
    return part is None or (fits and getattr(part, "__module__", "") == module)


def _named(config: object) -> Names:
    """The names in a config, with their roles."""
    names: Names = set()
    for section, key, role in SECTIONS:
        entries = config.get(section) if isinstance(config, Mapping) else None
        for entry in entries.values() if isinstance(entries, Mapping) else ():
            if isinstance(entry, Mapping) and isinstance(entry.get(key), str):
                names.add((role, entry[key]))
    return names


def _read(path: Path) -> Any:
    """The content of a config file; empty if it cannot be read."""
    import yaml

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None
