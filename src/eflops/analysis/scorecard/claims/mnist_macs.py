"""E-FLoPS reduces multiply-accumulate operations more than Fed-IHT: in the final network, paired over draws.

Contradicted where it clearly removes less than a hundredth of the dense network's operations more.
"""

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("mnist",)
SHORT = "On MNIST, E-FLoPS removes more operations than Fed-IHT"
MARGIN = 0.01
TOLD = "the shares that they remove differ by {}"


def judge(evidence: Evidence) -> Judgement:
    """The share of the dense network's operations that is removed."""

    def against(baseline: str) -> Judgement:
        runs = evidence.runs("mnist", [METHOD, baseline], "macs")
        runs = runs.assign(removed=1 - runs["macs"] / runs["dense_macs"])
        comparison = claimed.better(runs, "removed", baseline, MARGIN, "share of operations removed", told=TOLD)
        return claimed.judge([comparison], "operations removed, E-FLoPS minus the other", "draws", runs)

    return claimed.under_both_names(evidence, against)
