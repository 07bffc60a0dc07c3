"""How long a run takes, from how long its jobs took."""

import heapq
from collections.abc import Iterable, Sequence
from pathlib import Path

from eflops.results import benchmarks

CORES = (2, 12)
# Jobs of a stage wait for those of the stages before it. All that is not named here is a table or figure.
STAGES = {"fetch": 0, "data": 1, "train": 2, "references": 2, "gather": 3, "scorecard": 5, "summary": 6, "explorer": 7}
PRODUCTS = 4
SEARCH = "search"


def whole_run(folder: Path, cores: Iterable[int] = CORES) -> str:
    """How long the jobs of a results folder took and would take, in a sentence; empty where none ran."""
    from eflops.results.study import read_study

    past = benchmarks.read(folder)
    if past.empty or not (folder / "study.json").exists():
        return ""
    parts = past["job"].str.extract(r"^(?P<stage>[^/]+)/?(?P<name>[^/.]*)")
    of_search = parts["stage"].isin(["train", "gather"]) & parts["name"].isin(read_study(folder).config.searches)
    counted = past[(parts["stage"] != SEARCH) & ~of_search]
    stages = parts["stage"].loc[counted.index]
    times = ", ".join(f"about {told(together(counted['seconds'], stages, each))} on {each} cores" for each in cores)
    training = counted["cpu_seconds"][stages == "train"].sum() / counted["cpu_seconds"].sum()
    return (
        f"A full run has {len(counted)} jobs of {told(counted['seconds'].sum())} in all: {times}, by what each took. "
        f"Of their CPU time {training:.0%} is inside training."
    )


def together(seconds: Iterable[float], stages: Iterable[str], cores: int) -> float:
    """The seconds that jobs take on so many cores: stage by stage, the longest first."""
    waiting: dict[int, list[float]] = {}
    for each, stage in zip(seconds, stages, strict=True):
        waiting.setdefault(STAGES.get(stage, PRODUCTS), []).append(float(each))
    return sum(_makespan(each, cores) for each in waiting.values())


def told(seconds: float) -> str:
    """A time as people say it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{max(seconds, 0.1):.1f} s" if seconds < 10 else f"{rest} s"


def _makespan(seconds: Sequence[float], cores: int) -> float:
    busy_until = [0.0] * cores
    for each in sorted(seconds, reverse=True):
        heapq.heapreplace(busy_until, busy_until[0] + each)
    return max(busy_until)
