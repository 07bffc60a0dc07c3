"""Stability of selections: examples by hand, and what the measures must be in cases that are known beforehand."""

import math

import numpy as np
import pytest

from eflops.analysis.stats.genes import mean_jaccard, nogueira, selection

# Features 0..3; p = [1, 2/3, 1/3, 0], so that s^2 = [0, 1/3, 1/3, 0], their mean is 1/6, and k/d (1 - k/d) is 1/4.
THREE_SETS = [[0, 1], [0, 2], [1, 0]]


def test_jaccard_by_hand() -> None:
    assert mean_jaccard(THREE_SETS) == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)


def test_nogueira_by_hand() -> None:
    index = nogueira(selection(THREE_SETS, 4))
    assert index.value == pytest.approx(1 - (1 / 6) / (1 / 4))
    # The published variance, run by run: phi = 1, 2/3, 1, so v = 4/9 (1/81 + 4/81 + 1/81) = 24/729.
    half = 1.959964 * math.sqrt(24 / 729)
    assert (index.low, index.high) == pytest.approx((1 / 3 - half, 1 / 3 + half))


def test_equal_sets_are_perfectly_stable_whatever_their_size() -> None:
    for size in (1, 5, 9):
        sets = [list(range(size))] * 4
        index = nogueira(selection(sets, 10))
        assert (index.value, index.low, index.high) == pytest.approx((1, 1, 1))
        assert mean_jaccard(sets) == 1


def test_sets_drawn_by_chance_have_an_index_around_zero() -> None:
    generator = np.random.default_rng(0)
    sets = [generator.choice(500, 7, replace=False).tolist() for _ in range(200)]
    index = nogueira(selection(sets, 500))
    assert index.low < 0 < index.high
    assert abs(index.value) < 0.01


def test_for_sets_of_one_size_the_index_is_the_mean_consistency_of_pairs() -> None:
    # Kuncheva's consistency of two sets of k out of d features that share r: (r d - k^2) / (k (d - k)).
    generator = np.random.default_rng(1)
    d, k = 30, 6
    sets = [frozenset(generator.choice(12, k, replace=False).tolist()) for _ in range(9)]
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i]]
    consistency = np.mean([(len(a & b) * d - k**2) / (k * (d - k)) for a, b in pairs])
    assert nogueira(selection(map(sorted, sets), d)).value == pytest.approx(consistency)


def test_the_interval_is_as_wide_as_the_jackknife_says() -> None:
    generator = np.random.default_rng(2)
    selected = (generator.random((300, 40)) < np.linspace(0.02, 0.7, 40)).astype(float)
    index = nogueira(selected)
    left_out = [nogueira(np.delete(selected, run, axis=0)).value for run in range(300)]
    jackknife = math.sqrt(299 / 300 * ((np.array(left_out) - np.mean(left_out)) ** 2).sum())
    assert (index.high - index.low) / 2 == pytest.approx(1.959964 * jackknife, rel=0.02)


def test_too_few_sets_or_none_selected_have_no_index() -> None:
    for selected in (selection([[1]], 4), selection([], 4), selection([[], []], 4), selection([[0, 1]] * 2, 2)):
        assert math.isnan(nogueira(selected).value)
    assert math.isnan(mean_jaccard([[1]]))
    assert mean_jaccard([[], []]) == 1


def test_a_feature_named_twice_counts_once() -> None:
    assert selection([[2, 2, 0]], 4).tolist() == [[1, 0, 1, 0]]
