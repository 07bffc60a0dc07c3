"""E-FLoPS reduces multiply-accumulate operations more than Fed-IHT: in the final network, paired over run seeds."""

from eflops.analysis.paired import paired_tests
from eflops.analysis.scorecard.evidence import Evidence, value
from eflops.analysis.scorecard.order import judge_order
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("mnist",)
METHODS = ["eflops", "fediht"]
LEAST_RUNS = 10


def judge(evidence: Evidence) -> Judgement:
    """The share of the dense network's operations that is removed; a diverged run removes nothing that counts."""
    runs = evidence.runs("mnist", METHODS, "macs", LEAST_RUNS)
    removed = (1 - runs["macs"] / runs["dense_macs"]).where(runs["status"] == "finished")
    runs = runs.assign(removed=removed)
    tests = paired_tests(runs, "removed", "eflops", ["fediht"], ["draw", "seed"], "MNIST")
    values = [
        value(f"{evidence.label(method)}, share removed", runs[runs["method"] == method], "removed")
        for method in METHODS
    ]
    return judge_order(tests, values, lambda test: evidence.label(test["other"]))
