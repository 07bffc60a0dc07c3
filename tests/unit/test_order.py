"""The sentence on whether the order of methods holds elsewhere."""

import pandas as pd
import pytest

from eflops.analysis.stats.order import order_sentence, tau

SEARCHED = pd.Series({"eflops": 0.95, "fedavg": 0.93, "fediht": 0.90, "flops": 0.80})


@pytest.mark.parametrize(
    ("means", "value"),
    [([0.9, 0.8, 0.7, 0.6], 1.0), ([0.6, 0.7, 0.8, 0.9], -1.0), ([0.8, 0.9, 0.7, 0.6], 2 / 3), ([0.5] * 4, 0.0)],
)
def test_tau_is_one_for_the_same_order_and_minus_one_for_the_reverse(means: list[float], value: float) -> None:
    assert tau(SEARCHED, pd.Series(means, index=SEARCHED.index)) == pytest.approx(value)


def test_the_sentence_says_whether_the_order_holds_and_how_often_e_flops_is_first() -> None:
    reverse = pd.Series([0.6, 0.7, 0.8, 0.9], index=SEARCHED.index)
    line = order_sentence(SEARCHED, {"ALL": SEARCHED, "bladder": reverse}, "eflops")
    assert "the order of methods by accuracy does not hold" in line
    assert "is 1.00 on ALL, -1.00 on bladder; E-FLoPS is first on 1 of 2." in line
    assert "by accuracy holds: " in order_sentence(SEARCHED, {"ALL": SEARCHED}, "eflops")
