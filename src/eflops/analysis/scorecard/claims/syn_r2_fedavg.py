"""E-FLoPS exceeds the top-m model of dense FedAvg during training and after finetuning.

Judged at N/d .64, where the paper shows R2 over rounds, paired over draws: at the end of training and after
finetuning, contradicted where it is clearly less than .02 higher; and "during training" means that it is the higher
one in more than half of the training rounds that were evaluated.
"""

import pandas as pd

from eflops.analysis.paper import DENSE, METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence, at_ratios
from eflops.analysis.scorecard.verdict import Comparison, Judgement

EXPERIMENTS = ("support_recovery",)
SHORT = "E-FLoPS has a higher test R2 than FedAvg cut to the same size, in training and at the end"
RATIO, MARGIN, LEAST_SHARE = 0.64, 0.02, 0.5


def judge(evidence: Evidence) -> Judgement:
    """Better at both ends, and for half of the way to the first."""
    runs = at_ratios(evidence.runs("support_recovery", [METHOD, DENSE], "r2"), [RATIO])
    curves = evidence.curves("support_recovery")
    training = curves[curves["record"].isin(runs["record"]) & (curves["phase"] == "training") & (curves["round"] > 0)]
    last = training.sort_values("round").groupby("record")["r2"].last()
    trained = runs.assign(r2=runs["record"].map(last))
    comparisons = [
        claimed.better(trained, "r2", DENSE, MARGIN, "after training", told="after training R2 differs by {}"),
        claimed.better(runs, "r2", DENSE, MARGIN, "after finetuning", told="after finetuning R2 differs by {}"),
        _during(training),
    ]
    return claimed.judge(comparisons, "R2 at two stages, and the share of rounds", "draws", runs)


def _during(training: pd.DataFrame) -> Comparison:
    """Of the rounds that both methods have, the share at which E-FLoPS is the higher one, by draw."""
    means = training.groupby(["draw", "round", "method"])["r2"].mean().unstack("method").dropna()
    shares = (means[METHOD] > means[DENSE]).groupby("draw").mean()
    named = shares.set_axis([f"draw {draw}" for draw in shares.index])
    told = "its R2 is the higher one in {} of the training rounds"
    return claimed.compared("share of training rounds above", named, above=LEAST_SHARE, told=told)
