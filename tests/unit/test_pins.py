"""One lock, and everything that repeats its pins agrees with it."""

import ast
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, version

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import pins


def test_the_lock_names_every_dependency_and_extra_of_the_project():
    declared = {canonicalize_name(requirement.name) for requirement in pins.declared_requirements()}
    assert declared - pins.read_lock().keys() == set()


def test_the_project_declares_what_it_imports_and_imports_what_it_declares():
    imported = set()
    for path in (pins.ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(node.module.partition(".")[0])
    imported -= {*sys.stdlib_module_names, "eflops"}
    packages = {canonicalize_name(packages_distributions()[name][0]) for name in imported}
    table = tomllib.loads(pins.PROJECT.read_text())["project"]
    needed = {canonicalize_name(Requirement(text).name) for text in table["dependencies"]}
    extras = {canonicalize_name(requirement.name) for requirement in pins.declared_requirements()}
    assert packages <= extras
    # Commands and the profile name these two; the package itself imports neither.
    assert needed - {"snakemake", "snakemake-logger-plugin-rich"} <= packages


def test_the_lock_is_sorted_and_each_line_is_one_exact_public_version():
    lines = [line for line in pins.LOCK.read_text().splitlines() if not line.startswith("#")]
    assert lines == sorted(lines, key=lambda line: line.split("==")[0])
    for line in lines:
        name, number = line.split("==")
        assert name == canonicalize_name(name)
        assert number == Version(number).public


@pytest.mark.parametrize("name", pins.RULES)
def test_a_conda_environment_has_pins_of_the_lock_alone(name):
    *_, pip_section = yaml.safe_load(pins.conda_file(name).read_text())["dependencies"]
    assert dict(pin.split("==") for pin in pip_section["pip"]).items() <= pins.read_lock().items()


@pytest.mark.parametrize("name", pins.RULES)
def test_a_conda_environment_is_what_make_lock_would_write(name):
    assert pins.conda_file(name).read_text() == pins.conda_text(pins.conda_pins(name))


def test_the_environment_of_tables_and_figures_holds_no_torch():
    assert "torch" in pins.conda_pins("train")
    assert not {"torch", "ray", "ruff", "mypy"} & pins.conda_pins("analysis").keys()


def test_the_packages_running_these_tests_are_the_locked_ones():
    installed = {name: installed_version(name) for name in pins.read_lock()}
    present = {name: number for name, number in installed.items() if number is not None}
    assert present == {name: pins.read_lock()[name] for name in present}


def test_a_written_lock_is_read_back_unchanged(tmp_path):
    lock = tmp_path / "requirements.lock"
    lock.write_text(pins.lock_text({"numpy": "2.4.6", "torch": "2.13.0"}))
    assert pins.read_lock(lock) == {"numpy": "2.4.6", "torch": "2.13.0"}


def test_pins_follow_the_extras_that_a_requirement_asks_for():
    plain = pins.installed_pins([Requirement("flwr")])
    simulation = pins.installed_pins([Requirement("flwr"), Requirement("flwr[simulation]")])
    assert "ray" not in plain
    assert "ray" in simulation


def test_pins_leave_out_the_build_of_a_version():
    assert "+" not in pins.installed_pins([Requirement("torch")])["torch"]


def test_a_requirement_that_is_not_installed_is_not_locked_silently():
    with pytest.raises(PackageNotFoundError):
        pins.installed_pins([Requirement("no-such-package-of-ours")])


def installed_version(name: str) -> str | None:
    """Return the public version that is installed, or None where the platform does not need the package."""
    try:
        return Version(version(name)).public
    except PackageNotFoundError:
        return None
