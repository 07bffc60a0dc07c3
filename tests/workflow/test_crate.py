"""The crate conforms to its profile, and can be audited far from where it was made."""

import json
import subprocess
from pathlib import Path

import pytest

from eflops.cli import main
from eflops.provenance.audit.audit import audit_crate
from eflops.provenance.crate import make_crate
from eflops.results import checksums
from own_environment import python_with

pytestmark = pytest.mark.workflow
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def validator() -> Path:
    """The Python of the validator, which cannot be installed beside Flower."""
    return python_with("validator", "roc-validator==0.13.0", "rocrate==0.15.0")


@pytest.fixture(scope="session")
def small_crate(small_results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crate of the small results: not to be changed."""
    folder = tmp_path_factory.mktemp("small") / "crate"
    make_crate(small_results, folder, ROOT)
    return folder


def violations(python: Path, crate: Path, profile: str) -> str:
    script = Path(__file__).with_name("validate_crate.py")
    done = subprocess.run([python, script, crate, profile], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout if done.returncode else ""


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["provenance-run-crate-0.5", "workflow-run-crate-0.5"])
def test_it_conforms_to_its_profile(validator: Path, small_crate: Path, profile: str) -> None:
    assert violations(validator, small_crate, profile) == ""


@pytest.mark.slow
def test_the_validator_would_object(validator: Path, small_crate: Path, tmp_path: Path) -> None:
    described = json.loads((small_crate / "ro-crate-metadata.json").read_text())
    for entity in described["@graph"]:
        if entity["@type"] == "ControlAction":
            del entity["instrument"]
    broken = tmp_path / "crate"
    subprocess.run(["cp", "-r", small_crate, broken], check=True)
    (broken / "ro-crate-metadata.json").write_text(json.dumps(described))
    assert "ControlAction must reference a HowToStep" in violations(validator, broken, "provenance-run-crate-0.5")


def test_it_is_audited_elsewhere_without_a_run(
    small_crate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["audit", "--crate", str(small_crate)]) == 0
    assert "24 records read" in capsys.readouterr().out


def test_a_changed_file_of_a_crate_is_named(small_crate: Path, tmp_path: Path) -> None:
    copy = tmp_path / "crate"
    subprocess.run(["cp", "-r", small_crate, copy], check=True)
    (copy / "config.yaml").write_text("results: elsewhere\n")
    assert [finding.path for finding in audit_crate(copy).findings] == ["config.yaml"]


def test_it_tells_every_training_cell_and_lists_every_file(small_crate: Path) -> None:
    graph = {
        entity["@id"]: entity for entity in json.loads((small_crate / "ro-crate-metadata.json").read_text())["@graph"]
    }
    cells = [name for name in graph if name.startswith("#job-train-")]
    assert len(cells) == 8
    listed = {part["@id"] for part in graph["./"]["hasPart"]}
    present = {name for name in checksums.files(small_crate) if name != "ro-crate-metadata.json"}
    assert listed == present


def test_a_folder_in_use_is_not_written_to(
    small_results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["crate", str(tmp_path), "--results", str(small_results)]) == 2
    assert "this folder is not empty" in capsys.readouterr().err
