"""Each kind of heterogeneity has the statistics it promises, and a seed of its own."""

import re

import numpy as np
import pytest

from eflops.data.federation import Block
from eflops.data.heterogeneity import affine_shift, dirichlet_counts, dirichlet_labels, shortage
from eflops.errors import UserError

FEATURES = 20_000


def blocks(clients: int) -> list[Block]:
    """Two rows per client, zeros and ones: the first shows the offset, the difference of the two the scale."""
    x = np.stack([np.zeros(FEATURES), np.ones(FEATURES)]).astype(np.float32)
    return [Block(x, np.array([0.0, 1.0], np.float32)) for _ in range(clients)]


def scales_and_offsets(shifted: tuple[Block, ...]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.stack([block.x[0] for block in shifted])
    return np.stack([block.x[1] for block in shifted]) - offsets, offsets


def test_the_shift_has_the_asked_mean_and_deviation() -> None:
    scales, offsets = scales_and_offsets(affine_shift(blocks(3), scale_sd=0.7, offset_sd=0.2, seed=1))
    # Standard error of a mean over 20000 features is below .005, of a standard deviation below .004.
    np.testing.assert_allclose(scales.mean(axis=1), 1.0, atol=0.025)
    np.testing.assert_allclose(scales.std(axis=1), 0.7, atol=0.02)
    np.testing.assert_allclose(offsets.mean(axis=1), 0.0, atol=0.01)
    np.testing.assert_allclose(offsets.std(axis=1), 0.2, atol=0.006)


def test_shifts_of_clients_and_of_scale_and_offset_are_unrelated() -> None:
    scales, offsets = scales_and_offsets(affine_shift(blocks(3), 1.0, 1.0, seed=1))
    correlations = np.corrcoef(np.concatenate([scales, offsets])) - np.eye(6)
    assert np.abs(correlations).max() < 0.04


def test_no_shift_changes_nothing() -> None:
    for before, after in zip(blocks(2), affine_shift(blocks(2), 0.0, 0.0, seed=1), strict=True):
        np.testing.assert_array_equal(before.x, after.x, strict=True)


def test_the_shift_leaves_y_and_the_given_blocks_alone() -> None:
    given = blocks(2)
    shifted = affine_shift(given, 1.0, 1.0, seed=1)
    np.testing.assert_array_equal(shifted[0].y, given[0].y)
    assert given[0].x[0].sum() == 0


def test_a_larger_scale_is_the_same_shift_stronger_and_leaves_the_offset() -> None:
    small, offset = scales_and_offsets(affine_shift(blocks(2), 0.1, 0.5, seed=4))
    large, same_offset = scales_and_offsets(affine_shift(blocks(2), 0.2, 0.5, seed=4))
    np.testing.assert_allclose(2 * (small - 1), large - 1, atol=1e-5)
    np.testing.assert_array_equal(offset, same_offset)


def test_counts_add_up_and_respect_the_minimum() -> None:
    for seed in range(200):
        counts = dirichlet_counts(240, 10, 1.0, 16, seed)
        assert counts.sum() == 240
        assert counts.min() >= 16


def test_counts_have_the_variance_of_the_dirichlet() -> None:
    clients, concentration = 10, 2.0
    shares = np.array([dirichlet_counts(10**6, clients, concentration, 0, s) for s in range(2000)]) / 10**6
    mean = 1 / clients
    variance = mean * (1 - mean) / (clients * concentration + 1)
    np.testing.assert_allclose(shares.mean(axis=0), mean, atol=5 * np.sqrt(variance / 2000))
    np.testing.assert_allclose(shares.var(), variance, rtol=0.1)


def test_a_minimum_that_does_not_bind_changes_nothing() -> None:
    free = dirichlet_counts(1000, 5, 5.0, 0, seed=3)
    np.testing.assert_array_equal(dirichlet_counts(1000, 5, 5.0, int(free.min()) - 1, seed=3), free)


def test_twice_the_rows_are_the_same_split_twice_as_large() -> None:
    counts = dirichlet_counts(1000, 10, 1.0, 0, seed=2)
    assert np.abs(dirichlet_counts(2000, 10, 1.0, 0, seed=2) - 2 * counts).max() <= 2


def test_a_minimum_that_takes_every_row_makes_equal_counts() -> None:
    assert dirichlet_counts(20, 4, 0.1, 5, seed=0).tolist() == [5, 5, 5, 5]


def test_no_concentration_means_equal_counts() -> None:
    assert sorted(dirichlet_counts(23, 4, None, 2, seed=0).tolist()) == [5, 6, 6, 6]


def label_shares(concentration: float, seed: int) -> np.ndarray:
    """Share of each class that each client holds: [clients, classes]."""
    labels = np.repeat(np.arange(4), 1000)
    parts = dirichlet_labels(labels, 5, concentration, 0, seed)
    return np.array([np.bincount(labels[part], minlength=4) for part in parts]) / 1000


def test_label_skew_is_an_exact_partition() -> None:
    labels = np.random.default_rng(0).integers(0, 10, size=1184)
    for concentration in (0.05, 1.0, 100.0):
        parts = dirichlet_labels(labels, 10, concentration, 16, seed=5)
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(1184))
        assert min(map(len, parts)) >= 16
        assert all((np.diff(part) > 0).all() for part in parts)


