"""Paired comparisons agree with scipy, statsmodels and sums done by hand, and refuse what is not paired."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from eflops.analysis.stats.paired import compare, holm, paired_tests
from eflops.errors import UserError


def runs_of(values: dict[str, list[float]], **constant: object) -> pd.DataFrame:
    """One row per method and seed."""
    rows = [
        {"method": method, "seed": seed, "r2": value, **constant}
        for method, column in values.items()
        for seed, value in enumerate(column)
    ]
    return pd.DataFrame(rows)


def random_runs(seed: int = 0, n: int = 12) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    shared = generator.normal(size=n)
    shifts = {"a": 0.5, "b": 0.2, "c": 0.0}
    return runs_of({name: (shared + generator.normal(shift, 0.3, n)).tolist() for name, shift in shifts.items()})


def test_a_comparison_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, sd 1, so t = 2 / (1 / sqrt 3) = 3.4641 on 2 degrees of freedom and d_z = 2.
    row = compare(pd.Series([2.0, 4.0, 6.0]), pd.Series([1.0, 2.0, 3.0]))
    assert row["difference"] == 2
    assert row["t"] == pytest.approx(3.4641016)
    assert row["df"] == 2
    assert row["d_z"] == pytest.approx(2)
    # With 2 degrees of freedom p = 1 - t / sqrt(t^2 + 2), and the interval's half width is 4.30265 / sqrt 3.
    assert row["p"] == pytest.approx(1 - 3.4641016 / math.sqrt(14))
    assert (row["low"], row["high"]) == pytest.approx((2 - 2.484138, 2 + 2.484138), abs=1e-5)
    # All three ranks are on one side: W = 0, and 2 of the 8 sign patterns are as extreme.
    assert (row["wilcoxon"], row["p_wilcoxon"]) == (0, pytest.approx(0.25))


def test_the_columns_agree_with_scipy() -> None:
    runs = random_runs()
    table = paired_tests(runs, "r2", "a", ["b", "c"], ["seed"], "two comparisons").set_index("other")
    wide = runs.pivot(index="seed", columns="method", values="r2")
    for other in "bc":
        expected = stats.ttest_rel(wide["a"], wide[other])
        low, high = expected.confidence_interval(0.95)
        row = table.loc[other]
        assert (row["t"], row["p"], row["low"], row["high"]) == pytest.approx(
            (expected.statistic, expected.pvalue, low, high)
        )
        assert row["p_wilcoxon"] == pytest.approx(stats.wilcoxon(wide["a"], wide[other]).pvalue)
        assert row["difference"] == pytest.approx(row["mean_reference"] - row["mean_other"])


def test_holm_agrees_with_statsmodels() -> None:
    for seed in range(20):
        p = np.random.default_rng(seed).uniform(0, 0.2, size=9)
        np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])


def test_holm_by_hand() -> None:
    # Sorted: .01 x 3 = .03, .02 x 2 = .04, .03 x 1 = .03 but never below its predecessor.
    np.testing.assert_allclose(holm(np.array([0.03, 0.01, 0.02])), [0.04, 0.03, 0.04])
    np.testing.assert_allclose(holm(np.array([0.6, 0.7])), [1.0, 1.0])


def test_a_test_that_could_not_be_made_still_counts_in_its_family() -> None:
    np.testing.assert_allclose(holm(np.array([0.01, math.nan, 0.04])), [0.03, math.nan, 0.08])


def test_the_family_spans_all_groups_and_says_its_name() -> None:
    runs = pd.concat([random_runs(seed).assign(ratio=ratio) for seed, ratio in enumerate((0.24, 0.64))])
    table = paired_tests(runs, "r2", "a", ["b", "c"], ["seed"], "every ratio", by=["ratio"])
    assert table["ratio"].tolist() == [0.24, 0.24, 0.64, 0.64]
    assert set(table["family"]) == {"every ratio"}
    assert set(table["tests"]) == {4}
    np.testing.assert_allclose(table["p_holm"], multipletests(table["p"], method="holm")[1])


def test_pairs_are_matched_by_seed_and_not_by_order() -> None:
    runs = random_runs()
    shuffled = runs.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(*(paired_tests(each, "r2", "a", ["b"], ["seed"], "f") for each in (runs, shuffled)))


def test_a_diverged_run_is_a_missing_value_and_is_counted() -> None:
    runs = random_runs()
    whole = paired_tests(runs[~runs["seed"].isin([2, 5])], "r2", "a", ["b"], ["seed"], "f").iloc[0]
    runs.loc[(runs["method"] == "a") & (runs["seed"] == 2), "r2"] = math.nan
    runs.loc[(runs["method"] == "b") & (runs["seed"] == 5), "r2"] = math.nan
    row = paired_tests(runs, "r2", "a", ["b"], ["seed"], "f").iloc[0]
    assert (row["pairs"], row["missing"], row["n"], row["df"]) == (12, 2, 10, 9)
    assert (row["t"], row["mean_reference"], row["mean_other"]) == (
        whole["t"],
        whole["mean_reference"],
        whole["mean_other"],
    )


def test_a_run_that_is_not_there_is_refused() -> None:
    runs = random_runs()
    lacking = runs[~((runs["method"] == "b") & (runs["seed"] == 7))]
    with pytest.raises(UserError, match="b lacks 1 of 12 pairs, seed 7 the first"):
        paired_tests(lacking, "r2", "a", ["b"], ["seed"], "f")
    with pytest.raises(UserError, match="d lacks 12 of 12 pairs"):
        paired_tests(runs, "r2", "a", ["d"], ["seed"], "f")


def test_a_pair_that_is_there_twice_is_refused() -> None:
    runs = pd.concat([random_runs().assign(draw=0), random_runs(1).assign(draw=1)])
    with pytest.raises(UserError, match="twice"):
        paired_tests(runs, "r2", "a", ["b"], ["seed"], "f")
    assert paired_tests(runs, "r2", "a", ["b"], ["draw", "seed"], "f")["n"].item() == 24


def test_equal_columns_show_no_difference() -> None:
    row = compare(pd.Series([0.1, 0.2, 0.3]), pd.Series([0.1, 0.2, 0.3]))
    assert (row["t"], row["p"], row["d_z"], row["p_wilcoxon"]) == (0, 1, 0, 1)
    assert (row["low"], row["high"]) == (0, 0)


def test_a_constant_difference_cannot_be_tested_for_lack_of_spread() -> None:
    # .3 - .2 and .2 - .1 differ in their last bits: that is no spread.
    row = compare(pd.Series([0.3, 0.2, 0.4]), pd.Series([0.2, 0.1, 0.3]))
    assert all(math.isnan(row[key]) for key in ("t", "p", "d_z", "low", "high"))
    assert row["difference"] == pytest.approx(0.1)
    assert row["p_wilcoxon"] == 0.25


@pytest.mark.parametrize("left", [0, 1])
def test_fewer_than_two_pairs_are_not_tested(left: int) -> None:
    values = [0.5] * left + [math.nan] * (3 - left)
    row = compare(pd.Series(values), pd.Series([0.1, 0.2, 0.3]))
    assert row["n"] == left
    assert all(math.isnan(row[key]) for key in ("low", "high", "t", "p", "d_z"))


def test_overlapping_splits_have_the_corrected_resampled_test() -> None:
    # Differences 1, 2, 3: mean 2, sd 1; Nadeau and Bengio's variance is 1/3 + 15/57.
    row = compare(pd.Series([2.0, 4.0, 6.0]), pd.Series([1.0, 2.0, 3.0]), overlap=15 / 57)
    error = math.sqrt(1 / 3 + 15 / 57)
    assert row["t"] == pytest.approx(2 / error)
    assert row["p"] == pytest.approx(2 * stats.t.sf(2 / error, 2))
    assert row["high"] - row["difference"] == pytest.approx(stats.t.ppf(0.975, 2) * error)
