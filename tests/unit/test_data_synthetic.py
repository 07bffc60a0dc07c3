"""The synthetic data have the covariance, sparsity and noise of the paper's generator."""

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import small_results
from eflops.config.load import check
from eflops.data.build import build as build_checked
from eflops.data.build import make, problems
from eflops.data.federation import Federation, load
from eflops.data.synthetic import build, coefficients, correlated_rows, write_test_features
from eflops.errors import UserError

PAPER: dict[str, Any] = {
    "kind": "synthetic",
    "features": 1000,
    "density": 0.05,
    "correlation": 0.2,
    "snr": 20.0,
    "test_rows": 5000,
    "clients": 10,
    "count_concentration": 1.0,
    "min_rows": 16,
    "shift_scale": 0.0,
    "shift_offset": 0.0,
}


@pytest.fixture(scope="module")
def federation() -> Federation:
    return build(PAPER, 2.0, seed=1)


def test_sizes_and_types_are_those_of_the_paper(federation: Federation) -> None:
    assert federation.counts.sum() == 2000
    assert federation.counts.min() >= 16
    assert len(federation.clients) == 10
    assert federation.test.x.shape == (5000, 1000)
    assert federation.test.x.dtype == federation.test.y.dtype == np.float32
    assert federation.meta["task"] == "regression"


def test_covariance_is_toeplitz() -> None:
    x = correlated_rows(200_000, 6, 0.2, np.random.default_rng(0))
    expected = 0.2 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    np.testing.assert_allclose(np.cov(x.T), expected, atol=0.02)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.012)


def test_the_last_features_are_correlated_like_the_first(federation: Federation) -> None:
    x = federation.test.x
    np.testing.assert_allclose(x.var(axis=0), 1, atol=0.1)
    neighbours = (x[:, 1:] * x[:, :-1]).mean(axis=0)
    np.testing.assert_allclose([neighbours[:500].mean(), neighbours[500:].mean()], 0.2, atol=0.005)


def test_the_truth_is_fifty_signs_at_sorted_places(federation: Federation) -> None:
    support, w = federation.truth["support"], federation.truth["coefficients"]
    assert len(support) == 50
    assert (np.diff(support) > 0).all()
    np.testing.assert_array_equal(np.flatnonzero(w), support)
    assert set(w[support]) == {-1.0, 1.0}


def test_support_and_signs_are_uniform() -> None:
    draws = np.array([coefficients(20, 0.25, seed) for seed in range(4000)])
    np.testing.assert_allclose((draws != 0).mean(axis=0), 0.25, atol=0.03)
    assert abs(draws.sum()) < 5 * np.sqrt(5 * 4000)


@pytest.mark.parametrize(("features", "density", "m"), [(1000, 0.05, 50), (100, 0.29, 29), (100, 0.058, 5)])
def test_the_support_has_floor_of_density_times_d_entries(features: int, density: float, m: int) -> None:
    assert np.count_nonzero(coefficients(features, density, seed=0)) == m


def test_noise_follows_the_snr_formula_on_training_and_test_rows(federation: Federation) -> None:
    whole = federation.pooled().clients[0]
    signal = whole.x @ federation.truth["coefficients"]
    sigma = np.linalg.norm(signal) / (np.sqrt(20.0) * np.sqrt(2000))
    assert federation.meta["sigma"] == pytest.approx(sigma, rel=1e-5)
    assert (whole.y - signal).std() == pytest.approx(sigma, rel=0.08)
    test_noise = federation.test.y - federation.test.x @ federation.truth["coefficients"]
    assert test_noise.std() == pytest.approx(sigma, rel=0.05)


def test_smaller_ratios_are_the_first_rows_of_larger_ones(federation: Federation) -> None:
    small = build(PAPER, 0.24, seed=1)
    assert small.counts.sum() == 240
    np.testing.assert_array_equal(small.truth["coefficients"], federation.truth["coefficients"])
    np.testing.assert_array_equal(small.test.x, federation.test.x)
    np.testing.assert_array_equal(small.pooled().clients[0].x, federation.pooled().clients[0].x[:240])


