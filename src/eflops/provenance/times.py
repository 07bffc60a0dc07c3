"""The duration of past jobs, from the benchmark files of a results folder, and of a full run, estimated from them."""

import heapq
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from eflops.config.study import read_study
from eflops.files import read_json
from eflops.results import paths

FOLDER = "benchmarks"
TABLE = "benchmarks.csv"
CORES = (2, 12)
# Jobs of a stage wait for those of the stages before it. All that is not named here is a table or figure.
STAGES = {"fetch": 0, "data": 1, "train": 2, "references": 2, "gather": 3, "scorecard": 5, "summary": 6, "explorer": 7}
PRODUCTS = 4
SEARCH = "search"


def job_times(folder: Path) -> pd.DataFrame:
    """Seconds and peak memory of every past job, one row per job, with its name (its log's path below the logs)."""
    packed, loose = folder / TABLE, folder / FOLDER
    if not loose.is_dir() and packed.exists():
        return pd.read_csv(packed)
    rows = [_row(path, loose) for path in sorted(loose.rglob("*.tsv"))]
    return pd.DataFrame(rows, columns=["job", "seconds", "cpu_seconds", "memory_mb"])


def _row(path: Path, folder: Path) -> list[object]:
    # A benchmark file has one row for each repetition.
    measured = pd.read_csv(path, sep="\t").mean(numeric_only=True)
    name = path.relative_to(folder).with_suffix("").as_posix()
    seconds, sampled, memory = (round(float(measured[column]), 2) for column in ("s", "cpu_time", "max_rss"))
    # Snakemake's benchmark samples CPU time; the job's script measures it at its end.
    exact = folder.parent / paths.JOB_TIME.format(job=name)
    return [name, seconds, read_json(exact)["cpu_seconds"] if exact.exists() else sampled, memory]


def whole_run(folder: Path, cores: Iterable[int] = CORES) -> str:
    """The duration of the jobs of a results folder and of a full run, in a sentence; empty if none ran."""
    past = job_times(folder)
    if past.empty or not (folder / paths.STUDY).exists():
        return ""
    parts = past["job"].str.extract(r"^(?P<stage>[^/]+)/?(?P<name>[^/.]*)")
    of_search = parts["stage"].isin(["train", "gather"]) & parts["name"].isin(read_study(folder).config.searches)
    jobs = past[(parts["stage"] != SEARCH) & ~of_search]
    stages = parts["stage"].loc[jobs.index]
    times = ", ".join(f"about {duration(makespan(jobs['seconds'], stages, each))} on {each} cores" for each in cores)
    training = jobs["cpu_seconds"][stages == "train"].sum() / jobs["cpu_seconds"].sum()
    return (
        f"A full run has {len(jobs)} jobs of {duration(jobs['seconds'].sum())} in all: {times}, estimated from each"
        f" job's time. Of their CPU time {training:.0%} is inside training."
    )


def makespan(seconds: Iterable[float], stages: Iterable[str], cores: int) -> float:
    """The seconds that jobs take on `cores` cores: stage by stage, longest first."""
    waiting: dict[int, list[float]] = {}
    for each, stage in zip(seconds, stages, strict=True):
        waiting.setdefault(STAGES.get(stage, PRODUCTS), []).append(float(each))
    return sum(_stage_makespan(each, cores) for each in waiting.values())


def duration(seconds: float) -> str:
    """A duration in words."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{max(seconds, 0.1):.1f} s" if seconds < 10 else f"{rest} s"


def _stage_makespan(seconds: Sequence[float], cores: int) -> float:
    busy_until = [0.0] * cores
    for each in sorted(seconds, reverse=True):
        heapq.heapreplace(busy_until, busy_until[0] + each)
    return max(busy_until)
