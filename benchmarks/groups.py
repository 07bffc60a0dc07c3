"""Milliseconds per prediction of the CNN: dense, and of runs' models without the units that they do not need.

Each model is what `eflops model` writes, as a torch module on one thread: of a run with a gate per weight, and of one
with a gate per unit, both with a tenth of the weights (experiment mnist_groups). Models take turns, and the fastest of
many predictions of each is kept.

    python benchmarks/groups.py [--results results] [--draw 0] [--repeats 200] [--csv benchmarks/groups.csv] [--show]
"""

import argparse
import csv
import time
from pathlib import Path

import torch
from torch import nn

from eflops.provenance.data import stored_manifest
from eflops.provenance.network import network_of, without_dead_units
from eflops.results.store import opened
from eflops.training.models.network import cnn_stages
from eflops.training.modules import built_in

EXPERIMENT, DENSE = "mnist_groups", "dense"
MODELS = {"eflops": "a gate per weight", "eflops_units": "a gate per unit"}
BATCHES = (1, 256)
COLUMNS = ("model", "batch", "parameters", "units", "ms")


def networks(results: Path, draw: int) -> tuple[dict[str, nn.Sequential], tuple[int, ...]]:
    """The dense network and those of the runs, by what they are called; the shape of an image."""
    made = {}
    with opened(results) as store:
        for method, name in MODELS.items():
            run = store.record(f"{EXPERIMENT}/all/{method}/base/draw{draw}-seed0.json")
            manifest = stored_manifest(store, run.origin.data)
            made[name], shape = network_of(run, manifest)
    classes = manifest["meta"]["classes"]
    theta = built_in("cnn", shape, {"classes": classes}).initial(0)
    return {DENSE: without_dead_units(cnn_stages(shape, classes), theta.numpy()), **made}, shape


def measure(results: Path, draw: int, repeats: int) -> list[tuple[str, int, int, int, float]]:
    """One row per model and number of images in a prediction."""
    torch.set_num_threads(1)
    models, shape = networks(results, draw)
    rows = []
    for batch in BATCHES:
        images, best = torch.rand(batch, *shape), dict.fromkeys(models, float("inf"))
        for _ in range(repeats):
            for name, model in models.items():
                start = time.perf_counter()
                with torch.inference_mode():
                    model(images)
                best[name] = min(best[name], 1e3 * (time.perf_counter() - start))
        for name, model in models.items():
            layers = [layer.weight for layer in model if isinstance(layer, nn.Conv2d | nn.Linear)]
            parameters = sum(part.numel() for part in model.parameters())
            rows.append((name, batch, parameters, sum(len(weight) for weight in layers[:-1]), round(best[name], 4)))
    return rows


def show(rows: list[dict[str, str]]) -> None:
    """Print a table with the ratio to the dense network."""
    times = {(row["model"], row["batch"]): float(row["ms"]) for row in rows}
    print("| model | parameters | hidden units | images | ms per prediction | speed-up |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        ms = times[row["model"], row["batch"]]
        ratio = times[DENSE, row["batch"]] / ms
        size = f"{int(row['parameters']):,} | {row['units']}"
        print(f"| {row['model']} | {size} | {row['batch']} | {ms:.3f} | {ratio:.1f} |")


def main() -> None:
    """Measure and write a CSV, or read it; print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--csv", type=Path, default=Path("benchmarks/groups.csv"))
    parser.add_argument("--show", action="store_true", help="print what the CSV holds and measure nothing")
    arguments = parser.parse_args()
    if not arguments.show:
        with arguments.csv.open("w", newline="") as file:
            rows = measure(arguments.results, arguments.draw, arguments.repeats)
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    with arguments.csv.open(newline="") as file:
        show(list(csv.DictReader(file)))


if __name__ == "__main__":
    main()
