"""The rule by hand examples: what makes a number reproduced, direction only or not reproduced."""

import pytest

from eflops.analysis.scorecard.genes import share_of
from eflops.analysis.scorecard.verdict import Value, Verdict, against, in_spreads, judge_number, tolerance


def test_tolerance_is_two_standard_deviations_but_not_less_than_the_floor() -> None:
    assert tolerance(0.082, 0.06) == pytest.approx(0.164)
    assert tolerance(0.016, 0.06) == 0.06
    assert tolerance(None, 0.2) == 0.2


@pytest.mark.parametrize(
    ("difference", "contrary", "diverged", "verdict"),
    [
        (0.06, "wrong order", 0, Verdict.REPRODUCED),
        (-0.06, "", 0, Verdict.REPRODUCED),
        (0.061, "", 0, Verdict.DIRECTION),
        (-0.2, "wrong order", 0, Verdict.FAILED),
        (0.0, "", 1, Verdict.DIRECTION),
        (0.0, "wrong order", 1, Verdict.FAILED),
    ],
)
def test_a_number_is_judged_by_size_then_order_and_never_reproduced_with_a_diverged_run(
    difference: float, contrary: str, diverged: int, verdict: Verdict
) -> None:
    ours = Value("ours", 0.5, 0.1, 30, diverged)
    assert judge_number(ours, difference, 0.06, contrary).verdict == verdict


def test_order_is_the_papers_when_every_other_method_is_on_the_same_side() -> None:
    printed = {"a": 0.6, "b": 0.5, "c": 0.5, "d": 0.9}
    assert against("a", printed, {"a": 0.3, "b": 0.2, "d": 0.4}) == ""
    assert against("b", printed, {"b": 0.1, "c": 0.3, "a": 0.4}) == "", "a tie in the paper allows either side"
    assert "b" in against("a", printed, {"a": 0.3, "b": 0.3}), "a tie of ours is not the paper's order"
    assert against("a", printed, {"a": 0.3}) != "", "an order of one shows nothing"


def test_spreads_combine_as_variances() -> None:
    assert in_spreads(-0.5, 0.3, 0.4) == pytest.approx(-1.0)
    assert in_spreads(0.5, 0.0, None) is None


def test_a_gene_counts_by_its_most_selected_probe_and_a_second_probe_by_the_next() -> None:
    shares = {"interleukin 8": [0.4, 0.1], "glycophorin B": [0.5], "azurocidin 1": [0.3]}
    aliases = {"glycoprotein B": "glycophorin B"}
    printed = (
        "interleukin 8",
        "interleukin 8 (second probe)",
        "glycoprotein B",
        "azurocidin 1 (second probe)",
        "other",
    )
    assert [share_of(gene, shares, aliases) for gene in printed] == [0.4, 0.1, 0.5, 0.0, 0.0]
