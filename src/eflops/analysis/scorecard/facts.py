"""What the summary says beyond the verdicts, from the same runs: what T = 0 changes, and which settings are nearest."""

from typing import Any

import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.errors import UserError

WITHOUT_ENTROPY = "flops"
METRICS = {"support_recovery": "support recovery", "r2": "test R2"}
# Where the paper's numbers stand, the runs at searched settings, and those at nearest ones.
TABLES = {"Table 1": ("support_recovery", "nearest"), "Table 2": ("golub_splits", "golub_nearest")}
SETTING = "set_rate"


def facts(evidence: Evidence) -> dict[str, Any]:
    """`entropy`: E-FLoPS minus T = 0 over draws, by metric; `nearest`: the weights' rate of each column, both ways."""
    return {"entropy": _entropy(evidence), "nearest": _nearest(evidence)}


def _entropy(evidence: Evidence) -> list[dict[str, Any]]:
    """The mean over N/d, paired over draws."""
    told = []
    for metric, words in METRICS.items():
        try:
            runs = evidence.runs("support_recovery", [METHOD, WITHOUT_ENTROPY], metric)
            found = claimed.better(runs, metric, WITHOUT_ENTROPY, 0.0, words)
        except UserError:
            continue
        low, high = found.interval
        told.append({"metric": words, "mean": found.mean, "low": low, "high": high, "draws": len(found.values)})
    return told


def _nearest(evidence: Evidence) -> list[dict[str, Any]]:
    return [
        {
            "table": table,
            "method": method,
            "searched": float(rates[0].loc[method]),
            "nearest": float(rates[1].loc[method]),
        }
        for table, experiments in TABLES.items()
        for rates in [[_rates(evidence.found(name)) for name in experiments]]
        for method in rates[1].index.intersection(rates[0].index)
    ]


def _rates(runs: pd.DataFrame) -> pd.Series:
    return runs.groupby("method")[SETTING].first() if SETTING in runs else pd.Series(dtype=float)
