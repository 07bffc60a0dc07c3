"""E-FLoPS recovers more of the true support than Fed-IHT and FedAvg, except at the smallest N/d.

The paper's own table has the exception at its two smallest N/d, where FedAvg is first: the five others are judged,
paired over draws, and contradicted where E-FLoPS is clearly less than .02 ahead, one weight of 50. What is first at
the two is told; the differences there are lines of their own.
"""

import pandas as pd

from eflops.analysis.paper import DENSE, METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence, at_ratios
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("support_recovery",)
SHORT = "E-FLoPS finds more of the true support than Fed-IHT and FedAvg, but for the smallest N/d"
METRIC = "support_recovery"
MARGIN = 0.02
TOLD = "its lead over {} at N/d {:.2f} is {}"


def judge(evidence: Evidence) -> Judgement:
    """Better than both wherever the paper has it in bold."""

    def against(baseline: str) -> Judgement:
        best = evidence.paper.best
        others = [baseline, DENSE]
        runs = at_ratios(evidence.runs("support_recovery", [METHOD, *others], METRIC), list(best))
        claims = [ratio for ratio, method in best.items() if method == METHOD]
        comparisons = [
            claimed.better(row, METRIC, other, MARGIN, f"{name} at {ratio:.2f}", told=TOLD.format(name, ratio, "{}"))
            for ratio, row in runs[runs["ratio"].isin(claims)].groupby("ratio")
            for other in others
            for name in [evidence.label(other)]
        ]
        judged = claimed.judge(comparisons, "N/d and method", "draws", runs)
        return claimed.with_words(judged, _elsewhere(evidence, runs[~runs["ratio"].isin(claims)]))

    return claimed.under_both_names(evidence, against)


def _elsewhere(evidence: Evidence, runs: pd.DataFrame) -> str:
    """E-FLoPS minus FedAvg where the paper has FedAvg first."""
    told = [
        claimed.numbers(claimed.better(row, METRIC, DENSE, MARGIN, f"at {ratio:.2f}"))
        for ratio, row in runs.groupby("ratio")
    ]
    return f"Where the paper has {evidence.label(DENSE)} first, E-FLoPS minus it is {', '.join(told)}." if told else ""
