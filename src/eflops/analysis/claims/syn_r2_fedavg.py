"""E-FLoPS exceeds the top-m model of dense FedAvg during training and after tuning.

Judged at N/d .64, where the paper shows R2 over rounds: at the last training round and after tuning, paired over run
seeds; and "during training" means that its mean curve is the higher one in at least half of the training rounds.
"""

import pandas as pd

from eflops.analysis.paired import paired_tests
from eflops.analysis.scorecard.evidence import Evidence, at_ratios, value
from eflops.analysis.scorecard.order import judge_order
from eflops.analysis.scorecard.verdict import Judgement, Verdict

EXPERIMENTS = ("support_recovery",)
METHODS = ["eflops", "fedavg"]
RATIO = 0.64
LEAST_SHARE = 0.5


def judge(evidence: Evidence) -> Judgement:
    """Better at both ends, and for half of the way to the first."""
    runs = at_ratios(evidence.runs("support_recovery", METHODS, "r2"), [RATIO])
    curves = evidence.curves("support_recovery")
    training = curves[curves["record"].isin(runs["record"]) & (curves["phase"] == "training")]
    stages = _stages(runs, training)
    tests = paired_tests(stages, "r2", "eflops", ["fedavg"], ["draw", "seed"], "stages", by=["stage"])
    values = [
        value(f"{evidence.label(method)} {stage}", group, "r2")
        for (stage, method), group in stages.groupby(["stage", "method"], sort=False)
    ]
    judged = judge_order(tests, values, lambda test: str(test["stage"]))
    share = _share_above(training)
    told = f"{judged.reason[:-1]}; above it in {share:.0%} of the training rounds."
    held = judged.verdict == Verdict.REPRODUCED and share < LEAST_SHARE
    return Judgement(Verdict.DIRECTION if held else judged.verdict, judged.values, told)


def _stages(runs: pd.DataFrame, training: pd.DataFrame) -> pd.DataFrame:
    """The runs twice: with their R2 at the last training round and with that after tuning."""
    last = training.sort_values("round").groupby("record")["r2"].last()
    finished = runs["status"] == "finished"
    before = runs.assign(stage="after training", r2=runs["record"].map(last).where(finished))
    return pd.concat([before, runs.assign(stage="after tuning")])


def _share_above(training: pd.DataFrame) -> float:
    """The share of the rounds that both methods have at which the mean of E-FLoPS is the higher one."""
    means = training.groupby(["round", "method"])["r2"].mean().unstack("method").dropna()
    return float((means["eflops"] > means["fedavg"]).mean())
