"""Entropy against the speed of the gates: every temperature compared with T = 0 at the same gate rate."""

from functools import partial

import pandas as pd

from eflops.analysis.stats.paired import paired_tests
from eflops.analysis.stats.summary import summarise_all, unit_means, unit_of

METRICS = ("support_recovery", "r2")
TEMPERATURE, GATE_RATE = "set_temperature", "set_gate_rate"


def entropy_grid(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per N/d, metric, gate rate and temperature.

    Besides the summary there is `gain`, the mean difference from T = 0 with its 95 % interval, paired by draw
    (by run seed where there is one draw).
    """
    cells = summarise_all(runs, METRICS, ["ratio", "method", GATE_RATE, TEMPERATURE])
    gains = pd.concat([_gains(runs, metric) for metric in METRICS])
    return cells.merge(gains, on=["metric", "ratio", GATE_RATE, TEMPERATURE], how="left")


def _gains(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """What each temperature adds: the temperatures take the place of methods in a paired comparison with T = 0."""
    pair_on = [unit_of(runs)]
    as_methods = unit_means(runs, metric, ["ratio", GATE_RATE, TEMPERATURE])
    as_methods = as_methods.assign(method=as_methods[TEMPERATURE].map(str))
    against = partial(paired_tests, others=["0.0"], pair_on=pair_on, family="", by=["ratio", GATE_RATE], ranks=False)
    frames = [
        against(as_methods, metric, str(value)).assign(**{TEMPERATURE: value})
        for value in sorted(runs[TEMPERATURE].unique())
        if value > 0
    ]
    tests = pd.concat(frames).rename(columns={"difference": "gain", "low": "gain_low", "high": "gain_high"})
    return tests[["metric", "ratio", GATE_RATE, TEMPERATURE, "gain", "gain_low", "gain_high"]]


def is_clear(cell: pd.Series) -> bool:
    """Whether the interval of a gain leaves 0 out."""
    return bool(cell["gain_low"] > 0 or cell["gain_high"] < 0)
