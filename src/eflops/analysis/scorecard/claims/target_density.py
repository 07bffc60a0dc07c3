"""The target density is reached: at the end of training E-FLoPS has about as many gates open as weights are kept.

The expected number of open gates may be at most twice the target on the synthetic data (at each N/d) and on MNIST;
on the leukaemia data, whose target is .1 % of the gates, at most 1 % of them. The mean over draws or splits is
judged.
"""

import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence, at_ratios
from eflops.analysis.scorecard.verdict import Comparison, Judgement

EXPERIMENTS = ("support_recovery", "golub_splits", "mnist")
SHORT = "E-FLoPS ends training at the target density"
MOST, MOST_SHARE = 2.0, 0.01
# Not tested: no run has a rate of its own for an N/d.
SHARED = "one rate of the multiplier serves every N/d"


def judge(evidence: Evidence) -> Judgement:
    """Open gates over kept weights, or over all gates."""
    synthetic, golub, mnist = (evidence.runs(name, [METHOD], "open_gates") for name in EXPERIMENTS)
    rows = at_ratios(synthetic, list(evidence.paper.recovery)).groupby("ratio")
    comparisons = [
        *(_times(evidence, row, f"synthetic, N/d {ratio:.2f}", "draw") for ratio, row in rows),
        _share(golub),
        _times(evidence, mnist, "MNIST", "MNIST draw"),
    ]
    runs = pd.concat([synthetic, golub, mnist])
    family = f"open gates / target at most {MOST:g}, on leukaemia data open gates / gates at most {MOST_SHARE:g}"
    return claimed.judge(comparisons, family, "draws or splits", runs)


def _times(evidence: Evidence, runs: pd.DataFrame, name: str, unit: str) -> Comparison:
    target = evidence.paper.sizes[runs["dataset"].iloc[0]].kept
    values = claimed.per_unit(runs.assign(times=runs["open_gates"] / target), "times", unit)
    told = f"{name}: {{}} times the target's gates are open"
    because = SHARED if name.startswith("synthetic") else ""
    return claimed.compared(f"{name} (times the target)", values, below=MOST, told=told, because=because)


def _share(runs: pd.DataFrame) -> Comparison:
    values = claimed.per_unit(runs.assign(share=runs["open_gates"] / runs["parameters"]), "share", "split")
    told = "leukaemia: {} of all gates are open"
    return claimed.compared("leukaemia (share of gates)", values, below=MOST_SHARE, told=told)
