"""What a job's log says of its end, and where it is said when the log takes no more."""

import subprocess
import sys
from pathlib import Path

import pytest

from eflops.provenance import times

FULL = "OSError(errno.ENOSPC, 'No space left on device')"


def job(log: str | Path, ends_in: str) -> subprocess.CompletedProcess[str]:
    """A process that begins as a rule's script does, and ends in an exception."""
    script = (
        "import errno\nfrom eflops.script import logged\nfrom eflops.errors import UserError\n"
        f"with logged({str(log)!r}):\n    print('the job has begun')\n    raise {ends_in}"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("ends_in", "sentence"),
    [
        ("UserError('the file has no rows.')", "eflops: the file has no rows."),
        ("KeyboardInterrupt", "eflops: stopped; finished records are kept,"),
        (FULL, "is full (No space left on device); free some space and run the same command again"),
    ],
)
def test_what_the_user_can_mend_is_one_sentence(tmp_path: Path, ends_in: str, sentence: str) -> None:
    done = job(tmp_path / "job.log", ends_in)
    begun, said = (tmp_path / "job.log").read_text().splitlines()
    assert (done.returncode, done.stdout, done.stderr, begun) == (1, "", "", "the job has begun")
    assert sentence in said


def test_a_mistake_of_ours_is_told_with_its_traceback(tmp_path: Path) -> None:
    job(tmp_path / "job.log", "KeyError('rows')")
    said = (tmp_path / "job.log").read_text()
    assert "Traceback" in said
    assert said.endswith("eflops: KeyError: 'rows'\n")


def test_the_cause_is_told_on_the_terminal_when_the_log_has_no_room_either() -> None:
    done = job("/dev/full", FULL)
    assert done.returncode != 0
    assert done.stderr.startswith("eflops: the disk of /dev is full")
    assert "Traceback" not in done.stderr


def test_the_cpu_time_of_a_finished_job_is_what_the_process_used_and_not_a_sample(tmp_path: Path) -> None:
    log, benchmark = tmp_path / "logs/data/one.log", tmp_path / "benchmarks/data/one.tsv"
    benchmark.parent.mkdir(parents=True)
    benchmark.write_text("s\tcpu_time\tmax_rss\n9.0\t0.01\t50\n")
    work = "while time.process_time() < 0.5: pass"
    script = f"import time\nfrom eflops.script import logged\nwith logged({str(log)!r}):\n    {work}"
    subprocess.run([sys.executable, "-c", script], check=True)
    (row,) = times.job_times(tmp_path).to_dict("records")
    assert row["job"] == "data/one"
    assert 0.5 <= row["cpu_seconds"] < 5


def test_a_warning_of_a_job_that_went_well_is_shown(tmp_path: Path) -> None:
    script = f"from eflops.script import logged\nwith logged({str(tmp_path / 'one.log')!r}):\n    "
    script += "print('made'); print('warning: the folder x is skipped')"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stderr == "warning: the folder x is skipped\n"
