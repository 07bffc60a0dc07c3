"""Communication of E-FLoPS is near that of Fed-IHT and far below dense FedAvg, in bytes of the messages really sent.

Near: at most 3.2 times as many (by the paper's formula it is twice as many, without indices). Far below: at most a
tenth over both phases. Ratios are by draw; what a round costs after the cut is told beside them.
"""

import pandas as pd

from eflops.analysis.paper import DENSE, METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("mnist",)
SHORT = "On MNIST, E-FLoPS sends about as little as Fed-IHT and far less than FedAvg"
NEAR, FAR = 3.2, 0.1
TWO_NUMBERS = "E-FLoPS sends two numbers per weight, the weight and its gate"
INDICES = "the indices of kept weights are sent too, which the paper's formula does not count"
TOTAL = ["down_training", "up_training", "down_finetuning", "up_finetuning"]


def judge(evidence: Evidence) -> Judgement:
    """Total bytes, and those of the last training round beside them."""

    def against(baseline: str) -> Judgement:
        runs = evidence.runs("mnist", [METHOD, baseline, DENSE], "last_round_training")
        runs = runs.assign(total=runs[TOTAL].sum(axis=1))
        comparisons = [
            claimed.compared(
                f"bytes / those of {evidence.label(other)}",
                _ratio(runs, "total", other),
                below=limit,
                told=f"it sends {{}} times the bytes of {evidence.label(other)}",
                because=because,
            )
            for other, limit, because in ((baseline, NEAR, TWO_NUMBERS), (DENSE, FAR, INDICES))
        ]
        judged = claimed.judge(comparisons, f"at most {NEAR:g} and {FAR:g} of the other's bytes", "draws", runs)
        last = [_ratio(runs, "last_round_training", other).mean() for other in (baseline, DENSE)]
        told = f"In the last training round it sends {last[0]:.2f} and {last[1]:.3f} of their bytes."
        return claimed.with_words(judged, told)

    return claimed.under_both_names(evidence, against)


def _ratio(runs: pd.DataFrame, column: str, other: str) -> pd.Series:
    """The bytes of E-FLoPS for one of another method, by draw."""
    ours, theirs = (claimed.per_unit(runs[runs["method"] == each], column) for each in (METHOD, other))
    return ours / theirs
