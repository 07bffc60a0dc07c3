"""Progress of long work: a bar on a terminal, a line every few seconds in a log."""

import sys
import time
from collections.abc import Callable

LINE_SECONDS = 5.0
BAR = 30


def progress(title: str) -> Callable[[str, int, int, float], None]:
    """A reporter for one block of runs; it is told the phase, the round, the rounds in all and the mean metric."""
    started, last = time.monotonic(), [0.0]

    def report(phase: str, round_: int, total: int, metric: float) -> None:
        now = time.monotonic()
        finished = round_ >= total
        if not finished and now - last[0] < (0.2 if sys.stderr.isatty() else LINE_SECONDS):
            return
        last[0] = now
        left = (now - started) / round_ * (total - round_)
        text = f"{title}: {phase} round {round_}/{total}, mean {metric:.3f}, {left:.0f} s left"
        if sys.stderr.isatty():
            done = BAR * round_ // total
            print(f"\r[{'#' * done}{'.' * (BAR - done)}] {text}\033[K", end="\n" if finished else "", file=sys.stderr)
        else:
            print(text, file=sys.stderr, flush=True)

    return report
