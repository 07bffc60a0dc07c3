"""The rule by hand examples, with scipy and statsmodels beside it."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from eflops.analysis.paper import Paper
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence, Missing
from eflops.analysis.scorecard.line import combine_verdicts, estimate
from eflops.analysis.scorecard.table2 import most_selected, our_name, similarity
from eflops.analysis.scorecard.verdict import (
    Comparison,
    Judgement,
    Rationale,
    Value,
    Verdict,
    judge_comparisons,
    judge_number,
)
from eflops.analysis.source import Source


@pytest.mark.parametrize(
    ("paper", "low", "high", "verdict"),
    [
        (0.5, 0.40, 0.60, Verdict.AGREES),
        (0.6, 0.40, 0.60, Verdict.AGREES),
        (0.61, 0.40, 0.60, Verdict.DIFFERS),
        (0.5, 0.30, 0.70, Verdict.INCONCLUSIVE),
        (0.9, 0.30, 0.70, Verdict.DIFFERS),
    ],
)
def test_a_number_is_inside_outside_or_too_uncertain(paper: float, low: float, high: float, verdict: Verdict) -> None:
    assert judge_number(paper, Value("ours", 0.5, low, high, 20, "draws"), 0.3) == verdict


def test_a_number_of_which_every_run_diverged_differs() -> None:
    assert judge_number(0.5, Value("ours", None, None, None, 20, "draws", 60), 0.3) == Verdict.DIFFERS


def over(values: list[float], **bounds: Any) -> Comparison:
    return Comparison("it", pd.Series(values, index=[f"draw {draw}" for draw in range(len(values))]), **bounds)


def test_a_comparison_agrees_with_scipy() -> None:
    values = [0.03, 0.05, 0.01, 0.04, 0.02, 0.06]
    comparison = over(values, above=0.0, margin=0.05)
    expected = stats.ttest_1samp(values, 0.05)
    low, high = expected.confidence_interval(0.95)
    assert comparison.interval == pytest.approx((low, high))
    assert comparison.against == pytest.approx(expected.pvalue)
    assert over(values, above=0.0).against == 1.0


def test_overlapping_splits_have_the_corrected_error() -> None:
    # Differences 1, 2, 3: sd 1; sqrt(1/3 + 1/4) in place of sqrt(1/3).
    assert over([1.0, 2.0, 3.0], overlap=0.25).error == pytest.approx(np.sqrt(7 / 12))


def test_a_claim_holds_everywhere_or_is_contradicted_somewhere() -> None:
    clear, doubtful = [0.1, 0.11, 0.12, 0.1, 0.11, 0.12], [0.1, -0.1, 0.2, -0.2, 0.15, -0.05]
    against = [-value for value in clear]
    assert judge_comparisons([over(clear, above=0.0)] * 2) == (Verdict.AGREES, "")
    assert judge_comparisons([over(clear, above=0.0), over(doubtful, above=0.0)]) == (Verdict.INCONCLUSIVE, "")
    assert judge_comparisons([over(clear, above=0.0), over(against, above=0.0)]) == (Verdict.DIFFERS, "")
    assert judge_comparisons([over(clear, above=-0.2, below=0.2)]) == (Verdict.AGREES, "")


def test_a_contradiction_is_adjusted_for_all_comparisons_of_the_claim() -> None:
    values = [-0.09, -0.02, -0.05, -0.01, -0.06, 0.0]
    alone = over(values, above=0.0)
    beside = over([0.1, 0.11, 0.12, 0.1, 0.11, 0.12], above=0.0)
    adjusted = multipletests([alone.against, *[1.0] * 4], method="holm")[1][0]
    assert alone.against < 0.05 < adjusted
    assert judge_comparisons([alone, *[beside] * 4])[0] == Verdict.INCONCLUSIVE


def test_a_verdict_that_one_draw_turns_cannot_be_told() -> None:
    # Without the fourth draw, which is far out, the interval would lie above 0.
    verdict, turning = judge_comparisons([over([0.02, 0.03, 0.025, 0.02, 0.03, 0.025, 0.0249], above=0.024)])
    assert (verdict, turning) == (Verdict.INCONCLUSIVE, "")
    steady = [0.02, 0.021, 0.022, 0.02, 0.021]
    assert judge_comparisons([over(steady, above=0.0)]) == (Verdict.AGREES, "")
    values = pd.Series([0.001, *steady])
    low = stats.ttest_1samp(values, 0.0).confidence_interval().low
    bound = (low + stats.ttest_1samp(values[:-1], 0.0).confidence_interval().low) / 2
    assert judge_comparisons([over(values.tolist(), above=bound)]) == (Verdict.INCONCLUSIVE, "draw 1")


def test_a_gene_of_the_paper_by_our_name() -> None:
    aliases = {"glycoprotein B": "glycophorin B"}
    assert our_name("glycoprotein B", aliases) == "glycophorin B"
    assert our_name("glycoprotein B (second probe)", aliases) == "glycophorin B (second probe)"
    assert our_name("interleukin 8", aliases) == "interleukin 8"


def test_a_list_has_seven_genes_at_most_and_none_that_was_never_selected() -> None:
    shares = dict(zip("abcdefghi", [0.1, 0.9, 0.0, 0.5, 0.4, 0.3, 0.8, 0.7, 0.6], strict=True))
    assert most_selected(shares) == ["b", "g", "h", "i", "d", "e", "f"]
    assert most_selected({"a": 0.0, "b": 0.2}) == ["b"]


def test_the_interval_of_a_share_ends_at_0_and_1_and_the_verdict_stays() -> None:
    values = [1.0, 1.0, 1.0, 0.8]
    assert over(values).interval[1] > 1
    assert over(values, share=True).interval == (over(values).interval[0], 1.0)
    wide = Value("ours", 0.9, 0.74, 1.06, 20, "draws")
    number = estimate(0.8, wide, 0.3, "", most=1.0)
    assert (number.verdict, number.value.low, number.value.high) == (Verdict.INCONCLUSIVE, 0.74, 1.0)
    assert number.words == "The paper's number is inside 0.740 to 1.000"


def test_the_value_at_nearest_settings_has_a_name_of_its_own() -> None:
    value = Value("FedAvg", 0.5, 0.4, 0.6, 20, "draws")
    searched, nearest = estimate(0.7, value, 0.3, ""), estimate(0.5, value, 0.3, "")
    judgement = combine_verdicts(searched, nearest)
    assert judgement.verdict == Verdict.NEAREST
    assert [each.name for each in judgement.values] == ["FedAvg", "FedAvg, nearest settings"]


def test_a_comparison_needs_two_units_with_a_value() -> None:
    with pytest.raises(Missing, match="needs two units with a finished run and has 1"):
        over([0.1, np.nan])


def test_similarity_by_hand() -> None:
    # {a, b} and {b, c} share one of three; {x} shares none.
    assert similarity([["a", "b"], ["b", "c"], ["x"]]) == pytest.approx([1 / 6, 1 / 6, 0])


def _ground(*values: float, beside: tuple[Comparison, ...] = (), **limits: Any) -> Rationale:
    """The ground of a claim with one comparison over draws, and those beside it."""
    series = pd.Series(values, index=[f"draw {draw}" for draw in range(len(values))])
    comparison = Comparison("accuracy", series, **limits)
    runs = pd.DataFrame({"method": ["eflops"], "status": ["finished"]})
    (ground,) = claimed.judge([comparison, *beside], "accuracy", "draws", runs).grounds
    return ground


def test_the_summary_explains_a_verdict_that_the_interval_alone_does_not_show() -> None:
    behind = _ground(-0.01, 0.01, 0.0, 0.004, above=0.0, margin=0.05)
    assert behind.verdict == Verdict.DIFFERS
    assert behind.figure.endswith(" (clearly below the margin of 0.05), over 4 draws")
    clear = _ground(-0.1, -0.11, -0.12, -0.1, above=0.0, margin=0.05)
    assert clear.verdict == Verdict.DIFFERS
    assert "margin" not in clear.figure
    fine = Comparison("accuracy", pd.Series([0.0, 0.01, 0.02, 0.01]), below=0.1)
    adjusted = _ground(0.11, 0.13, 0.12, 0.15, below=0.1, beside=(fine, fine))
    assert adjusted.verdict == Verdict.INCONCLUSIVE
    assert "(limit 0.1), over 4 draws; Holm's adjustment for 3 comparisons leaves" in adjusted.figure


def test_the_summary_is_told_which_comparison_decides_and_why() -> None:
    held = _ground(0.1, 0.12, 0.11, 0.13, above=0.0, statement="its lead is {}", measure="lead", because="it is so")
    assert (held.verdict, held.because) == (Verdict.AGREES, "")
    assert held.figure == "its lead is +0.115 (+0.094 to +0.136), over 4 draws"
    assert held.effect == "lead: +0.115 (+0.094 to +0.136)"
    wide = _ground(-0.2, 0.2, 0.1, 0.1, above=0.0, because="it is so")
    assert (wide.verdict, wide.because) == (Verdict.INCONCLUSIVE, "it is so")
    against = _ground(0.2, 0.2, 0.2, 0.2, below=0.1)
    assert against.verdict == Verdict.DIFFERS
    assert against.figure == "accuracy: 0.200 (limit 0.1), over 4 draws"
    turns = _ground(0.1, 0.2, 0.1, 0.2, above=0.0)
    assert turns.verdict == Verdict.INCONCLUSIVE
    assert turns.figure.endswith("the verdict would be different")


def test_a_claim_about_the_baseline_has_a_ground_for_each_algorithm(paper: Paper) -> None:
    evidence = Evidence(Source(Path()), frozenset(), paper)

    def against(baseline: str) -> Judgement:
        ground = Rationale(Verdict.AGREES if baseline == "fediht" else Verdict.DIFFERS, "", "", 0, 1)
        return Judgement(ground.verdict, (), "", (ground,))

    judgement = claimed.under_both_names(evidence, against)
    assert judgement.verdict == Verdict.INCONCLUSIVE
    assert [(ground.against, ground.verdict) for ground in judgement.grounds] == [
        (evidence.label("fediht"), Verdict.AGREES),
        (evidence.label("fediterht"), Verdict.DIFFERS),
    ]
