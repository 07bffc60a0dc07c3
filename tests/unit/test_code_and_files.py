"""The code's name, atomic files and addressed randomness."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eflops
from eflops import code
from eflops.files import canonical_json, locate, read_npz, sha256, write_bytes, write_json, write_npz, write_text
from eflops.rng import address_key, numpy_generator

TRAINING = ("eflops.training.methods", "eflops.training.engines", "eflops.training.numerics.gates")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of three modules, a importing b inside a function, c on its own."""
    folder = tmp_path / "small_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "a.py").write_text('"""Words."""\n\n\ndef f():\n    from small_package.b import g\n    return g()\n')
    (folder / "b.py").write_text("def g():\n    return 1\n")
    (folder / "c.py").write_text("X = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def fresh_hash(*roots: str) -> str:
    """The hash as a new process would compute it."""
    code._source.cache_clear()
    code._tree.cache_clear()
    code.file_hash.cache_clear()
    code._imports.cache_clear()
    return code.code_hash(*roots)


def test_the_hash_follows_imports_inside_functions(package: Path) -> None:
    assert set(code.code_hashes("small_package.a")) == {"small_package", "small_package.a", "small_package.b"}


def test_the_hash_follows_relative_imports_and_modules_beside_a_custom_file(package: Path) -> None:
    (package / "a.py").write_text("from .b import g\nfrom . import c\n")
    (package.parent / "my_net.py").write_text("import numpy\nfrom my_parts import block\nfrom small_package import a\n")
    (package.parent / "my_parts.py").write_text("block = 1\n")
    fresh_hash("small_package.a")
    assert set(code.code_hashes("my_net")) == {"my_net", "my_parts"}
    names = {"small_package", "small_package.a", "small_package.b", "small_package.c"}
    assert set(code.code_hashes("small_package.a")) == names


def test_the_hash_ignores_comments_docstrings_and_layout(package: Path) -> None:
    before = fresh_hash("small_package.a")
    (package / "a.py").write_text(
        '"""Other words."""\n# why\ndef f():\n\n    from small_package.b import g\n    return (g())\n'
    )
    assert fresh_hash("small_package.a") == before


def test_the_hash_ignores_what_a_field_says_of_itself(package: Path) -> None:
    (package / "b.py").write_text("x = Field(1, gt=0, description='one')\n")
    before = fresh_hash("small_package.b")
    (package / "b.py").write_text("x = Field(1, gt=0, description='in other words')\n")
    assert fresh_hash("small_package.b") == before
    (package / "b.py").write_text("x = Field(2, gt=0, description='one')\n")
    assert fresh_hash("small_package.b") != before


def test_the_hash_sees_a_changed_number_in_an_imported_module_alone(package: Path) -> None:
    before, other = fresh_hash("small_package.a"), fresh_hash("small_package.c")
    (package / "b.py").write_text("def g():\n    return 2\n")
    assert fresh_hash("small_package.a") != before
    assert fresh_hash("small_package.c") == other


def test_analysis_cannot_reach_training() -> None:
    reached = code.code_hashes("eflops.analysis.products", "eflops.analysis.gather", "eflops.analysis.scorecard")
    assert not {name for name in reached if name.startswith(TRAINING)}


OUTSIDE = {
    "eflops",
    "eflops.code",
    "eflops.config",
    "eflops.config.cell",
    "eflops.config.data",
    "eflops.config.settings",
    "eflops.data",
    "eflops.data.federation",
    "eflops.data.job",
    "eflops.errors",
    "eflops.files",
    "eflops.results",
    "eflops.results.labels",
    "eflops.results.record",
    "eflops.rng",
    "eflops.trust",
}


@pytest.mark.parametrize("engine", ["batched", "reference", "flower"])
@pytest.mark.parametrize(
    ("method", "model"), [("eflops", "linear"), ("fediht", "softmax"), ("fediterht", "cnn"), ("fedavg", "cnn")]
)
def test_training_reaches_little_outside_itself(method: str, model: str, engine: str) -> None:
    """A new key of the config must not make records stale, so training does not read the config's models."""
    reached = set(code.code_hashes(*code.training_roots(method, model, engine)))
    # A client on a node of its own reads its rows from a file.
    packages = ("eflops.training", "eflops.flower", *(["eflops.data"] if engine == "flower" else []))
    assert {name for name in reached if not name.startswith(packages)} <= OUTSIDE
    for package in ("eflops", "eflops.config", "eflops.data", "eflops.results"):
        imports = code._imports(Path(str(code._source(package))), package)
        assert not [name for name in imports if name.startswith("eflops")], f"every job reaches {package}"


