"""Write requirements.lock from the packages of this environment, and the conda environments of the rules.

`make lock` runs it. The lock holds what pyproject.toml names, extras included, and everything those need;
a package that merely happens to be installed here stays out.
"""

import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "pyproject.toml"
LOCK = ROOT / "requirements.lock"
ENVS = ROOT / "envs"

# What the rules of each environment import; `snakemake --sdm conda` makes one for training and one for all else.
ANALYSIS = ["abess", "jinja2", "matplotlib", "numpy", "pandas", "pydantic", "pyyaml", "scikit-learn", "scipy"]
RULES = {
    "train": ["numba", "numpy", "pydantic", "pyyaml", "scipy", "torch"],
    "analysis": [*ANALYSIS, "seaborn"],
}

LOCK_HEADER = "# Written by `make lock`. Used by pip as constraints: pip install -c requirements.lock -e .\n"

# conda brings Python and pip alone: only pip's packages are certain to exist in exactly the locked versions.
CONDA_HEADER = """\
# Written by `make lock`: pins of requirements.lock, for the rules that name this file (snakemake --sdm conda).
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def declared_requirements(project: Path = PROJECT) -> list[Requirement]:
    """Return what pyproject.toml names: the dependencies and those of every extra."""
    table = tomllib.loads(project.read_text())["project"]
    extras = table["optional-dependencies"].values()
    return [Requirement(text) for group in [table["dependencies"], *extras] for text in group]


def installed_pins(requirements: list[Requirement]) -> dict[str, str]:
    """Return name and version of every installed package that the requirements reach.

    The local part of a version goes (`2.13.0+cpu` becomes `2.13.0`): it names a build for one machine, and a
    plain pin still accepts that build.
    """
    pins: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = list(requirements)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras} - {extra for known, extra in seen if known == name}:
            seen.add((name, extra))
            package = distribution(name)
            pins[name] = Version(package.version).public
            waiting += applicable(package.requires or [], extra)
    return dict(sorted(pins.items()))


def applicable(texts: list[str], extra: str) -> list[Requirement]:
    """Return the requirements whose marker holds on this machine when `extra` is asked for."""
    requirements = [Requirement(text) for text in texts]
    return [each for each in requirements if each.marker is None or each.marker.evaluate({"extra": extra})]


def read_lock(lock: Path = LOCK) -> dict[str, str]:
    """Return the lock's names and versions, in the order of its lines."""
    lines = [line for line in lock.read_text().splitlines() if not line.startswith("#")]
    return dict(line.split("==", 1) for line in lines)


def lock_text(pins: dict[str, str]) -> str:
    return LOCK_HEADER + "".join(f"{name}=={version}\n" for name, version in pins.items())


def conda_text(pins: dict[str, str]) -> str:
    return CONDA_HEADER + "".join(f"      - {name}=={version}\n" for name, version in pins.items())


def conda_file(name: str) -> Path:
    return ENVS / f"{name}.yaml"


def conda_pins(name: str) -> dict[str, str]:
    """Return the pins of one environment of the rules: what its rules import and everything that needs."""
    return installed_pins([Requirement(each) for each in RULES[name]])


def main() -> None:
    pins = installed_pins(declared_requirements())
    LOCK.write_text(lock_text(pins))
    for name in RULES:
        conda_file(name).write_text(conda_text(conda_pins(name)))


if __name__ == "__main__":
    main()
