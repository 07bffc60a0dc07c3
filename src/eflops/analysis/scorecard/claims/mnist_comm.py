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
NEAR, FAR = 3.2, 0.1
TOTAL = ["down_training", "up_training", "down_finetuning", "up_finetuning"]


def judge(evidence: Evidence) -> Judgement:
    """Total bytes, and those of the last training round beside them."""

    def against(baseline: str) -> Judgement:
        runs = evidence.runs("mnist", [METHOD, baseline, DENSE], "last_round_training")
        runs = runs.assign(total=runs[TOTAL].sum(axis=1))
        near, far = (_ratio(runs, "total", other) for other in (baseline, DENSE))
        comparisons = [
            claimed.compared(f"bytes / those of {evidence.label(baseline)}", near, below=NEAR),
            claimed.compared(f"bytes / those of {evidence.label(DENSE)}", far, below=FAR),
        ]
        judged = claimed.judge(comparisons, f"at most {NEAR:g} and {FAR:g} of the other's bytes", "draws", runs)
        last = [_ratio(runs, "last_round_training", other).mean() for other in (baseline, DENSE)]
        told = f"In the last training round it sends {last[0]:.2f} and {last[1]:.3f} of their bytes."
        return Judgement(judged.verdict, judged.values, f"{judged.reason} {told}")

    return claimed.under_both_names(evidence, against)


def _ratio(runs: pd.DataFrame, column: str, other: str) -> pd.Series:
    """The bytes of E-FLoPS for one of another method, by draw."""
    ours, theirs = (claimed.per_unit(runs[runs["method"] == each], column) for each in (METHOD, other))
    return ours / theirs
