"""E-FLoPS has a higher test R2 than Fed-IHT at every N/d: the final R2, paired over run seeds."""

from eflops.analysis.paired import paired_tests
from eflops.analysis.scorecard.evidence import Evidence, at_ratios, value
from eflops.analysis.scorecard.order import judge_order
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("support_recovery",)
METHODS = ["eflops", "fediht"]


def judge(evidence: Evidence) -> Judgement:
    """Better at each N/d of the paper's table, Holm over these."""
    runs = at_ratios(evidence.runs("support_recovery", METHODS, "r2"), list(evidence.paper.recovery))
    tests = paired_tests(runs, "r2", "eflops", ["fediht"], ["draw", "seed"], "N/d", by=["ratio"])
    values = [
        value(f"{evidence.label(method)} at {ratio:.2f}", group, "r2")
        for (ratio, method), group in runs.groupby(["ratio", "method"])
    ]
    return judge_order(tests, values, lambda test: f"N/d {test['ratio']:.2f}")
