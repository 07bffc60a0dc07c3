"""Which weights each run kept: gathered from the records, and read as the features that they belong to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from eflops import record
from eflops.analysis.gather import planned
from eflops.analysis.source import IDENTITY, Source
from eflops.files import write_text


def gather(plan: Mapping[str, Any], folder: Path, out: Path) -> None:
    """Write one row a planned record below `folder`: the indices of the kept weights, parted by spaces."""
    rows = [(path, " ".join(map(str, record.read(folder / path).result.support))) for path in planned(plan)]
    write_text(out, pd.DataFrame(rows, columns=["record", "support"]).to_csv(index=False))


def selected_features(source: Source, experiment: str, features: int) -> pd.DataFrame:
    """One row a run: its identity, status, and `selected`, the sorted features with any kept weight.

    Weights are laid out class by class, `features` of them for each class.
    """
    path = source.results / "gathered" / f"{experiment}.supports.csv"
    supports = pd.read_csv(path, keep_default_na=False, dtype=str)
    runs = source.runs(experiment)[[*IDENTITY, "status", "record"]].merge(supports, on="record", validate="1:1")
    selected = [sorted({int(weight) % features for weight in kept.split()}) for kept in runs["support"]]
    return runs.drop(columns="support").assign(selected=selected)
