"""E-FLoPS recovers more of the true support than Fed-IHT and FedAvg, except at the smallest N/d.

The paper's own table has the exception at its two smallest N/d, where FedAvg is first; that is what is judged.
"""

from eflops.analysis.paired import paired_tests
from eflops.analysis.scorecard.evidence import Evidence, at_ratios, value
from eflops.analysis.scorecard.order import judge_order
from eflops.analysis.scorecard.verdict import Judgement, Verdict

EXPERIMENTS = ("support_recovery",)
OTHERS = ["fediht", "fedavg"]
METRIC = "support_recovery"


def judge(evidence: Evidence) -> Judgement:
    """Better than both wherever the paper has it in bold; elsewhere the paper's method must be first on average."""
    best = evidence.paper.best
    runs = at_ratios(evidence.runs("support_recovery", ["eflops", *OTHERS], METRIC), list(best))
    claimed = runs[runs["ratio"].isin([ratio for ratio, method in best.items() if method == "eflops"])]
    tests = paired_tests(claimed, METRIC, "eflops", OTHERS, ["draw", "seed"], "N/d and method", by=["ratio"])
    values = [
        value(f"{evidence.label(method)} at {ratio:.2f}", group, METRIC)
        for (ratio, method), group in runs.groupby(["ratio", "method"])
    ]
    judged = judge_order(tests, values, lambda test: f"{evidence.label(test['other'])} at {test['ratio']:.2f}")
    first = runs.groupby(["ratio", "method"])[METRIC].mean().unstack("method").idxmax(axis=1)
    changed = [ratio for ratio, method in best.items() if method != "eflops" and first[ratio] != method]
    if not changed:
        return judged
    told = ", ".join(f"{evidence.label(first[ratio])} is first at {ratio:.2f}" for ratio in changed)
    verdict = Verdict.DIRECTION if judged.verdict == Verdict.REPRODUCED else judged.verdict
    return Judgement(verdict, judged.values, f"{judged.reason[:-1]}; but {told}, where the paper has another.")
