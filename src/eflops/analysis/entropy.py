"""Entropy against the speed of the gates: every temperature compared with T = 0 at the same gate rate."""

import pandas as pd

from eflops.analysis.paired import paired_tests
from eflops.analysis.source import Source
from eflops.analysis.summary import summarise_all

METRICS = ("support_recovery", "r2")
TEMPERATURE, GATE_RATE = "set_temperature", "set_gate_rate"


def entropy_grid(source: Source) -> pd.DataFrame:
    """One row a ratio, metric, gate rate and temperature.

    Besides the summary there is `gain`, the mean difference from T = 0 over run seeds, with its 95 % interval.
    """
    runs = source.runs("ablation_entropy")
    cells = summarise_all(runs, METRICS, ["ratio", "method", GATE_RATE, TEMPERATURE])
    gains = pd.concat([_gains(runs, metric) for metric in METRICS])
    return cells.merge(gains, on=["metric", "ratio", GATE_RATE, TEMPERATURE], how="left")


def _gains(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """What each temperature adds: the temperatures take the place of methods in a paired comparison with T = 0."""
    as_methods = runs.assign(method=runs[TEMPERATURE].map(str))
    frames = [
        paired_tests(as_methods, metric, str(value), ["0.0"], ["draw", "seed"], "", by=["ratio", GATE_RATE]).assign(
            **{TEMPERATURE: value}
        )
        for value in sorted(runs[TEMPERATURE].unique())
        if value > 0
    ]
    tests = pd.concat(frames).rename(columns={"difference": "gain", "low": "gain_low", "high": "gain_high"})
    return tests[["metric", "ratio", GATE_RATE, TEMPERATURE, "gain", "gain_low", "gain_high"]]


def is_clear(cell: pd.Series) -> bool:
    """Whether the interval of a gain leaves 0 out."""
    return bool(cell["gain_low"] > 0 or cell["gain_high"] < 0)
