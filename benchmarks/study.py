"""How the steps of a study grow with the number of its runs: plan, train, gather, tables, audit, explorer.

The runs are tiny (16 features, one round), so that what is measured is all work besides training. `tests/growing.py`
makes the study, and the slow tests check that no step grows faster than linearly.

    python benchmarks/study.py [--runs 500 1500 5000] [--csv benchmarks/study.csv] [--show]
"""

import argparse
import csv
import math
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from growing import RUNS_PER_CASE, steps

COLUMNS = ("step", "runs", "cpu_seconds")
# Below this, reading the clock and importing modules decide.
NEGLIGIBLE = 0.2


def measure(sizes: list[int]) -> list[tuple[str, int, float]]:
    """The CPU seconds of every step at every number of runs."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        steps(Path(folder) / "first", 10)  # compiled code and imports
        for size in sizes:
            taken = steps(Path(folder) / str(size), size // RUNS_PER_CASE)
            rows += [(step, size, round(seconds, 3)) for step, seconds in taken.items()]
            print(f"{size} runs measured", file=sys.stderr)
    return rows


def show(rows: list[tuple[str, int, float]]) -> None:
    """Print one row per step, with the exponent of its growth from the smallest to the largest study."""
    sizes = sorted({runs for _, runs, _ in rows})
    print(f"| step | {' | '.join(f'{size:,} runs' for size in sizes)} | exponent |")
    print(f"| --- | {' | '.join('---' for _ in sizes)} | --- |")
    for step in dict.fromkeys(step for step, _, _ in rows):
        seconds = {runs: taken for name, runs, taken in rows if name == step}
        first, last = seconds[sizes[0]], seconds[sizes[-1]]
        growth = f"{math.log(last / first) / math.log(sizes[-1] / sizes[0]):.2f}" if first > NEGLIGIBLE else ""
        print(f"| {step} | {' | '.join(f'{seconds[size]:.2f}' for size in sizes)} | {growth} |")


def main() -> None:
    """Measure and write a CSV, or read it; print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, nargs="+", default=[500, 1500, 5000])
    parser.add_argument("--csv", type=Path, default=Path("benchmarks/study.csv"))
    parser.add_argument("--show", action="store_true", help="print what the CSV holds and measure nothing")
    arguments = parser.parse_args()
    if not arguments.show:
        with arguments.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *measure(arguments.runs)])
    with arguments.csv.open(newline="") as file:
        show([(row["step"], int(row["runs"]), float(row["cpu_seconds"])) for row in csv.DictReader(file)])


if __name__ == "__main__":
    main()
