"""A forecast names the jobs that would run, why each would, and how long they took before."""

import json
import os
import subprocess
import sys

import pytest

from eflops.errors import UserError
from eflops.provenance.due import plain_reasons
from eflops.provenance.forecast import read_plan
from eflops.provenance.times import Times, told
from workflow.conftest import Study

pytestmark = pytest.mark.workflow
GATED, ALL = 4, 8


def forecast(study: Study, *arguments: str) -> str:
    """What the command says in the study's folder, with the study's own code."""
    environment = {**os.environ, "PYTHONPATH": str(study.folder / "src")}
    command = [sys.executable, "-m", "eflops", "forecast", *arguments]
    done = subprocess.run(command, cwd=study.folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def trained(study: Study) -> dict[str, list[str]]:
    """The training jobs of a forecast, with their reasons."""
    jobs = json.loads(forecast(study, "--json", "all"))["jobs"]
    return {job["name"]: job["reasons"] for job in jobs if job["command"] == "train"}


def test_a_finished_study_has_nothing_to_forecast(study: Study) -> None:
    assert forecast(study, "all") == "Nothing would run: everything is up to date.\n"


def test_a_changed_setting_is_named_with_both_values(study: Study) -> None:
    study.edit("config.yaml", "label: FedAvg, settings: {rounds: 6", "label: FedAvg, settings: {rounds: 7")
    jobs = trained(study)
    assert set(jobs) == {f"train/support_recovery/{ratio}/fedavg" for ratio in ("nd0.64", "nd1.00")}
    assert all(reasons == ["settings.rounds was 6 and is 7 (2 of 2 runs)"] for reasons in jobs.values())


def test_a_changed_module_is_named(study: Study) -> None:
    study.edit("src/eflops/gates.py", "BETA = 0.66", "BETA = 0.67")
    jobs = trained(study)
    assert len(jobs) == GATED
    for reasons in jobs.values():
        assert reasons == ["the code of training changed: eflops.gates changed (2 of 2 runs)"]


def test_new_seeds_are_told_from_old_ones_and_take_their_share_of_the_time(study: Study) -> None:
    study.edit("config.yaml", "seeds: 2", "seeds: 4")
    plan = json.loads(forecast(study, "--json", "--cores", "2", "all"))
    jobs = [job for job in plan["jobs"] if job["command"] == "train"]
    assert len(jobs) == ALL
    times = Times(study.folder / "results").seconds
    for job in jobs:
        assert job["reasons"] == ["new: never trained (2 of 4 runs)"]
        assert job["seconds"] == pytest.approx(times[job["name"]] / 2)
    assert plan["seconds"] >= sum(job["seconds"] for job in jobs) / 2
    told_ = forecast(study, "--cores", "2", "all")
    assert "New: never trained (2 of 4 runs):\n  Train " in told_
    assert " on 2 cores" in told_


def test_a_mistake_in_the_config_is_passed_on_as_a_sentence(study: Study) -> None:
    study.edit("config.yaml", "features: 64", "featuers: 64")
    environment = {**os.environ, "PYTHONPATH": str(study.folder / "src")}
    command = [sys.executable, "-m", "eflops", "forecast", "all"]
    done = subprocess.run(command, cwd=study.folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "did you mean 'features'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_plan_that_cannot_be_read_is_not_taken_for_an_empty_one() -> None:
    with pytest.raises(UserError, match="cannot read"):
        read_plan("Job 1: Train eflops\nShell command: python -m eflops train\n", 2)


def test_snakemakes_reasons_are_told_in_plain_words() -> None:
    changed = (
        "Params have changed since last execution: Union of exclusive params before and now across all output: "
        """before: '0123456789abcdef', '{"seeds": [0, 1], "name": "it"}' """
        """now: 'fedcba9876543210', '{"seeds": [0], "name": "it"}' """
    )
    assert list(plain_reasons(changed, "eflops.analysis.gather changed")) == [
        "seeds was [0, 1] and is [0]",
        "the code that makes it changed: eflops.analysis.gather changed",
    ]
    files = "Missing output files: a/b.csv; Input files updated by another job: c, d, e"
    assert list(plain_reasons(files, "")) == ["not there yet: a/b.csv", "made from what is made anew: c, d and 1 more"]


def test_times_are_said_as_people_say_them() -> None:
    assert [told(seconds) for seconds in (None, 2.54, 42.0, 90.0, 7260.0)] == [
        "unknown time",
        "2.5 s",
        "42 s",
        "1 min 30 s",
        "2 h 1 min",
    ]
