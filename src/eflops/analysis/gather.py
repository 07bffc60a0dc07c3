"""Records to tidy tables: one row a run, and one row a run and evaluated round."""

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from eflops import record
from eflops.config.cells import Run
from eflops.files import write_text


def gather(plan: Mapping[str, Any], folder: Path, out: Path, curves: Path) -> None:
    """Read exactly the planned records below `folder` and write the two tables."""
    records = [(path, record.read(folder / path)) for path in planned(plan)]
    write_text(out, pd.DataFrame(run_row(path, entry) for path, entry in records).to_csv(index=False))
    write_text(curves, pd.concat(curve_rows(path, entry) for path, entry in records).to_csv(index=False))


def planned(plan: Mapping[str, Any]) -> Iterator[str]:
    """The records of a plan, below the experiment's folder, in a fixed order."""
    keys = ("ratios", "methods", "variants", "draws", "seeds")
    for ratio, method, variant, draw, seed in product(*(plan[key] for key in keys)):
        yield f"{ratio}/{method}/{Run(variant, draw, seed).path}"


def run_row(path: str, entry: record.Record) -> dict[str, Any]:
    """A run in one row: who it is, how it ended, its final metrics, traffic and operations, and its settings."""
    result, traffic = entry.result, entry.result.traffic
    return {
        **entry.run.model_dump(),
        "status": result.status,
        **result.metrics,
        "parameters": result.parameters,
        "kept": len(result.support),
        **{f"{name}_{phase}": count for phase, counts in traffic.items() for name, count in counts.items()},
        "macs": sum(result.macs.values()),
        "dense_macs": sum(result.dense_macs.values()),
        **{f"set_{name}": value for name, value in entry.origin.settings.items()},
        "cpu_seconds": entry.circumstances.cpu_seconds / entry.circumstances.runs_in_batch,
        "evaluation_seconds": entry.circumstances.evaluation_seconds / entry.circumstances.runs_in_batch,
        "record": path,
        "result_sha256": entry.result_sha256,
    }


def curve_rows(path: str, entry: record.Record) -> pd.DataFrame:
    """A run's curve, one row a round."""
    curve = entry.result.curve
    return pd.DataFrame({"record": path, "phase": curve.phase, "round": curve.round, **curve.metrics})
