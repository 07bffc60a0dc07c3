"""The interval for one more draw covers as often as it says, and agrees with statsmodels and sums by hand."""

import numpy as np
import pytest
import statsmodels.api as sm

from eflops.analysis.stats.prediction import (
    Noise,
    PredictionInterval,
    beta_binomial_interval,
    joint_test,
    outside,
    prediction_intervals,
    within,
)


def study(generator: np.random.Generator, draws: int, seeds: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Values [draws + 1, seeds, columns] whose draw effects are shared by the columns in part, and the effects."""
    shared, by_column = generator.normal(0, 0.04, (draws + 1, 1, 1)), generator.normal(0, 0.03, (draws + 1, 1, columns))
    effects = 0.5 + shared + by_column
    return effects + generator.normal(0, 0.03, (draws + 1, seeds, columns)), effects[:, 0]


def test_one_seed_of_one_column_is_the_prediction_interval_of_statsmodels() -> None:
    values = np.random.default_rng(1).normal(size=12)
    (interval,) = prediction_intervals(values[:, None, None], [Noise(0.0, 1)])
    frame = sm.OLS(values, np.ones(12)).fit().get_prediction([1.0]).summary_frame(alpha=0.05)
    assert interval.mean - interval.half == pytest.approx(frame["obs_ci_lower"][0])
    assert interval.mean + interval.half == pytest.approx(frame["obs_ci_upper"][0])


def test_an_example_by_hand() -> None:
    # Draw means 1, 2, 3 of two seeds that are .2 apart: S^2 = 1 with 2 degrees of freedom, w = .02 with 3.
    values = np.array([[0.9, 1.1], [1.9, 2.1], [2.9, 3.1]])[:, :, None]
    (interval,) = prediction_intervals(values, [Noise(0.3, 29)])
    # s^2 = 1 - .02/2 = .99, so .99 (1 + 1/3) + .02 / (2 x 3) + .3 = 1.62333.
    assert interval.error**2 == pytest.approx(1.62333, abs=1e-5)
    terms = (4 / 3) ** 2 / 2 + (0.01 * 4 / 3) ** 2 / 3 + (0.02 / 6) ** 2 / 3 + 0.3**2 / 29
    assert interval.df == pytest.approx(1.62333**2 / terms, rel=1e-4)
    assert interval.t(4.0) == pytest.approx(2.0 / np.sqrt(1.62333), rel=1e-5)


def test_columns_that_move_together_are_one_and_columns_apart_add_up() -> None:
    generator = np.random.default_rng(2)
    one = generator.normal(size=(15, 1, 1))
    same = prediction_intervals(np.repeat(one, 3, axis=2), [Noise(0.0, 1)] * 3)[0]
    assert same.df == pytest.approx(14)
    apart = prediction_intervals(generator.normal(size=(400, 1, 3)), [Noise(0.0, 1)] * 3)[0]
    assert apart.df == pytest.approx(3 * 399, rel=0.05)


def test_the_interval_covers_a_further_draw_as_often_as_it_says() -> None:
    generator = np.random.default_rng(3)
    inside = []
    for _ in range(400):
        values, effects = study(generator, 10, 3, 4)
        paper = effects[-1] + generator.normal(0, 0.03 / np.sqrt(30), 4)
        intervals = prediction_intervals(values[:-1], [Noise(0.03**2 / 30, 29)] * 4)
        inside += [abs(number - each.mean) <= each.half for number, each in zip(paper, intervals, strict=True)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.025)


def test_our_own_draws_judged_by_each_other_are_outside_as_often_as_chance_says() -> None:
    generator = np.random.default_rng(4)
    missed = [outside(study(generator, 15, 3, 4)[0]).mean() for _ in range(40)]
    assert np.mean(missed) == pytest.approx(0.05, abs=0.025)


def test_a_diverged_run_is_left_out_and_a_draw_without_a_run_does_not_count() -> None:
    values = study(np.random.default_rng(5), 9, 3, 2)[0]
    values[0, 0, 0] = np.nan
    values[1, :, 0] = np.nan
    first, second = prediction_intervals(values, [Noise(0.0, 1)] * 2)
    assert (first.units, second.units) == (9, 10)
    assert first.mean == pytest.approx(np.mean([np.nanmean(row) for row in np.delete(values[:, :, 0], 1, axis=0)]))


def test_the_variance_within_draws_is_pooled() -> None:
    assert within(np.array([[1.0, 3.0], [5.0, 5.0]])) == (pytest.approx(1.0), 2)


def test_a_share_that_is_the_same_at_every_split_has_the_binomial_interval() -> None:
    chosen = np.tile([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], (30, 1))
    share = beta_binomial_interval(chosen, 30)
    assert share.mean == 0.5
    assert (share.low, share.high) == pytest.approx((10 / 30, 20 / 30), abs=0.035)


def test_a_gene_that_the_split_decides_may_have_any_share() -> None:
    chosen = np.repeat((np.arange(30) % 2)[:, None], 10, axis=1).astype(float)
    share = beta_binomial_interval(chosen, 30)
    assert (share.low, share.high) == (0.0, 1.0)


def test_a_gene_that_was_never_selected_has_hardly_a_share() -> None:
    share = beta_binomial_interval(np.zeros((30, 10)), 30)
    assert share.low == share.mean == 0
    assert share.high < 0.1


def test_the_interval_of_a_share_covers_a_further_split() -> None:
    generator = np.random.default_rng(6)
    inside = []
    for _ in range(400):
        p = generator.beta(3, 2, 31)
        chosen = (generator.random((30, 10)) < p[:30, None]).astype(float)
        share = beta_binomial_interval(chosen, 30)
        inside.append(share.low <= generator.binomial(30, p[30]) / 30 <= share.high)
    assert 0.92 <= np.mean(inside) <= 0.99


def test_a_column_is_judged_jointly_as_the_prediction_of_a_regression_would() -> None:
    """Of one number Hotelling's test is the t-test for one more unit; of several, F of a regression on a mark."""
    generator = np.random.default_rng(4)
    units = generator.normal(size=(20, 1))
    (alone,) = prediction_intervals(units[:, None, :], [Noise(0.0, 1)])
    test = joint_test(units, np.array([2.5]))
    assert (test.f, test.df) == (pytest.approx(alone.t(2.5) ** 2), (1, 19))
    several = generator.normal(size=(20, 3)) @ np.array([[1, 0.8, 0.3], [0, 0.5, 0.2], [0, 0, 0.1]])
    other = np.array([0.5, -1.0, 0.2])
    # The multivariate regression of all 21 vectors on a mark of the last: its Hotelling-Lawley test is this one.
    mark = np.append(np.zeros(20), 1.0)
    fit = sm.multivariate.MultivariateLS(np.vstack([several, other]), sm.add_constant(mark)).fit()
    row = fit.mv_test([("x1", np.array([[0.0, 1.0]]), np.eye(3))]).results["x1"]["stat"].loc["Hotelling-Lawley trace"]
    test = joint_test(several, other)
    assert test.f == pytest.approx(float(row["F Value"]))
    assert test.p == pytest.approx(float(row["Pr > F"]))


def test_a_column_may_differ_where_each_of_its_numbers_agrees() -> None:
    generator = np.random.default_rng(0)
    together = generator.normal(size=(20, 1)) + 0.1 * generator.normal(size=(20, 2))
    other = np.array([0.8, -0.8])
    intervals = prediction_intervals(together[:, None, :], [Noise(0.0, 1)] * 2)
    assert all(abs(each.t(number)) < 2 for each, number in zip(intervals, other, strict=True))
    assert joint_test(together, other).p < 1e-6
    with pytest.raises(ValueError, match="3 complete units; 4 are needed"):
        joint_test(together[:3], other)


def test_a_number_that_never_varies_takes_no_part_in_the_joint_test() -> None:
    units, other = np.random.default_rng(9).normal(size=(20, 2)), np.array([1.0, -0.5, 0.98])
    test = joint_test(np.column_stack([units, np.ones(20)]), other)
    assert (test.f, test.df) == (pytest.approx(joint_test(units, other[:2]).f), (2, 18))
    with pytest.raises(ValueError, match="no differences"):
        joint_test(np.ones((20, 2)), np.ones(2))


@pytest.mark.slow
def test_a_further_draw_is_rejected_as_often_as_the_level_says() -> None:
    generator = np.random.default_rng(8)
    mixing = generator.normal(size=(7, 7))
    rejected = sum(
        joint_test((all_ := generator.normal(size=(21, 7)) @ mixing)[:20], all_[20]).p < 0.05 for _ in range(2000)
    )
    assert 70 <= rejected <= 130


def test_the_power_of_an_interval_is_how_often_a_shifted_number_falls_outside() -> None:
    interval = PredictionInterval(mean=0.5, error=0.05, df=20.0, units=21)
    assert interval.power(0.0) == pytest.approx(0.05)
    generator = np.random.default_rng(1)
    # t of a shifted normal over an independent estimate of its error.
    t = (0.1 / 0.05 + generator.normal(size=200_000)) / np.sqrt(generator.chisquare(20, 200_000) / 20)
    assert interval.power(0.1) == pytest.approx(np.mean(np.abs(t) * 0.05 > interval.half), abs=5e-3)


def test_the_power_of_the_joint_test_is_how_often_a_shifted_draw_is_rejected() -> None:
    generator = np.random.default_rng(3)
    mixing = np.array([[1, 0.8, 0.3], [0, 0.5, 0.2], [0, 0, 0.4]])
    for shift in (0.0, 0.8, 2.0):
        draws = (generator.normal(size=(21, 3)) @ mixing for _ in range(800))
        tests = [joint_test(each[:20], each[20] + shift) for each in draws]
        rejected = np.mean([test.p < 0.05 for test in tests])
        # The length of the shift is estimated without bias; the power, which is a curve of it, nearly so.
        assert np.mean([test.power(shift) for test in tests]) == pytest.approx(rejected, abs=0.08)
