"""Paired tests on MNIST: E-FLoPS against every other method, over run seeds."""

import pandas as pd

from eflops.analysis import costs
from eflops.analysis.comparisons import comparison_table
from eflops.analysis.paired import paired_tests
from eflops.analysis.source import Source
from eflops.analysis.table import Table

REFERENCE = "eflops"
METRICS = {"accuracy": "accuracy", "macs_removed": "share of operations removed"}


def make(source: Source) -> Table:
    """One row a metric and another method; each metric is a family of its own."""
    runs = costs.with_costs(source.runs("mnist"))
    runs["macs_removed"] = runs["macs_removed"].where(runs["status"] == "finished")
    others = [method for method in source.order(runs["method"]) if method != REFERENCE]
    tests = pd.concat(
        [
            paired_tests(runs, metric, REFERENCE, others, ["draw", "seed"], f"the comparisons of {words}")
            for metric, words in METRICS.items()
        ],
        ignore_index=True,
    )
    printed = tests.assign(metric=tests["metric"].map(METRICS))
    note = "Pairs share the run seed, of one data draw. For both, more is better."
    table = comparison_table(printed, {"metric": "metric"}, source, "Paired tests on MNIST", note)
    return Table(tests, table.shown, table.title, table.note)
