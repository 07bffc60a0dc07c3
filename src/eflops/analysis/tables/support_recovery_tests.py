"""Paired tests of support recovery: E-FLoPS against every other method at each N/d."""

from eflops.analysis.comparisons import comparison_table
from eflops.analysis.paired import paired_tests
from eflops.analysis.source import Source
from eflops.analysis.summary import seeds_and_draws
from eflops.analysis.table import Table

REFERENCE = "eflops"


def make(source: Source) -> Table:
    """One row a ratio and other method."""
    return make_for(source, "support_recovery", "support recovery")


def make_for(source: Source, metric: str, words: str) -> Table:
    """The tests of a metric of Table 1's runs, paired over run seeds."""
    runs = source.runs("support_recovery")
    others = [method for method in source.order(runs["method"]) if method != REFERENCE]
    family = f"all comparisons of {words} in this table"
    tests = paired_tests(runs, metric, REFERENCE, others, ["draw", "seed"], family, by=["ratio"])
    title = f"Paired tests of {words} over N/d"
    pairs = f"Pairs share the data draw and the run seed: {seeds_and_draws(runs)}."
    return comparison_table(tests, {"ratio": "N/d"}, source, title, pairs)
