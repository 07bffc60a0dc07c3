"""E-FLoPS beats Fed-IHT and FedAvg over 30 run seeds at one split; the size of t is judged as a number of its own."""

from eflops.analysis.paired import paired_tests
from eflops.analysis.scorecard.evidence import Evidence, value
from eflops.analysis.scorecard.order import judge_order
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("golub_runs",)
OTHERS = ["fediht", "fedavg"]


def judge(evidence: Evidence, experiment: str = "golub_runs") -> Judgement:
    """Final test accuracy, paired over runs, Holm over the two comparisons."""
    runs = evidence.runs(experiment, ["eflops", *OTHERS], "accuracy")
    tests = paired_tests(runs, "accuracy", "eflops", OTHERS, ["draw", "seed"], experiment)
    values = [
        value(evidence.label(method), runs[runs["method"] == method], "accuracy") for method in ["eflops", *OTHERS]
    ]
    return judge_order(tests, values, lambda test: evidence.label(test["other"]))
