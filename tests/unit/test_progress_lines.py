"""The lines that a run prints: how many jobs, how long still, and all of an error."""

import logging
from pathlib import Path
from typing import Any

import pytest
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_eflops import LogHandler
from snakemake_logger_plugin_eflops.clock import Clock

PAST = {"train/mnist/all/eflops": 100.0, "train/mnist/all/fedavg": 50.0, "figures/fig1a": 4.0}


def test_the_time_left_is_that_of_past_jobs_shared_by_the_cores() -> None:
    clock = Clock(PAST, {"train_mnist": 4, "figure": 2}, cores=2)
    assert clock.left(0.0) == pytest.approx((4 * 75 + 2 * 4) / 2)


def test_one_long_job_is_not_shared_by_the_cores() -> None:
    clock = Clock(PAST, {"train_mnist": 1}, cores=12)
    clock.started(1, "train_mnist", "train/mnist/all/eflops", 0.0)
    assert clock.left(30.0) == pytest.approx(70.0)


def test_another_machine_is_met_by_the_pace_of_the_jobs_done() -> None:
    clock = Clock(PAST, {"train_mnist": 1, "figure": 3})
    clock.started(1, "train_mnist", "train/mnist/all/fedavg", 0.0)
    clock.finished(1, 25.0)
    assert clock.pace == pytest.approx(0.5)
    assert clock.left(25.0) == pytest.approx(3 * 4 * 0.5)


def test_a_first_run_learns_from_its_own_jobs() -> None:
    clock = Clock({}, {"data": 3, "figure": 1})
    assert clock.left(0.0) is None
    clock.started(1, "data", "data/a", 0.0)
    clock.finished(1, 10.0)
    assert clock.left(10.0) == pytest.approx(2 * 10 + 10)


def test_a_late_job_counts_as_nearly_done_and_never_as_less_than_nothing() -> None:
    clock = Clock(PAST, {"figure": 1})
    clock.started(1, "figure", "figures/fig1a", 0.0)
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


def begin(made: LogHandler, results: Path, job: int, name: str) -> None:
    said = {
        "rule_name": "figure",
        "rule_msg": f"Figure {name}",
        "benchmark": f"{results}/benchmarks/figures/{name}.tsv",
    }
    told(made, event=LogEvent.JOB_INFO, jobid=job, **said)


def test_a_run_is_told_in_a_line_a_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where no published results say how long figures take
    (tmp_path / "benchmarks/figures").mkdir(parents=True)
    for name in ("fig1a", "fig1b"):
        (tmp_path / f"benchmarks/figures/{name}.tsv").write_text("s\tmax_rss\tcpu_time\n90\t200\t80\n")
    made = handler()
    told(made, "Provided cores: 1", event=LogEvent.RESOURCES_INFO, cores=1)
    told(made, "Job stats: ...", event=LogEvent.RUN_INFO, stats={"figure": 2, "total": 2})
    begin(made, tmp_path, 1, "fig1a")
    told(made, "Finished jobid: 1", event=LogEvent.JOB_FINISHED, job_id=1)
    begin(made, tmp_path, 2, "fig1b")
    told(made, "Select jobs to execute...")
    told(made, "Finished jobid: 2", event=LogEvent.JOB_FINISHED, job_id=2)
    first, second, third, last = capsys.readouterr().err.splitlines()
    assert first == "2 jobs on 1 core."
    assert second.startswith("[1/2] ")
    assert second.endswith(", about 3 min left: Figure fig1a")
    assert third.startswith("[2/2] ")
    assert third.endswith(" left: Figure fig1b")
    assert last.startswith("All 2 jobs done in ")


def test_an_error_is_told_in_full_with_the_end_of_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)) + "ValueError: the cause\n")
    failed = {"rule_name": "train_mnist", "rule_msg": "Train", "jobid": 7, "input": ["in.csv"], "output": ["out.json"]}
    also = {"log": [str(log)], "conda_env": None, "shellcmd": "python -m eflops train --job {}", "aux": {}}
    told(handler(), "Error", logging.ERROR, event=LogEvent.JOB_ERROR, **failed, **also)
    said = capsys.readouterr().err
    for part in ("Error in rule train_mnist", "out.json", "python -m eflops train --job {}", "ValueError: the cause"):
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
