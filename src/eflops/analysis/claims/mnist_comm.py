"""Communication of E-FLoPS is near that of Fed-IHT and far below dense FedAvg, in bytes of the messages really sent.

Near: at most 3.2 times as many (by the paper's formula it is twice as many, without indices). Far below: at most a
tenth over training and tuning. Direction only: this holds for a round after the cut (there at most 8 % of dense), but
not for the total, as after a warm-up with dense messages.
"""

import pandas as pd

from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import Judgement, Value, Verdict

EXPERIMENTS = ("mnist",)
METHODS = ["eflops", "fediht", "fedavg"]
NEAR, FAR_TOTAL, FAR_ROUND = 3.2, 0.1, 0.08
TOTAL = ["down_training", "up_training", "down_tuning", "up_tuning"]
LEAST_RUNS = 10


def judge(evidence: Evidence) -> Judgement:
    """Total bytes first, a round's bytes second."""
    runs = evidence.runs("mnist", METHODS, "last_round_training", LEAST_RUNS)
    runs = runs.assign(total=runs[TOTAL].sum(axis=1))
    total, last = (runs.groupby("method")[column].mean() for column in ("total", "last_round_training"))
    values = tuple(
        Value(f"{evidence.label(method)} {what}", float(column[method]), None, int((runs["method"] == method).sum()))
        for what, column in (("bytes in all", total), ("bytes in the last training round", last))
        for method in METHODS
    )
    told = f"{_told(total)} in all, and {_told(last)} in the last training round."
    if _near_and_far(total, FAR_TOTAL):
        return Judgement(Verdict.REPRODUCED, values, f"E-FLoPS sends {told}")
    if _near_and_far(last, FAR_ROUND):
        return Judgement(Verdict.DIRECTION, values, f"E-FLoPS sends {told}")
    return Judgement(Verdict.FAILED, values, f"E-FLoPS sends {told}")


def _near_and_far(sent: pd.Series, far: float) -> bool:
    return bool(sent["eflops"] <= NEAR * sent["fediht"] and sent["eflops"] <= far * sent["fedavg"])


def _told(sent: pd.Series) -> str:
    near, far = sent["eflops"] / sent["fediht"], sent["eflops"] / sent["fedavg"]
    return f"{near:.2f} times the bytes of Fed-IHT and {far:.1%} of those of FedAvg"
