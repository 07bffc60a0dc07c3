"""E-FLoPS beats Fed-IHT and FedAvg over 30 train/test splits at one run seed."""

from eflops.analysis.claims import golub_run
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("golub_splits",)


def judge(evidence: Evidence) -> Judgement:
    """As over run seeds, with a split in place of each."""
    return golub_run.judge(evidence, "golub_splits")
