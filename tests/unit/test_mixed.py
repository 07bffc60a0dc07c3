"""The mean of differences over settings and draws: its closed form against another library, and its coverage."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from eflops.analysis.stats.mixed import two_way


def study(
    generator: np.random.Generator, settings: int, draws: int, sds: tuple[float, float, float], mean: float
) -> np.ndarray:
    """A table of differences with a planted mean and planted spreads of settings, draws and the rest."""
    a, b, e = sds
    table = mean + a * generator.normal(size=(settings, 1)) + b * generator.normal(size=(1, draws))
    return table + e * generator.normal(size=(settings, draws))


def test_mean_and_standard_error_are_those_of_a_mixed_model_fitted_by_reml() -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM

    table = study(np.random.default_rng(3), 12, 8, (0.05, 0.03, 0.02), 0.01)
    rows = pd.DataFrame(
        [(s, j, value) for (s, j), value in np.ndenumerate(table)], columns=["setting", "draw", "difference"]
    ).assign(one=1)
    crossed = {"setting": "0 + C(setting)", "draw": "0 + C(draw)"}
    model = MixedLM.from_formula("difference ~ 1", rows, groups="one", re_formula="0", vc_formula=crossed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.fit(reml=True)
    effect = two_way(table)
    assert effect.mean == pytest.approx(fit.fe_params["Intercept"], abs=1e-9)
    assert effect.error == pytest.approx(fit.bse_fe["Intercept"], rel=1e-3)
    by_name = dict(zip(model.exog_vc.names, fit.vcomp, strict=True))
    assert effect.sd_settings**2 == pytest.approx(by_name["setting"], rel=2e-2)
    assert effect.sd_draws**2 == pytest.approx(by_name["draw"], rel=2e-2)
    assert effect.sd_residual**2 == pytest.approx(fit.scale, rel=1e-3)


def test_without_effects_of_draws_it_is_the_t_test_over_settings() -> None:
    generator = np.random.default_rng(0)
    table = np.repeat(generator.normal(size=(9, 1)), 4, axis=1)
    effect, means = two_way(table), table.mean(axis=1)
    assert effect.error == pytest.approx(means.std(ddof=1) / 3)
    assert effect.df == pytest.approx(8)


def test_overlapping_splits_widen_the_interval_by_the_draws_part_alone() -> None:
    generator = np.random.default_rng(1)
    by_draw = np.repeat(generator.normal(size=(1, 6)), 10, axis=0)
    plain, corrected = two_way(by_draw), two_way(by_draw, overlap=0.5)
    assert corrected.error == pytest.approx(plain.error * math.sqrt(1 + 6 * 0.5))
    by_setting = np.repeat(generator.normal(size=(10, 1)), 6, axis=1)
    assert two_way(by_setting, overlap=0.5) == two_way(by_setting)


def test_one_draw_has_a_mean_and_no_interval() -> None:
    effect = two_way(np.array([[0.1], [0.3]]))
    assert effect.mean == pytest.approx(0.2)
    assert math.isnan(effect.low)
    assert math.isnan(effect.p)


@pytest.mark.slow
@pytest.mark.parametrize("sds", [(0.05, 0.03, 0.02), (0.05, 0.0, 0.05), (0.0, 0.03, 0.02), (0.0, 0.0, 0.05)])
def test_the_interval_covers_a_planted_effect_as_often_as_it_says(sds: tuple[float, float, float]) -> None:
    """200 small studies: with a true coverage of .95 the count has a standard deviation of 3."""
    generator = np.random.default_rng(7)
    effects = [two_way(study(generator, 16, 8, sds, 0.02)) for _ in range(200)]
    covered = sum(effect.low <= 0.02 <= effect.high for effect in effects)
    assert 180 <= covered <= 199