def test_another_seed_is_another_problem(federation: Federation) -> None:
    other = build({**PAPER, "test_rows": 1}, 0.24, seed=2)
    assert (other.truth["coefficients"] != federation.truth["coefficients"]).any()
    assert other.clients[0].x[0, 0] != federation.clients[0].x[0, 0]


def test_clients_are_shifted_after_y_is_made_and_the_test_rows_are_not(federation: Federation) -> None:
    shifted = build({**PAPER, "shift_scale": 1.0, "shift_offset": 0.5}, 2.0, seed=1)
    np.testing.assert_array_equal(shifted.test.x, federation.test.x)
    for before, after in zip(federation.clients, shifted.clients, strict=True):
        np.testing.assert_array_equal(before.y, after.y)
        assert (before.x != after.x).mean() > 0.99


def test_a_missing_ratio_is_refused() -> None:
    with pytest.raises(UserError, match="needs a ratio N/d"):
        build(PAPER, None, seed=1)


SMALL = {**PAPER, "features": 40, "test_rows": 30, "clients": 3, "min_rows": 4, "density": 0.1, "shift_scale": 1.0}


def test_the_workflow_stores_test_features_once_for_all_ratios_and_makes_the_same_data(tmp_path: Path) -> None:
    shared = tmp_path / "test-draw2.npz"
    write_test_features(SMALL, shared)
    for ratio in ("nd0.60", "nd1.00"):
        make(SMALL, tmp_path / f"{ratio}-draw2", shared)
        whole = build(SMALL, float(ratio.removeprefix("nd")), seed=2)
        loaded = load(tmp_path / f"{ratio}-draw2")
        for left, right in zip((*loaded.clients, loaded.test), (*whole.clients, whole.test), strict=True):
            np.testing.assert_array_equal(left.x, right.x, strict=True)
            np.testing.assert_array_equal(left.y, right.y, strict=True)


@pytest.mark.parametrize(("ratio", "change"), [(1e12, {}), (1.0, {"test_rows": 10**12})])
def test_data_that_no_memory_holds_are_refused_before_they_are_made(ratio: float, change: dict[str, int]) -> None:
    with pytest.raises(UserError, match=r"GB of memory, and this machine has .* GB; lower ratios, features or test_ro"):
        build({**PAPER, **change}, ratio, seed=0)


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(UserError, match=r"not finite in client 0; lower the scales .* such as shift_scale"):
        build_checked({**SMALL, "shift_scale": 1e300}, 1.0, 0)


def test_eflops_check_names_the_experiment_whose_data_would_not_fit_into_memory() -> None:
    raw = {
        **small_results.CONFIG,
        "experiments": {"vast": {"dataset": "synthetic", "ratios": [0.64, 1e12], "methods": ["eflops"]}},
    }
    faults, _ = problems(check(raw))
    assert len(faults) == 1
    assert faults[0].startswith("vast: 6.4e+13 rows of 64 features take 8.19e+07 GB of memory, and this machine has")


def test_eflops_check_names_the_experiment_with_fewer_rows_than_its_clients_need() -> None:
    raw = copy.deepcopy(small_results.CONFIG)
    raw["datasets"]["synthetic"]["clients"] = 60_000
    raw["experiments"] = {"thin": {"dataset": "synthetic", "ratios": [2.0, 0.64], "methods": ["eflops"]}}
    (fault,) = problems(check(raw))[0]
    (most,) = re.findall(r"^thin: 60000 clients with .* but there are 41: use at most (\d+) clients\.$", fault)
    raw["datasets"]["synthetic"]["clients"] = int(most)
    config = check(raw)
    assert problems(config)[0] == []
    assert len(build_checked(config.datasets["synthetic"].model_dump(), 0.64, 0).clients) == int(most)
