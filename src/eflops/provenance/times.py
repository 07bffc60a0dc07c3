"""How long jobs would take, from how long they took before."""

import heapq
from collections.abc import Iterable
from pathlib import Path

from eflops.provenance import benchmarks

# Jobs of a stage wait for those of the stages before it.
STAGES = {
    "fetch": 0,
    "data": 1,
    "train": 2,
    "references": 2,
    "gather": 3,
    "gather-references": 3,
    "scorecard": 5,
    "conclude": 6,
    "report": 7,
}
PRODUCTS = 4
PUBLISHED = Path("results/published")
# Where the benchmarks of a command lie, if not under its own name.
FOLDERS = {"table": "tables", "figure": "figures", "gather-references": "gather", "conclude": "summary"}
COMMANDS = {"tables": "table", "figures": "figure", "summary": "conclude"}


class Times:
    """Seconds of past jobs: those of a results folder, or of the published results where a job never ran there."""

    def __init__(self, results: Path) -> None:
        self.seconds: dict[str, float] = {}
        for folder in (PUBLISHED, results):
            past = benchmarks.read(folder)
            self.seconds.update(zip(past["job"], past["seconds"], strict=True))

    def of(self, command: str, name: str, share: float) -> float | None:
        """The seconds of a job of whose work a share is due; of its like where it never ran; None where none did."""
        if name in self.seconds:
            return share * self.seconds[name]
        folder, last = FOLDERS.get(command, command), name.rpartition("/")[2]
        alike = {past: seconds for past, seconds in self.seconds.items() if past.split("/")[0] == folder}
        same = [seconds for past, seconds in alike.items() if past.rpartition("/")[2] == last] or list(alike.values())
        return share * sum(same) / len(same) if same else None

    def together(self, jobs: Iterable[tuple[str, float]], cores: int) -> float:
        """The seconds that jobs (command, seconds) take on so many cores: stage by stage, the longest first."""
        stages: dict[int, list[float]] = {}
        for command, seconds in jobs:
            stages.setdefault(STAGES.get(command, PRODUCTS), []).append(seconds)
        return sum(_makespan(seconds, cores) for seconds in stages.values())


def whole_run(folder: Path, cores: Iterable[int]) -> str:
    """How long all that a results folder holds would take on so many cores, in a sentence; searches are left out."""
    from eflops.provenance.study import read_study

    past, searches = benchmarks.read(folder), read_study(folder).config.searches
    jobs = []
    for name, seconds in zip(past["job"], past["seconds"], strict=True):
        stage, _, rest = str(name).partition("/")
        of_search = stage in ("train", "gather") and rest.split("/")[0].split(".")[0] in searches
        if stage != "tuning" and not of_search:
            jobs.append((COMMANDS.get(stage, stage), float(seconds)))
    forecast = Times(folder)
    times = ", ".join(f"about {told(forecast.together(jobs, each))} on {each} cores" for each in cores)
    work = sum(seconds for _, seconds in jobs)
    spent = past.assign(training=past["job"].str.startswith("train/")).groupby("training")["cpu_seconds"].sum()
    return (
        f"A full run has {len(jobs)} jobs of {told(work)} in all: {times}, by what each took in the published run. "
        f"Of their CPU time {spent[True] / spent.sum():.0%} is inside training."
    )


def told(seconds: float | None) -> str:
    """A time as people say it."""
    if seconds is None:
        return "unknown time"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{max(seconds, 0.1):.1f} s" if seconds < 10 else f"{rest} s"


def _makespan(seconds: list[float], cores: int) -> float:
    busy_until = [0.0] * cores
    for each in sorted(seconds, reverse=True):
        heapq.heapreplace(busy_until, busy_until[0] + each)
    return max(busy_until)
