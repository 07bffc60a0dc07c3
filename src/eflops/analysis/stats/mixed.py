"""The mean of differences measured in every cell of settings x draws, with both as random effects.

    d_sj = mu + a_s + b_j + e_sj        settings s = 1..S, draws j = 1..J, one difference each

The question concerns other settings and draws than those measured, so a_s and b_j are random. In the balanced case the
mean's variance has a closed form in the mean squares of the two-way analysis of variance:

    Var(mean) = (MS_settings + MS_draws - MS_residual) / (S J)

with Satterthwaite's degrees of freedom. A negative estimate of a component is set to 0, as REML does: its mean square
is then at least that of the residual.

Splits of the same samples overlap, so their effects vary less than with new samples: `overlap`, test samples per
training sample, adds overlap * Var(b) to the variance (Nadeau and Bengio 2003, as in `stats.paired`).
"""

import math
from dataclasses import dataclass

import numpy as np

from eflops.analysis.stats.summary import LEVEL, t_quantile, t_tail


@dataclass(frozen=True)
class MeanEffect:
    """The mean difference with its 95 % interval and its test against 0; the standard deviation of each random effect.

    settings, draws: the number of each. Interval and test are NaN with fewer than two of either.
    """

    mean: float
    low: float
    high: float
    error: float
    df: float
    p: float
    sd_settings: float
    sd_draws: float
    sd_residual: float
    settings: int
    draws: int


def two_way(differences: np.ndarray, overlap: float = 0.0) -> MeanEffect:
    """The mean of a complete table of differences.

    Args:
        differences: [settings, draws], without NaN.
        overlap: test samples per training sample if draws are overlapping splits, else 0.

    Example: `two_way(np.array([[0.1, 0.2], [0.3, 0.2]])).mean` is 0.2.
    """
    settings, draws = differences.shape
    # The variance between settings, or between draws, cannot be estimated from one of them.
    if settings < 2 or draws < 2:
        mean = float(differences.mean()) if differences.size else math.nan
        none = math.nan
        return MeanEffect(mean, none, none, none, none, none, none, none, none, settings, draws)
    mean = float(differences.mean())
    rows, columns = differences.mean(axis=1), differences.mean(axis=0)
    residual = differences - rows[:, None] - columns[None, :] + mean
    # With one difference in each cell, the interaction of setting and draw cannot be told from noise: both are the
    # residual.
    df_rows, df_columns, df_residual = settings - 1, draws - 1, (settings - 1) * (draws - 1)
    ms_residual = float((residual**2).sum()) / df_residual
    ms_rows = max(draws * float(((rows - mean) ** 2).sum()) / df_rows, ms_residual)
    ms_columns = max(settings * float(((columns - mean) ** 2).sum()) / df_columns, ms_residual)
    # Each mean square with its weight in the variance; those of a component that is 0 cancel and are left out.
    # Var(b) is estimated by (MS_draws - MS_residual) / settings, hence overlap / settings.
    share, by_draw = 1 / (settings * draws), 1 / (settings * draws) + overlap / settings
    of_rows, of_columns = (ms > ms_residual for ms in (ms_rows, ms_columns))
    terms = [
        (share * of_rows * ms_rows, df_rows),
        (by_draw * of_columns * ms_columns, df_columns),
        ((share * (1 - of_rows) - by_draw * of_columns) * ms_residual, df_residual),
    ]
    variance = sum(size for size, _ in terms)
    doubt = sum(size**2 / df for size, df in terms)
    # With a term that is taken away the formula may fall below what settings or draws alone would give.
    df = max(variance**2 / doubt if doubt else 0.0, min(df_rows, df_columns))
    error = math.sqrt(variance)
    half = t_quantile((1 + LEVEL) / 2, df) * error
    return MeanEffect(
        mean=mean,
        low=mean - half,
        high=mean + half,
        error=error,
        df=df,
        # Without any spread a mean other than 0 is certain, and a mean of 0 is no evidence.
        p=2 * t_tail(abs(mean) / error, df) if error else float(mean == 0),
        # The expected mean square of settings is draws * Var(a) + Var(e), and likewise for draws.
        sd_settings=math.sqrt((ms_rows - ms_residual) / draws),
        sd_draws=math.sqrt((ms_columns - ms_residual) / settings),
        sd_residual=math.sqrt(ms_residual),
        settings=settings,
        draws=draws,
    )
