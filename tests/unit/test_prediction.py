"""The interval for one further draw covers as often as it says, and agrees with statsmodels and sums by hand."""

import numpy as np
import pytest
import statsmodels.api as sm

from eflops.analysis.stats.prediction import Noise, beta_binomial_interval, outside, prediction_intervals, within


def study(generator: np.random.Generator, draws: int, seeds: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Values [draws + 1, seeds, columns] whose draw effects are shared by the columns in part, and the effects."""
    shared, own = generator.normal(0, 0.04, (draws + 1, 1, 1)), generator.normal(0, 0.03, (draws + 1, 1, columns))
    effects = 0.5 + shared + own
    return effects + generator.normal(0, 0.03, (draws + 1, seeds, columns)), effects[:, 0]


def test_one_seed_of_one_column_is_the_prediction_interval_of_statsmodels() -> None:
    values = np.random.default_rng(1).normal(size=12)
    (found,) = prediction_intervals(values[:, None, None], [Noise(0.0, 1)])
    frame = sm.OLS(values, np.ones(12)).fit().get_prediction([1.0]).summary_frame(alpha=0.05)
    assert found.mean - found.half == pytest.approx(frame["obs_ci_lower"][0])
    assert found.mean + found.half == pytest.approx(frame["obs_ci_upper"][0])


def test_an_example_by_hand() -> None:
    # Draw means 1, 2, 3 of two seeds that are .2 apart: S^2 = 1 with 2 degrees of freedom, w = .02 with 3.
    values = np.array([[0.9, 1.1], [1.9, 2.1], [2.9, 3.1]])[:, :, None]
    (found,) = prediction_intervals(values, [Noise(0.3, 29)])
    # s^2 = 1 - .02/2 = .99, so .99 (1 + 1/3) + .02 / (2 x 3) + .3 = 1.62333.
    assert found.error**2 == pytest.approx(1.62333, abs=1e-5)
    terms = (4 / 3) ** 2 / 2 + (0.01 * 4 / 3) ** 2 / 3 + (0.02 / 6) ** 2 / 3 + 0.3**2 / 29
    assert found.df == pytest.approx(1.62333**2 / terms, rel=1e-4)
    assert found.t(4.0) == pytest.approx(2.0 / np.sqrt(1.62333), rel=1e-5)


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
        found = prediction_intervals(values[:-1], [Noise(0.03**2 / 30, 29)] * 4)
        inside += [abs(number - each.mean) <= each.half for number, each in zip(paper, found, strict=True)]
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
