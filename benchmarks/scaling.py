"""How the cost of a round grows with features d, rows N, clients and seeds, each over a factor of 16.

    python benchmarks/scaling.py [--factor 16] [--repeats 2] [--csv benchmarks/scaling.csv] [--figure docs/scaling.svg]

Synthetic data, whole batches, five local steps. One size is varied at a time; the others stay at BASE. Every size is
measured several times in CPU seconds and the fastest is kept. The slope is that of a straight line through the
logarithms; 1 means that twice the size costs twice as much.
"""

import argparse
import csv
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from eflops.config.load import read
from eflops.config.plan import cell_spec
from eflops.data.build import build
from eflops.data.federation import Federation
from eflops.training.engines import batched
from eflops.training.rounds import Server
from eflops.training.train import make_method, make_task

BASE = {"features": 1000, "rows": 640, "clients": 10, "seeds": 30}
FROM = {"features": 250, "rows": 160, "clients": 4, "seeds": 4}
LABELS = {"features": "features d", "rows": "rows N", "clients": "clients", "seeds": "seeds"}
NAMES = {"eflops": "E-FLoPS", "fedavg": "FedAvg"}
ROUNDS, STEPS = 3, 5
COLUMNS = ("varied", *BASE, "method", "ms_per_round")


def main() -> None:
    """Measure, write the table and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--factor", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--csv", type=Path, default=Path("benchmarks/scaling.csv"))
    parser.add_argument("--figure", type=Path, default=Path("docs/scaling.svg"))
    arguments = parser.parse_args()
    batched.prepare()
    rows = []
    for varied, first in FROM.items():
        for value in (first * 2**power for power in range(arguments.factor.bit_length())):
            sizes = {**BASE, varied: value}
            federation = _federation(sizes)
            for method in NAMES:
                milliseconds = _milliseconds(method, federation, sizes["seeds"], arguments.repeats)
                rows.append({"varied": varied, **sizes, "method": method, "ms_per_round": round(milliseconds, 2)})
                print(f"{varied:9} {value:6} {method:7} {milliseconds:9.2f} CPU ms per round", flush=True)
    with open(arguments.csv, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    _draw(rows, arguments.figure)


def _federation(sizes: dict[str, int]) -> Federation:
    """Data of these sizes; few test rows, because evaluation is not what is measured."""
    settings = read("config.yaml").datasets["synthetic"].model_dump()
    least = min(settings["min_rows"], sizes["rows"] // (2 * sizes["clients"]))
    changes = {"features": sizes["features"], "clients": sizes["clients"], "test_rows": 100, "min_rows": least}
    return build({**settings, **changes}, sizes["rows"] / sizes["features"], 0)


def _milliseconds(method: str, federation: Federation, seeds: int, repeats: int) -> float:
    config = read("config.yaml")
    job = cell_spec(config, "curves", "nd0.64", method)
    (settings,) = job.variants.values()
    changes = {"rounds": ROUNDS, "local_steps": STEPS, "batch_size": None, "finetune_rounds": 0}
    settings = settings.model_copy(update=changes)
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for first in range(0, seeds, config.block_size):
            block = list(range(first, min(seeds, first + config.block_size)))
            task, bench = make_task(job, [settings] * len(block), federation)
            transport = batched.transport(task, federation)
            Server(task, bench, transport, 10**9, lambda *_: None).run(make_method(job, task), block)
        best = min(best, time.process_time() - start)
    return best / ROUNDS * 1e3


def _draw(rows: list[dict], path: Path) -> None:
    """One panel a size, with the fitted slopes."""
    figure, axes = plt.subplots(1, len(FROM), figsize=(11, 2.8), sharey=True, layout="constrained")
    for axis, varied in zip(axes, FROM, strict=True):
        for method in NAMES:
            points = [
                (row[varied], row["ms_per_round"]) for row in rows if (row["varied"], row["method"]) == (varied, method)
            ]
            x, y = np.array(points, dtype=float).T
            slope, offset = np.polyfit(np.log(x), np.log(y), 1)
            (line,) = axis.loglog(x, y, "o", label=f"{NAMES[method]}, slope {slope:.2f}")
            axis.loglog(x, np.exp(offset) * x**slope, color=line.get_color(), linewidth=1)
            print(f"{varied:9} {method:7} slope {slope:.2f}")
        # Only the sizes that were measured: the usual labels of so short a logarithmic axis run into one another.
        axis.set_xticks(x, [f"{size:.0f}" for size in x])
        axis.minorticks_off()
        axis.set_xlabel(LABELS[varied])
        axis.legend(fontsize=7, frameon=False)
    axes[0].set_ylabel("CPU ms per round")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
