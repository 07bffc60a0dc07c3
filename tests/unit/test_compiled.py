"""Machine code that is kept for the next process: never that of older code, and never in the way."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import eflops

PROGRAM = "from eflops.training.numerics.kernels import ln; print(ln(3.0))"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, to be changed at will."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(Path(eflops.__file__).parent, tmp_path / "eflops", ignore=ignored))


def said(package: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the program says in a process of its own."""
    variables = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    variables.pop("NUMBA_CACHE_DIR", None)
    variables.update(environment)
    return subprocess.run([sys.executable, "-c", PROGRAM], env=variables, capture_output=True, text=True, check=True)


def kept(folder: Path) -> dict[Path, int]:
    """The files of machine code, each with the time it was written."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("eflops-*/*.nbc")}


def test_a_copy_of_the_same_code_compiles_nothing(package: Path, tmp_path: Path) -> None:
    said(package, XDG_CACHE_HOME=str(tmp_path / "cache"))
    files = kept(tmp_path / "cache/eflops")
    assert files
    copy = shutil.copytree(package, tmp_path / "copied/eflops")
    assert said(copy, XDG_CACHE_HOME=str(tmp_path / "cache")).stdout.startswith("1.098612")
    assert kept(tmp_path / "cache/eflops") == files


def test_each_processor_has_code_of_its_own(package: Path, tmp_path: Path) -> None:
    said(package, NUMBA_CACHE_DIR=str(tmp_path))
    files = kept(tmp_path)
    said(package, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_CPU_NAME="x86-64", NUMBA_CPU_FEATURES="+fma")
    both = kept(tmp_path)
    assert len(both) == 2 * len(files)
    assert both.items() >= files.items()


@pytest.mark.slow
def test_an_edited_callee_in_another_file_is_compiled_again(package: Path, tmp_path: Path) -> None:
    assert said(package, NUMBA_CACHE_DIR=str(tmp_path)).stdout.startswith("1.098612")
    callee = package / "training/numerics/arithmetic.py"
    text = callee.read_text()
    assert text.count("2.0 * s * square, rest, 2.0 * s)") == 1
    callee.write_text(text.replace("2.0 * s * square, rest, 2.0 * s)", "2.0 * s * square, rest, 3.0 * s)"))
    assert not said(package, NUMBA_CACHE_DIR=str(tmp_path)).stdout.startswith("1.098612")


def test_where_nothing_can_be_written_the_code_is_kept_in_a_temporary_folder(package: Path, tmp_path: Path) -> None:
    (package / "training/__pycache__").write_text("in the way")
    (tmp_path / "temporary").mkdir()
    done = said(package, HOME="/dev/null", XDG_CACHE_HOME="/dev/null/cache", TMPDIR=str(tmp_path / "temporary"))
    assert done.stdout.startswith("1.098612")
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("No folder for compiled code is writable")
    assert str(tmp_path / "temporary") in sentence


@pytest.mark.slow
def test_kept_code_that_was_cut_short_is_compiled_again(package: Path, tmp_path: Path) -> None:
    said(package, NUMBA_CACHE_DIR=str(tmp_path))
    files = kept(tmp_path)
    for path in files:
        path.write_bytes(path.read_bytes()[:100])
    assert said(package, NUMBA_CACHE_DIR=str(tmp_path)).stdout.startswith("1.098612")
    assert files
    assert all(path.stat().st_size > 100 for path in files)
