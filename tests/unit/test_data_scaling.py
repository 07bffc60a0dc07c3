"""Scaling: what is standardised, what of the test samples may not leak into it, and a logarithm of fixed bits."""

import math

import numpy as np
import pytest

from eflops.data.scaling import Scaling, logarithm, varying
from eflops.errors import UserError

VALUES = np.random.default_rng(0).lognormal(6, 1, (60, 40))
TRAIN = np.arange(50)
ALL_WAYS = [Scaling(way, log) for way in ("whole", "per_array", "per_gene") for log in (False, True)]


@pytest.mark.parametrize(("way", "axis"), [("whole", None), ("per_array", 1), ("per_gene", 0)])
@pytest.mark.parametrize("log", [False, True])
def test_the_training_rows_are_standardised(way: str, axis: int | None, log: bool) -> None:
    x = Scaling(way, log).fitted(VALUES[TRAIN]).apply(VALUES)[TRAIN].astype(np.float64)
    np.testing.assert_allclose(x.mean(axis=axis), 0, atol=1e-5)
    np.testing.assert_allclose(x.std(axis=axis), 1, atol=1e-5)


@pytest.mark.parametrize("scaling", ALL_WAYS)
def test_test_samples_do_not_influence_how_training_samples_are_scaled(scaling: Scaling) -> None:
    changed = VALUES.copy()
    changed[50:] = 16000
    first, second = (scaling.fitted(values[TRAIN]).apply(values)[TRAIN] for values in (VALUES, changed))
    np.testing.assert_array_equal(first, second)


def test_a_gene_that_is_constant_in_training_becomes_zero_although_its_mean_is_rounded() -> None:
    values = np.array([[100.0, 200.0], [100.0, 300.0], [100.0, 350.0], [900.0, 400.0]])
    assert Scaling("per_gene", log=True).fitted(values[:3]).apply(values)[:, 0].tolist() == [0, 0, 0, 0]


def test_values_are_cut_before_they_are_scaled() -> None:
    cut = Scaling("per_array", floor=100.0, ceiling=1000.0)
    np.testing.assert_array_equal(cut.apply(np.array([[1.0, 500.0, 9e9]])), cut.apply(np.array([[100.0, 500.0, 1e3]])))


def test_the_logarithm_is_right_to_the_last_bits() -> None:
    values = np.exp(np.random.default_rng(1).uniform(-30, 30, 10_000))
    right = np.array([math.log(value) for value in values])
    np.testing.assert_allclose(logarithm(values), right, rtol=1e-15, atol=4e-16)
    assert logarithm(np.array([1.0, 2.0])).tolist() == [0.0, math.log(2)]


def test_a_logarithm_of_zero_is_refused_with_the_remedy() -> None:
    with pytest.raises(UserError, match="give a floor, such as `floor: 1`"):
        Scaling("per_array", log=True).apply(np.array([[0.0, 1.0]]))


def test_the_filter_asks_for_more_than_the_fold_and_more_than_the_range() -> None:
    values = np.array([[100.0, 100.0, 100.0], [500.0, 501.0, 700.0]])
    assert varying(values, 5, None).tolist() == [False, True, True]
    assert varying(values, 5, 500).tolist() == [False, False, True]
    assert varying(values, None, None).all()
