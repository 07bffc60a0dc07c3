"""Test R2 is stable for theta rates .05 to .5 at gate rate .85, and for gate rates .1 to .9 at theta rate .25.

Stable: the mean R2 of no rate is more than .1 below that of the best. Direction only: no run diverges, and the worst
rate keeps at least half of the best one's R2.
"""

import pandas as pd

from eflops.analysis.scorecard.evidence import Evidence, Missing, value
from eflops.analysis.scorecard.verdict import Judgement, Value, Verdict

EXPERIMENTS = ("rates_theta", "rates_phi")
STABLE = 0.1
LEAST_RUNS = 5


def judge(evidence: Evidence) -> Judgement:
    """Both scans; the worse of them decides."""
    theta = _scan(evidence, "rates_theta", "set_rate", (0.05, 0.5), ("set_gate_rate", 0.85))
    phi = _scan(evidence, "rates_phi", "set_gate_rate", (0.1, 0.9), ("set_rate", 0.25))
    values = (*theta, *phi)
    diverged = sum(each.diverged for each in values)
    if diverged:
        return Judgement(Verdict.FAILED, values, f"{diverged} of {sum(each.n for each in values)} runs diverged.")
    spans = [(max(means), min(means)) for means in ([each.mean or 0.0 for each in scan] for scan in (theta, phi))]
    told = " and ".join(
        f"between {low:.3f} and {high:.3f} over {name}"
        for (high, low), name in zip(spans, ("theta rates", "gate rates"), strict=True)
    )
    if all(high - low <= STABLE for high, low in spans):
        return Judgement(Verdict.REPRODUCED, values, f"Mean R2 is {told}.")
    if all(low >= high / 2 > 0 for high, low in spans):
        return Judgement(Verdict.DIRECTION, values, f"Mean R2 is {told}: never lost, but not level.")
    return Judgement(Verdict.FAILED, values, f"Mean R2 is {told}.")


def _scan(
    evidence: Evidence, experiment: str, varied: str, span: tuple[float, float], fixed: tuple[str, float]
) -> list[Value]:
    """R2 of E-FLoPS at each rate; the rates must reach both ends of the paper's range, the other rate must be its."""
    runs = evidence.runs(experiment, ["eflops"], "r2", LEAST_RUNS)
    runs = runs[(runs["method"] == "eflops") & _equal(runs[fixed[0]], fixed[1])]
    rates = runs[varied]
    if runs.empty or not (_equal(rates, span[0]).any() and _equal(rates, span[1]).any()):
        raise Missing(f"{experiment} does not reach from {span[0]} to {span[1]} at the other rate {fixed[1]}.")
    within = runs[rates.between(span[0] - 1e-9, span[1] + 1e-9)]
    name = varied.removeprefix("set_")
    return [value(f"{name} {rate:g}", group, "r2") for rate, group in within.groupby(varied)]


def _equal(column: pd.Series, number: float) -> pd.Series:
    return (column - number).abs() < 1e-9
