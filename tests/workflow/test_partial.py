"""After a single target, everything that reads results works on what is there."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from workflow.conftest import Study, lay_out

pytestmark = pytest.mark.workflow
CONFIG = """
results: results
datasets:
  synthetic: {kind: synthetic, density: 0.1, features: 16, test_rows: 20, clients: 2, min_rows: 2}
methods:
  eflops: {method: eflops, label: E-FLoPS, settings: {rounds: 4, finetune_rounds: 2}}
  fedavg: {method: fedavg, label: FedAvg, settings: {rounds: 4, finetune_rounds: 2}}
experiments:
  mine: {dataset: synthetic, ratios: [1.0], methods: [eflops, fedavg], seeds: 2}
  other: {dataset: synthetic, ratios: [2.0], methods: [fedavg], seeds: 1}
"""
FIGURE = "results/figures/fig_mine.svg"


@pytest.fixture(scope="module")
def partial(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A folder in which one figure was made, and nothing else."""
    study = Study(tmp_path_factory.mktemp("one") / "figure")
    lay_out(study.folder, CONFIG)
    study.snakemake(FIGURE)
    return study


def eflops(study: Study, *words: str) -> tuple[int, str]:
    """The exit code of a command, and what it printed."""
    command = [sys.executable, "-m", "eflops", *words]
    environment = {**os.environ, "PYTHONPATH": str(study.folder / "src")}
    done = subprocess.run(command, cwd=study.folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_report_shows_what_is_there(partial: Study) -> None:
    partial.snakemake("--report", "report.html", FIGURE)
    assert "fig_mine" in (partial.folder / "report.html").read_text()


def test_status_says_what_is_complete_and_what_is_missing(partial: Study) -> None:
    code, printed = eflops(partial, "status")
    assert code == 1
    assert re.search(r"mine +4 of 4 runs complete$", printed, re.MULTILINE)
    assert re.search(r"other +0 of 1 runs complete, 1 missing$", printed, re.MULTILINE)


def test_what_explain_prints_can_be_shown_and_verified(partial: Study) -> None:
    code, printed = eflops(partial, "explain", FIGURE, "--row", "eflops", "--row", "r2")
    assert code == 0, printed
    records = re.findall(r"results/runs/mine/\S+\.json", printed.partition("Files")[0])
    assert len(records) == 2
    for record in records:
        code, shown = eflops(partial, "show", record)
        assert code == 0, shown
    everything, one, make = (shlex.split(line) for line in printed.rpartition("Reproduce it\n")[2].splitlines())
    for command in (everything, one):
        code, verified = eflops(partial, *command[1:])
        assert code == 0, verified
        assert "identical" in verified
    assert "Nothing to be done" in partial.snakemake(*make[3:])


def test_the_file_of_numbers_is_explained_like_its_picture(partial: Study) -> None:
    words = ("--row", "eflops", "--row", "r2")
    picture, numbers = (eflops(partial, "explain", path, *words) for path in (FIGURE, FIGURE.replace(".svg", ".csv")))
    assert picture == numbers
