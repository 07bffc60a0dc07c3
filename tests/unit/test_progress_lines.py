"""The lines that a run prints: how many jobs, how long still, and all of an error."""

import logging
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.common import LogEvent

from eflops.script import STOPPED
from snakemake_logger_plugin_eflops import Clock, LogHandler


def run(clock: Clock, rule: str, jobs: int, seconds: float) -> None:
    """Let jobs of a rule begin and end one after the other."""
    for job in range(jobs):
        clock.started(job, rule, 0.0)
        clock.finished(job, seconds)


def test_the_time_left_is_what_jobs_of_each_rule_took_shared_by_the_cores() -> None:
    clock = Clock({"train": 9, "figure": 5}, cores=2)
    run(clock, "train", 3, 10.0)
    run(clock, "figure", 1, 4.0)
    assert clock.left(0.0) == pytest.approx((6 * 10 + 4 * 4) / 2)


def test_nothing_is_said_before_a_tenth_of_the_most_frequent_jobs_is_done() -> None:
    clock = Clock({"train": 100, "data": 5})
    assert clock.left(0.0) is None
    run(clock, "data", 5, 1.0)
    run(clock, "train", 9, 1.0)
    assert clock.left(0.0) is None
    run(clock, "train", 1, 1.0)
    assert clock.left(0.0) == pytest.approx(90.0)


def test_one_long_job_is_not_shared_by_the_cores() -> None:
    clock = Clock({"train": 4}, cores=12)
    run(clock, "train", 3, 100.0)
    clock.started(9, "train", 0.0)
    assert clock.left(30.0) == pytest.approx(70.0)


def test_a_late_job_counts_as_nearly_done_and_never_as_less_than_nothing() -> None:
    clock = Clock({"figure": 4})
    run(clock, "figure", 3, 2.0)
    clock.started(9, "figure", 0.0)
    assert clock.left(60.0) == 0.0


def told(handler: LogHandler, message: str | None = None, level: int = logging.INFO, **said: Any) -> None:
    """Send the handler what Snakemake would."""
    record = logging.LogRecord("snakemake", level, __file__, 1, message, None, None)
    vars(record).update(said)
    handler.emit(record)


def handler(**settings: Any) -> LogHandler:
    """The handler as Snakemake sets it up."""
    from snakemake.logging import DefaultFormatter

    made = LogHandler(OutputSettings(nocolor=True, **settings), None)
    made.setFormatter(DefaultFormatter())
    return made


def begin(made: LogHandler, job: int, name: str) -> None:
    told(made, event=LogEvent.JOB_INFO, jobid=job, rule_name="figure", rule_msg=f"Figure {name}")


def test_a_run_is_told_in_one_line_per_job(capsys: pytest.CaptureFixture[str]) -> None:
    made = handler()
    told(made, "Provided cores: 1", event=LogEvent.RESOURCES_INFO, cores=1)
    told(made, "Job stats: ...", event=LogEvent.RUN_INFO, stats={"figure": 5, "total": 5})
    for job, name in enumerate("abcde"):
        begin(made, job, f"fig{name}")
        told(made, "Select jobs to execute...")
        told(made, f"Finished jobid: {job}", event=LogEvent.JOB_FINISHED, job_id=job)
    first, second, *_, fifth, last = capsys.readouterr().err.splitlines()
    assert first == "5 jobs on 1 core."
    assert re.fullmatch(r"\[1/5\] \d\d:\d\d: Figure figa", second)
    assert re.fullmatch(r"\[5/5\] \d\d:\d\d, about \d+ s left: Figure fige", fifth)
    assert last.startswith("All 5 jobs done in ")


def test_what_a_finished_job_warned_of_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "fetch.log"
    log.write_text("asked\nwarning: the folder x is passed over\neflops: CPU seconds 1.0\n")
    made = handler()
    told(made, event=LogEvent.JOB_INFO, jobid=1, rule_name="fetch", rule_msg="Fetch", log=[str(log)])
    told(made, "Finished jobid: 1", event=LogEvent.JOB_FINISHED, job_id=1)
    assert capsys.readouterr().err.endswith("Fetch\nwarning: the folder x is passed over\n")


def test_an_error_is_told_in_full_with_the_end_of_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)) + "ValueError: the cause\n")
    failed = {"rule_name": "train", "rule_msg": "Train", "jobid": 7, "input": ["in.csv"], "output": ["out.json"]}
    also = {"log": [str(log)], "conda_env": None, "shellcmd": "python train.py", "aux": {}}
    told(handler(), "Error", logging.ERROR, event=LogEvent.JOB_ERROR, **failed, **also)
    said = capsys.readouterr().err
    for part in ("Error in rule train", "out.json", "python train.py", "ValueError: the cause"):
        assert part in said
    assert "line 99" in said
    assert "line 5\n" not in said


def test_warnings_and_other_messages_are_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    made = handler()
    told(made, "Nothing to be done")
    told(made, "Execute carefully: the disk is full", logging.WARNING)
    assert capsys.readouterr().err == "Nothing to be done\nExecute carefully: the disk is full\n"


def test_a_message_in_another_form_is_left_to_snakemake(capsys: pytest.CaptureFixture[str]) -> None:
    told(handler(), "all of it", event=LogEvent.RUN_INFO)
    assert capsys.readouterr().err == "all of it\n"


def test_after_ctrl_c_a_stopped_job_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.log").write_text(f"20 of 50 rounds\n{STOPPED}; ...\n")
    made = handler()
    told(made, "Terminating processes on user request, this might take some time.")
    told(made, "RuleException:\nCalledProcessError in file ...", logging.ERROR)
    told(made, "Error", logging.ERROR, event=LogEvent.JOB_ERROR, rule_name="train", log=[str(tmp_path / "train.log")])
    told(made, "WorkflowError:\nAt least one job did not complete successfully.", logging.ERROR)
    kept, stopped = capsys.readouterr().err.splitlines()
    assert kept.startswith("Stopping. What is finished is kept, and the same command goes on from there")
    assert stopped == "Stopped: a job of rule train"


def test_a_broken_overlay_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "over.yaml").write_text("methods:\n\tflops: 1\n")
    monkeypatch.setattr(sys, "argv", ["snakemake", "-n", f"--configfile={tmp_path / 'over.yaml'}", "all"])
    told(handler(dryrun=True), "WorkflowError:\nConfig file is not valid JSON or YAML. In case of ...", logging.ERROR)
    said = capsys.readouterr().err
    assert said.endswith("over.yaml, line 2: this is not valid YAML; a tab stands there; indent with spaces.\n")
