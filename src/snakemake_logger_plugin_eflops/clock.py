"""How long a run will still take, from how long the jobs of each rule take in this very run."""

from dataclasses import dataclass, field

# The seconds of a job whose rule has not ended any yet, where nothing else is known.
UNKNOWN = 3.0


@dataclass
class Clock:
    """The jobs of a run: those that wait by rule, those that run, and what the finished ones of each rule took."""

    waiting: dict[str, int]
    cores: int = 1
    running: dict[int, tuple[str, float]] = field(default_factory=dict)
    taken: dict[str, list[float]] = field(default_factory=dict)

    def started(self, job: int, rule: str, now: float) -> None:
        """A job begins."""
        self.waiting[rule] = max(self.waiting.get(rule, 0) - 1, 0)
        self.running[job] = rule, now

    def finished(self, job: int, now: float) -> None:
        """A job is done; one that was never begun, such as a target, is none."""
        if job in self.running:
            rule, since = self.running.pop(job)
            self.taken.setdefault(rule, []).append(now - since)

    def left(self, now: float) -> float | None:
        """The seconds until all jobs are done; None until a tenth of the jobs of some heavy rule are done."""
        if not any(self._known(rule) for rule in self.taken):
            return None
        begun = [max(self._mean(rule) - (now - since), 0.0) for rule, since in self.running.values()]
        work = sum(begun) + sum(self._mean(rule) * count for rule, count in self.waiting.items())
        return max([work / self.cores, *begun])

    def _known(self, rule: str) -> bool:
        """Whether enough jobs of the rule that has the most left are done to say anything."""
        most = max(self.waiting, key=lambda each: self.waiting[each], default=rule)
        done = len(self.taken.get(most, []))
        return done >= 3 and done >= 0.1 * (done + self.waiting.get(most, 0))

    def _mean(self, rule: str) -> float:
        """The seconds of a rule's job."""
        taken = self.taken.get(rule)
        return sum(taken) / len(taken) if taken else UNKNOWN
