"""The same federated averaging by other means: a numpy loop, jax, fedjax, and the batched engine.

    python benchmarks/peers.py [--csv benchmarks/peers.csv] [--environments FOLDER] [--only numpy jax] [--show]

Each library runs in an environment of its own, made from the pins in benchmarks/peers/, one after the other in one
invocation. Figures are CPU ms per seed-round by getrusage: d = 1000, N = 640, 6 of 10 clients, 5 local steps.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

from eflops.config.load import read
from eflops.training.engines import batched
from engine import SyntheticBenchmark

PEERS = Path(__file__).parent / "peers"
LIBRARIES = ("numpy", "jax", "fedjax")
COLUMNS = ("what", "batch", "seeds", "ms_per_seed_round")
ROUNDS, MANY = 100, 30
# One thread, as every process of ours has.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}

Row = tuple[str, str, int, float]


def of_eflops(bench: SyntheticBenchmark) -> list[Row]:
    """The batched engine with thirty seeds, and with one."""
    rows: list[Row] = []
    for label, batch in (("whole", None), ("16 rows", 16)):
        for seeds in (list(range(MANY)), [0]):
            best = float("inf")
            for _ in range(3):
                best = min(best, bench.train("fedavg", batch, seeds) / bench.rounds / len(seeds) * 1e3)
            rows.append(("eflops", label, len(seeds), best))
    return rows


def of_library(name: str, federation: Path, environments: Path) -> list[Row]:
    """What loops.py measures of a library in its environment, which is made if it is not there."""
    python = Path(sys.executable) if name == "numpy" else environments / name / "bin" / "python"
    if not python.exists():
        venv.create(environments / name, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", PEERS / f"{name}.txt"], check=True)
    own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [python, PEERS / "loops.py", name, federation], env=own | ONE_THREAD, check=True, capture_output=True, text=True
    )
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return [
        (what, label, MANY if "30 seeds" in what else 1, ms)
        for label, part in found.items()
        for what, ms in part.items()
    ]


def measure(arguments: argparse.Namespace) -> list[Row]:
    """All of them, one after the other."""
    batched.prepare()
    bench = SyntheticBenchmark(read("config.yaml"), 0.64, ROUNDS)
    with tempfile.TemporaryDirectory() as folder:
        federation = Path(folder) / "federation.npz"
        blocks = enumerate(bench.federation.clients)
        np.savez(federation, **{f"{name}{i}": getattr(block, name) for i, block in blocks for name in ("x", "y")})
        rows = of_eflops(bench)
        for name in arguments.only:
            rows += of_library(name, federation, arguments.environments)
            print(f"{name} measured", file=sys.stderr)
    return rows


def show(rows: list[Row]) -> None:
    """Print a table, the fastest first, with the ratio to the batched engine's thirty seeds."""
    ours = {batch: ms for what, batch, seeds, ms in rows if (what, seeds) == ("eflops", MANY)}
    print("| what | batch | seeds | CPU ms per seed-round | : eflops, 30 seeds |\n| --- | --- | --- | --- | --- |")
    for what, batch, seeds, ms in sorted(rows, key=lambda row: (row[1] != "whole", row[3])):
        print(f"| {what} | {batch} | {seeds} | {ms:.3f} | {ms / ours[batch]:.1f} |")


def main() -> None:
    """Measure and write a CSV, or read it; print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, default=Path("benchmarks/peers.csv"))
    parser.add_argument("--environments", type=Path, default=Path(".venv-peers"))
    parser.add_argument("--only", nargs="*", choices=LIBRARIES, default=LIBRARIES)
    parser.add_argument("--show", action="store_true", help="print what the CSV holds and measure nothing")
    arguments = parser.parse_args()
    if not arguments.show:
        rows = [(*row[:3], round(row[3], 4)) for row in measure(arguments)]
        with arguments.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    with arguments.csv.open(newline="") as file:
        show(
            [
                (row["what"], row["batch"], int(row["seeds"]), float(row["ms_per_seed_round"]))
                for row in csv.DictReader(file)
            ]
        )


if __name__ == "__main__":
    main()
