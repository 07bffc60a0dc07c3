"""E-FLoPS beats Fed-IHT and FedAvg over train/test splits: accuracy, the seeds of a split averaged.

Splits of 72 patients overlap, so the test is the corrected resampled one (15 test samples for 57 of training).
Contradicted where it is clearly less than .01 ahead; AUC is told beside it.
"""

from eflops.analysis.paper import OVERLAP
from eflops.analysis.scorecard.claims import golub_run
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("golub_splits",)
SHORT = "On leukaemia data, E-FLoPS is more accurate than Fed-IHT and FedAvg over splits"


def judge(evidence: Evidence) -> Judgement:
    """As over run seeds, with a split in place of each."""
    return golub_run.judged(evidence, "golub_splits", "split", "draw", draws=2, seeds=1, overlap=OVERLAP)