def test_a_cells_code_holds_its_own_method_and_model_only() -> None:
    reached = set(code.code_hashes(*code.training_roots("fedavg", "linear", "batched")))
    assert "eflops.training.methods.fedavg" in reached
    assert not reached & {
        "eflops.training.numerics.gates",
        "eflops.training.methods.eflops",
        "eflops.training.models.cnn",
        "eflops.analysis",
    }


def test_importing_analysis_does_not_import_torch() -> None:
    script = (
        "import sys, eflops.analysis.products, eflops.analysis.gather, eflops.cli; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text(tmp_path / "file", "old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_text(tmp_path / "file", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_a_killed_data_job_leaves_no_half_file_and_runs_again_to_the_same_bytes(tmp_path: Path) -> None:
    settings = '{"kind":"synthetic","features":1000,"density":0.05,"correlation":0.2,"snr":20.0,"test_rows":3000,'
    settings += '"clients":10,"count_concentration":1.0,"min_rows":16,"shift_scale":1.0,"shift_offset":0.0}'
    call = "import json, sys; from pathlib import Path; from eflops.data.build import make; "
    call += "make(json.loads(sys.argv[1]), Path(sys.argv[2]))"
    command = [sys.executable, "-c", call, settings]
    whole, half = (tmp_path / name / "nd1.00-draw0" for name in ("whole", "killed"))
    subprocess.run([*command, str(whole)], check=True)

    killed = subprocess.Popen([*command, str(half)])
    while killed.poll() is None and not list(half.glob(".*.part")):
        pass
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    complete = {path.name for path in half.glob("[!.]*")}
    assert "manifest.json" not in complete or complete == {"manifest.json", "federation.npz"}

    subprocess.run([*command, str(half)], check=True)
    for name in ("federation.npz", "manifest.json"):
        assert sha256(half / name) == sha256(whole / name)


def test_arrays_round_trip_and_pickles_are_refused(tmp_path: Path) -> None:
    arrays = {"a": np.arange(3, dtype=np.float32), "b": np.array([[1, 2]])}
    write_npz(tmp_path / "x.npz", arrays)
    back = read_npz(tmp_path / "x.npz")
    assert all(np.array_equal(back[name], arrays[name]) for name in arrays)
    with pytest.raises(ValueError, match="Object arrays"):
        write_npz(tmp_path / "y.npz", {"o": np.array([{}], dtype=object)})


def test_json_without_a_finite_number_is_refused(tmp_path: Path) -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write_json(tmp_path / "x.json", {"a": value})
        with pytest.raises(ValueError, match="not JSON compliant"):
            canonical_json(value)
    write_bytes(tmp_path / "deep/er/x", b"1")
    assert (tmp_path / "deep/er/x").read_bytes() == b"1"


def test_addresses_do_not_share_numbers() -> None:
    keys = {
        address_key(seed, purpose, *address)
        for seed in range(5)
        for purpose in "ab"
        for address in [(), (0,), (1,), (0, 1)]
    }
    assert len(keys) == 5 * 2 * 4
    assert numpy_generator(1, "x", 2).random() == numpy_generator(1, "x", 2).random()
    assert numpy_generator(1, "x", 2).random() != numpy_generator(1, "x", 3).random()


def test_only_the_module_of_paths_spells_where_gathered_files_and_cells_lie() -> None:
    for path in Path(eflops.__file__).parent.rglob("*.py"):
        if path.name != "paths.py":
            constants = [n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)]
            assert not [each for each in constants if str(each).startswith(("gathered/", "cells/", "specs/"))], path


def test_a_device_is_no_file_of_the_config() -> None:
    assert locate("/dev/zero") is None
