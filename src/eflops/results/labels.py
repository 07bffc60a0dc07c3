"""The names of runs, ratios and data draws in paths. Training imports this module, so it does not use the config."""

from dataclasses import dataclass
from decimal import Decimal

BASE = "base"
WHOLE = "all"
# The folders of a results folder that hold all data draws, and the records of all runs.
DATA, RUNS = "data", "runs"


@dataclass(frozen=True)
class Run:
    """One training run: a variant of the settings, a data draw and a run seed."""

    variant: str
    draw: int
    seed: int

    @property
    def path(self) -> str:
        """The run's record below its cell's folder."""
        return f"{self.variant}/draw{self.draw}-seed{self.seed}.json"


def ratio_label(ratio: float) -> str:
    """The name of a ratio in paths: its shortest exact form with two decimals at least, e.g. nd1.00 or nd0.645."""
    whole, _, decimals = f"{Decimal(repr(float(ratio))):f}".partition(".")
    return f"nd{whole}.{decimals:0<2}"


def ratio_value(label: str) -> float | None:
    """The N/d of a path's label; None for data of a fixed size."""
    return None if label == WHOLE else float(label.removeprefix("nd"))


def data_label(ratio: str, draw: int) -> str:
    """The folder of one data draw, e.g. nd0.64-draw0."""
    return f"{ratio}-draw{draw}"
