"""Reading the workflow changes nothing: not a byte and not a date of the results, whatever the config says."""

import shutil
from pathlib import Path

import pytest

from workflow.conftest import Study

pytestmark = pytest.mark.workflow
RECORD = "results/runs/support_recovery/nd0.64/eflops/base/draw0-seed1.json"


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder with its bytes and its date."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_reading_the_workflow_leaves_the_results_as_they_are(study: Study) -> None:
    results = study.folder / "results"
    before = content(results)
    study.snakemake("--report", "report.html")
    # A config that asks for other jobs, and a record that is gone: what a run would mend.
    study.edit("config.yaml", "label: FedAvg, settings: {rounds: 6", "label: Averaging, settings: {rounds: 7")
    (study.folder / RECORD).unlink()
    del before[RECORD.removeprefix("results/")]
    for reading in (["--dry-run", "all"], ["--lint"], ["--list-rules"], ["all", "--rulegraph"]):
        study.snakemake(*reading)
        assert content(results) == before, reading
    assert study.would_train() == {"eflops nd0.64", "fedavg nd0.64", "fedavg nd1.00"}


def test_the_folder_of_wanted_specs_can_be_deleted_at_any_time(study: Study) -> None:
    shutil.rmtree(study.folder / ".eflops")
    assert "Nothing to be done" in study.snakemake("all")
