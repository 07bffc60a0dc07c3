"""Test R2 is stable for theta rates .05 to .5 at gate rate .85, and for gate rates .1 to .9 at theta rate .25.

Stable: no rate's R2 is more than .1 below that of the scan's best rate, paired over draws. A run that diverged predicts
no better than the mean of y, an R2 of 0.
"""

import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence, Missing
from eflops.analysis.scorecard.verdict import Comparison, Judgement

EXPERIMENTS = ("rates_theta", "rates_phi")
SHORT = "Test R2 hardly depends on the learning rates"
STABLE = 0.1


def judge(evidence: Evidence) -> Judgement:
    """Both scans, every rate against the best."""
    theta = _scan(evidence, "rates_theta", "set_rate", (0.05, 0.5), ("set_gate_rate", 0.85))
    phi = _scan(evidence, "rates_phi", "set_gate_rate", (0.1, 0.9), ("set_rate", 0.25))
    comparisons = [*_drops(theta, "set_rate", "theta rate"), *_drops(phi, "set_gate_rate", "gate rate")]
    family = f"R2 lost at each rate against the best, at most {STABLE:g}"
    return claimed.judge(comparisons, family, "draws", pd.concat([theta, phi]).assign(status="finished"))


def _drops(runs: pd.DataFrame, varied: str, name: str) -> list[Comparison]:
    """What each rate but the best loses."""
    means = {float(rate): claimed.per_unit(group, "r2") for rate, group in runs.groupby(varied)}
    best = max(means, key=lambda rate: float(means[rate].mean()))
    return [
        claimed.compared(
            f"{name} {rate:g}",
            means[best] - each,
            below=STABLE,
            told=f"at {name} {rate:g} R2 is {{}} below its best",
        )
        for rate, each in means.items()
        if rate != best
    ]


def _scan(
    evidence: Evidence, experiment: str, varied: str, span: tuple[float, float], fixed: tuple[str, float]
) -> pd.DataFrame:
    """The runs of E-FLoPS; the rates must reach both ends of the paper's range, the other rate must be its."""
    runs = evidence.runs(experiment, [METHOD], "r2")
    runs = runs[_equal(runs[fixed[0]], fixed[1])]
    rates = runs[varied]
    if runs.empty or not (_equal(rates, span[0]).any() and _equal(rates, span[1]).any()):
        raise Missing(f"{experiment} does not reach from {span[0]} to {span[1]} at the other rate {fixed[1]}.")
    within = runs[rates.between(span[0] - 1e-9, span[1] + 1e-9)]
    lost = within["status"] == "diverged"
    return within.assign(r2=within["r2"].mask(lost, 0.0), status="finished")


def _equal(column: pd.Series, number: float) -> pd.Series:
    return (column - number).abs() < 1e-9
