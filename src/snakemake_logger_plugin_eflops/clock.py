"""How long a run will still take: from how long its jobs took before, and from how long they take now."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Where the benchmarks of a rule lie, if not under its own name.
FOLDERS = {
    "table": "tables",
    "figure": "figures",
    "gather_supports": "gather",
    "gather_references": "gather",
    "rank": "tuning",
    "judge": "scorecard",
    "conclude": "summary",
    "write_report": "report",
}
TRAINING = "train_"


@dataclass(frozen=True)
class Running:
    """A job that was started: its rule, its name (its benchmark's path below the benchmarks), and when."""

    rule: str
    name: str
    since: float


@dataclass
class Clock:
    """The jobs of a run and the seconds that such jobs took.

    past: seconds of past jobs by name; waiting: jobs that were not started yet, by rule.
    """

    past: Mapping[str, float]
    waiting: dict[str, int]
    cores: int = 1
    running: dict[int, Running] = field(default_factory=dict)
    now_taken: dict[str, list[float]] = field(default_factory=dict)
    pairs: list[tuple[float, float]] = field(default_factory=list)

    def started(self, job: int, rule: str, name: str, now: float) -> None:
        """A job begins."""
        self.waiting[rule] = max(self.waiting.get(rule, 0) - 1, 0)
        self.running[job] = Running(rule, name, now)

    def finished(self, job: int, now: float) -> None:
        """A job is done; one that was never begun, such as a target, is none."""
        if job not in self.running:
            return
        done = self.running.pop(job)
        self.now_taken.setdefault(done.rule, []).append(now - done.since)
        if done.name in self.past:
            self.pairs.append((now - done.since, self.past[done.name]))

    def left(self, now: float) -> float | None:
        """The seconds until all jobs are done; None where nothing is known yet."""
        rules = {rule for rule, count in self.waiting.items() if count}
        means = {rule: self._mean(rule) for rule in {*rules, *(job.rule for job in self.running.values())}}
        if any(mean is None for mean in means.values()):
            return None
        known = {rule: mean or 0.0 for rule, mean in means.items()}
        begun = [
            max(self.past.get(job.name, known[job.rule] / self.pace) * self.pace - (now - job.since), 0.0)
            for job in self.running.values()
        ]
        work = sum(begun) + sum(known[rule] * self.waiting[rule] for rule in rules)
        return max([work / self.cores, *begun, *(known[rule] for rule in rules)])

    @property
    def pace(self) -> float:
        """How many times as long as before jobs take now: on another machine, or on a busy one."""
        before = sum(was for _, was in self.pairs)
        return sum(took for took, _ in self.pairs) / before if before else 1.0

    def _mean(self, rule: str) -> float | None:
        """The seconds of a rule's job: as in this run, as before at this run's pace, or as any job."""
        taken = self.now_taken.get(rule)
        if taken:
            return sum(taken) / len(taken)
        folder = f"train/{rule.removeprefix(TRAINING)}" if rule.startswith(TRAINING) else FOLDERS.get(rule, rule)
        alike = [seconds for name, seconds in self.past.items() if f"{name}/".startswith(f"{folder}/")]
        if alike:
            return self.pace * sum(alike) / len(alike)
        known = [seconds for each in self.now_taken.values() for seconds in each] or list(self.past.values())
        return sum(known) / len(known) if known else None
