"""What tables and figures read: gathered runs and curves, and how methods are called and drawn."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

IDENTITY = ["experiment", "dataset", "ratio", "method", "variant", "draw", "seed"]


@dataclass(frozen=True)
class Source:
    """A results folder and the context that the workflow gives: the methods' labels in the config's order."""

    results: Path
    context: dict[str, Any] = field(default_factory=dict)

    def runs(self, experiment: str) -> pd.DataFrame:
        """One row a run."""
        return pd.read_csv(self.results / "gathered" / f"{experiment}.csv")

    def curves(self, experiment: str) -> pd.DataFrame:
        """One row a run and evaluated round, with the run's identity."""
        curves = pd.read_csv(self.results / "gathered" / f"{experiment}.curves.csv")
        return curves.merge(self.runs(experiment)[[*IDENTITY, "status", "record"]], on="record", how="left")

    def references(self, experiment: str) -> pd.DataFrame:
        """One row a reference fit to pooled rows, for each data draw of an experiment."""
        path = self.results / "gathered" / f"{experiment}.references.csv"
        return pd.read_csv(path)

    @cached_property
    def labels(self) -> dict[str, str]:
        """What each method is called in print."""
        return dict(self.context["labels"])

    def order(self, names: Any) -> list[str]:
        """Methods in the config's order."""
        present = set(names)
        return [name for name in self.labels if name in present]
