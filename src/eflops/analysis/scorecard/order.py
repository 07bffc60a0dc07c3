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
    lost = tests[~(tests["difference"] > 0)]
    chance = tests[~(tests["p_holm"] < ALPHA)]
    diverged = tests[tests["missing"] > 0]
    if len(lost):
        reason = f"Not better in {len(lost)} of {len(tests)} comparisons: {_names(lost, name, 'difference')}."
        return Judgement(Verdict.FAILED, tuple(values), reason)
    if len(chance):
        reason = f"Better on average everywhere, but within chance: {_names(chance, name, 'p_holm')}."
        return Judgement(Verdict.DIRECTION, tuple(values), reason)
    if len(diverged):
        reason = f"Better everywhere, but with diverged runs: {_names(diverged, name, 'missing')}."
        return Judgement(Verdict.DIRECTION, tuple(values), reason)
    largest = max(float(tests["p_holm"].max()), 1e-16)
    reason = f"Better in each of {len(tests)} comparisons, with Holm-adjusted p <= {largest:.1g}."
    return Judgement(Verdict.REPRODUCED, tuple(values), reason)


def _names(tests: pd.DataFrame, name: Callable[[pd.Series], str], detail: str) -> str:
    """The comparisons by name, each with the number that speaks against it."""
    form = {"difference": "{:+.3g}", "p_holm": "Holm p {:.2g}", "missing": "{:.0f} pairs"}[detail]
    return ", ".join(f"{name(test)} ({_number(test[detail], form)})" for _, test in tests.iterrows())


def _number(number: float, form: str) -> str:
    """A number in its form; there is none where runs are lacking, or where equal differences leave nothing to test."""
    return "undefined" if math.isnan(number) else form.format(number)
