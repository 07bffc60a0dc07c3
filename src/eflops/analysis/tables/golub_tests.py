"""Paired tests on the leukaemia data: E-FLoPS against every other method, over run seeds and over splits."""

import pandas as pd

from eflops.analysis.comparisons import NOTE, comparison_table
from eflops.analysis.golub_experiments import OVER
from eflops.analysis.paired import paired_tests
from eflops.analysis.source import Source
from eflops.analysis.table import Table

REFERENCE = "eflops"
METRICS = {"accuracy": "accuracy", "cross_entropy": "cross-entropy"}
TITLE = "Paired tests on the leukaemia data"
PAIRS = (
    "Pairs share the split and the run seed; over run seeds all share one split, over splits one run seed. A higher "
    "accuracy is better, and a lower cross-entropy."
)


def make(source: Source) -> Table:
    """One row a metric, an experiment and another method; each metric and experiment is a family of its own."""
    tests = pd.concat([_tests(source, name, metric) for metric in METRICS for name in OVER], ignore_index=True)
    printed = tests.assign(metric=tests["metric"].map(METRICS), experiment=tests["experiment"].map(OVER))
    shown = comparison_table(printed, {"metric": "metric", "experiment": "over"}, source, TITLE, PAIRS).shown
    note = NOTE.format(reference=source.labels[REFERENCE], family="the rows of one metric and one kind of runs")
    return Table(tests, shown, TITLE, f"{note} {PAIRS}")


def _tests(source: Source, experiment: str, metric: str) -> pd.DataFrame:
    runs = source.runs(experiment)
    others = [method for method in source.order(runs["method"]) if method != REFERENCE]
    family = f"the comparisons of {METRICS[metric]} over {OVER[experiment]}"
    return paired_tests(runs, metric, REFERENCE, others, ["draw", "seed"], family, by=["experiment"])
