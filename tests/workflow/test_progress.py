"""What a run prints: what each job does, and all that is needed to understand a failure."""

import re
from pathlib import Path

import pytest

from workflow.conftest import Study, lay_out

pytestmark = pytest.mark.workflow
FIGURE = "results/figures/fig1b.svg"


def test_outside_a_terminal_jobs_are_plain_lines(study: Study) -> None:
    (study.folder / FIGURE).unlink()
    output = study.snakemake(FIGURE)
    assert re.search(r": Figure fig1b$", output, re.MULTILINE), output
    assert "1 of 1 steps (100%) done" in output
    assert "\x1b[" not in output


def test_a_failed_job_shows_the_end_of_its_log(study: Study) -> None:
    (study.folder / FIGURE).unlink()
    (study.folder / "results/gathered/support_recovery.csv").write_text("nothing,of,use\n1,2,3\n")
    output = study.snakemake(FIGURE, check=False)
    assert study.code == 1
    for part in (
        "Error in rule figure",
        "results/logs/figures/fig1b.log",
        "KeyError: \"['method', 'ratio']",
    ):
        assert part in output
    assert "steps (100%) done" not in output


def test_a_dry_run_of_every_target_of_the_paper_has_no_endless_line(tmp_path: Path) -> None:
    lay_out(tmp_path / "clone")
    targets = ("all", "tables", "figures", "beyond", "search", "smoke", "scorecard")
    output = Study(tmp_path / "clone").snakemake("--dry-run", *targets)
    assert output.count("Train ") > 100
    assert [line[:200] for line in output.splitlines() if len(line) > 500] == []


def test_a_figure_plans_only_what_it_shows(tmp_path: Path) -> None:
    lay_out(tmp_path / "clone")
    output = Study(tmp_path / "clone").snakemake("--dry-run", "results/figures/fig1a.svg")
    assert set(re.findall(r"Train \w+ on (.+)", output)) == {"curves nd0.64"}
    assert len(re.findall(r"Train ", output)) == 6


def test_the_page_waits_for_the_data_beyond_the_paper(tmp_path: Path) -> None:
    lay_out(tmp_path / "clone")
    output = Study(tmp_path / "clone").snakemake("--dry-run", "results/explorer.html")
    assert {"beyond", "tab_fashion"} <= set(re.findall(r"Table (\w+)", output))


def test_unit_tests_of_a_finished_study_can_be_generated(study: Study) -> None:
    study.snakemake("--generate-unit-tests")
    assert (study.folder / ".tests/unit/test_train.py").exists()


def test_the_smoke_run_touches_every_rule_in_few_jobs(tmp_path: Path) -> None:
    lay_out(tmp_path / "clone")
    output = Study(tmp_path / "clone").snakemake("--dry-run", "smoke", "--configfile", "config/smoke.yaml")
    stats = dict(re.findall(r"^(\w+) +(\d+)$", output.partition("Job stats:")[2], re.MULTILINE))
    rules = {rule.partition("_")[0] if rule.startswith("data_") else rule for rule in stats}
    assert {script.stem for script in (tmp_path / "clone/workflow/scripts").glob("*.py")} <= rules
    assert int(stats["total"]) <= 100