def test_label_skew_has_the_variance_of_the_dirichlet_in_each_class() -> None:
    shares = np.array([label_shares(1.0, seed) for seed in range(400)])
    np.testing.assert_allclose(shares.mean(axis=0), 0.2, atol=0.05)
    np.testing.assert_allclose(shares.var(axis=0).mean(), 0.2 * 0.8 / 6, rtol=0.1)


def test_classes_are_skewed_independently() -> None:
    shares = np.array([label_shares(1.0, seed)[0] for seed in range(400)])
    assert np.abs(np.corrcoef(shares.T) - np.eye(4)).max() < 0.2


def test_a_large_concentration_spreads_labels_evenly() -> None:
    np.testing.assert_allclose(label_shares(1e6, seed=0), 0.2, atol=0.005)


def test_which_rows_a_client_gets_is_random_within_a_class() -> None:
    first = dirichlet_labels(np.zeros(1000, dtype=int), 2, 100.0, 0, seed=0)[0]
    assert abs(first.mean() - 500) < 60


def test_impossible_minimum_is_refused_with_a_number_that_would_do() -> None:
    with pytest.raises(
        UserError, match=r"at least 30 rows each need 300 rows, but there are 240: lower min_rows to 24 "
    ):
        dirichlet_counts(240, 10, 1.0, 30, seed=0)
    with pytest.raises(UserError, match="there are 3: use at most 3 clients"):
        dirichlet_counts(3, 10, 1.0, 1, seed=0)
    with pytest.raises(UserError, match="lower min_rows to 2 or less"):
        dirichlet_labels(np.zeros(10, dtype=int), 4, 1.0, 3, seed=0)


@pytest.mark.parametrize(("rows", "minimum"), [(1184, 10), (1184, 1), (640, 700), (60_000, 2)])
def test_the_numbers_that_the_refusal_of_60000_clients_names_work(rows: int, minimum: int) -> None:
    advice = shortage(rows, 60_000, minimum).partition(f"there are {rows}: ")[2]
    assert advice
    for option in advice.split(", or "):
        least = re.search(r"lower min_rows to (\d+)", option)
        most = re.search(r"use at most (\d+) clients", option)
        clients, needed = int(most[1]) if most else 60_000, int(least[1]) if least else minimum
        assert dirichlet_counts(rows, clients, 1.0, needed, seed=0).min() >= needed


@pytest.mark.parametrize("seed", [0, 1])
def test_same_seed_same_numbers_other_seed_others(seed: int) -> None:
    labels = np.repeat(np.arange(3), 50)
    counts = dirichlet_counts(500, 5, 1.0, 1, seed)
    np.testing.assert_array_equal(counts, dirichlet_counts(500, 5, 1.0, 1, seed))
    assert (counts != dirichlet_counts(500, 5, 1.0, 1, seed + 1)).any()
    again = dirichlet_labels(labels, 3, 1.0, 1, seed)
    for left, right in zip(dirichlet_labels(labels, 3, 1.0, 1, seed), again, strict=True):
        np.testing.assert_array_equal(left, right)
