"""E-FLoPS has a higher test R2 than Fed-IHT at every N/d: the final R2, paired over draws.

Contradicted where it is clearly less than .02 higher.
"""

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence, at_ratios
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("support_recovery",)
SHORT = "E-FLoPS has a higher test R2 than Fed-IHT at every N/d"
MARGIN = 0.02


def judge(evidence: Evidence) -> Judgement:
    """Better at each N/d of the paper's table."""

    def against(baseline: str) -> Judgement:
        runs = evidence.runs("support_recovery", [METHOD, baseline], "r2")
        rows = at_ratios(runs, list(evidence.paper.recovery)).groupby("ratio")
        comparisons = [
            claimed.better(
                row, "r2", baseline, MARGIN, f"N/d {ratio:.2f}", told=f"at N/d {ratio:.2f} R2 differs by {{}}"
            )
            for ratio, row in rows
        ]
        return claimed.judge(comparisons, "R2 at each N/d", "draws", runs)

    return claimed.under_both_names(evidence, against)
