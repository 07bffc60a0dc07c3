"""E-FLoPS and Fed-IHT have similar test accuracy at 97.5 % sparsity.

Similar: their means are at most one point apart. Direction only: E-FLoPS is better by more, or behind by at most two
points. Two networks that have learnt nothing are similar too, so both must get more than half of the images right.
"""

from eflops.analysis.paired import paired_tests
from eflops.analysis.scorecard.evidence import Evidence, value
from eflops.analysis.scorecard.verdict import Judgement, Verdict

EXPERIMENTS = ("mnist",)
METHODS = ["eflops", "fediht"]
SIMILAR, NEAR, LEARNT = 0.01, 0.02, 0.5
LEAST_RUNS = 10


def judge(evidence: Evidence) -> Judgement:
    """Final accuracies, paired over run seeds for the interval."""
    runs = evidence.runs("mnist", METHODS, "accuracy", LEAST_RUNS)
    values = tuple(value(evidence.label(method), runs[runs["method"] == method], "accuracy") for method in METHODS)
    test = paired_tests(runs, "accuracy", "eflops", ["fediht"], ["draw", "seed"], "MNIST").iloc[0]
    difference = float(test["difference"])
    told = f"The difference is {difference:+.4f}, 95 % interval {test['low']:+.4f} to {test['high']:+.4f}"
    if not min(each.mean or 0.0 for each in values) > LEARNT:
        return Judgement(Verdict.FAILED, values, f"{told}, but a network learnt too little to compare.")
    if abs(difference) <= SIMILAR and not any(each.diverged for each in values):
        return Judgement(Verdict.REPRODUCED, values, f"{told}.")
    if difference >= -NEAR:
        return Judgement(Verdict.DIRECTION, values, f"{told}: not within one point with every run finished.")
    return Judgement(Verdict.FAILED, values, f"{told}.")
