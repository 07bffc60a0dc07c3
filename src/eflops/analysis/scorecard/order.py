"""Judging an order of methods: one is claimed to be better than others, at every place that a claim names."""

import math
from collections.abc import Callable, Iterable

import pandas as pd

from eflops.analysis.scorecard.verdict import ALPHA, Judgement, Value, Verdict


def judge_order(tests: pd.DataFrame, values: Iterable[Value], name: Callable[[pd.Series], str]) -> Judgement:
    """The rule for claims of an order.

    tests: one row a comparison, as paired.paired_tests gives them, with positive differences where the claim holds.
    name: what a comparison is called in the reason, e.g. "Fed-IHT at N/d 0.64".
    """
    count = f"{len(tests)} comparisons" if len(tests) > 1 else "the one comparison"
    lost = tests[~(tests["difference"] > 0)]
    chance = tests[~(tests["p_holm"] < ALPHA)]
    diverged = tests[tests["missing"] > 0]
    if len(lost):
        return Judgement(
            Verdict.FAILED, tuple(values), f"Not better in {len(lost)} of {count}: {_names(lost, name, 'difference')}."
        )
    if len(chance):
        reason = f"Better on average in all of {count}, but within chance against {_names(chance, name, 'p_holm')}."
        return Judgement(Verdict.DIRECTION, tuple(values), reason)
    if len(diverged):
        reason = f"Better in {count}, but with diverged runs against {_names(diverged, name, 'missing')}."
        return Judgement(Verdict.DIRECTION, tuple(values), reason)
    largest = max(float(tests["p_holm"].max()), 1e-16)
    return Judgement(Verdict.REPRODUCED, tuple(values), f"Better in {count}, with Holm-adjusted p <= {largest:.1g}.")


def _names(tests: pd.DataFrame, name: Callable[[pd.Series], str], detail: str) -> str:
    """The comparisons by name, each with the number that speaks against it."""
    form = {"difference": "{:+.3g}", "p_holm": "Holm p {:.2g}", "missing": "{:.0f} pairs"}[detail]
    return ", ".join(f"{name(test)} ({_number(test[detail], form)})" for _, test in tests.iterrows())


def _number(number: float, form: str) -> str:
    """A number in its form; there is none where runs are lacking, or where equal differences leave nothing to test."""
    return "undefined" if math.isnan(number) else form.format(number)
