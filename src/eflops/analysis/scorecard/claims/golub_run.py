"""E-FLoPS beats Fed-IHT and FedAvg over 30 run seeds at one split: the one claim whose unit is the run seed, as in the
paper, so that it says nothing of other splits. Contradicted where it is clearly less than .01 ahead in accuracy; AUC is
told beside it. The size of t is judged as a number of its own.
"""

import pandas as pd

from eflops.analysis.paper import DENSE, METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import Comparison, Judgement

EXPERIMENTS = ("golub_runs",)
SHORT = "On leukaemia data, E-FLoPS is more accurate than Fed-IHT and FedAvg over run seeds of one split"
MARGIN = 0.01
FEW = "a split has 15 test samples, so that one of them is 0.067 of accuracy"


def judge(evidence: Evidence) -> Judgement:
    """Final test accuracy, paired over the run seeds of one split."""
    seeds = evidence.paper.sizes["golub"].runs or 2
    return judged(evidence, "golub_runs", "seed", "seed", draws=1, seeds=seeds)


def judged(
    evidence: Evidence, experiment: str, unit: str, of: str, draws: int, seeds: int, overlap: float = 0.0
) -> Judgement:
    """Accuracy against both others over units; the column `of` tells units apart."""

    def against(baseline: str) -> Judgement:
        others = [baseline, DENSE]
        runs = evidence.runs(experiment, [METHOD, *others], "accuracy", draws, seeds)
        accuracy, auc = (_better(evidence, runs, metric, others, unit, of, overlap) for metric in ("accuracy", "auc"))
        found = claimed.judge(accuracy, "accuracy against each method", f"{unit}s", runs)
        return claimed.with_words(found, f"AUC: {', '.join(map(claimed.numbers, auc))}." if auc else "")

    return claimed.under_both_names(evidence, against)


def _better(
    evidence: Evidence, runs: pd.DataFrame, metric: str, others: list[str], unit: str, of: str, overlap: float
) -> list[Comparison]:
    if metric not in runs:
        return []
    return [
        claimed.better(runs, metric, other, MARGIN, name, unit, of, overlap, f"its lead over {name} is {{}}", FEW)
        for other in others
        for name in [evidence.label(other)]
    ]
