"""The prediction interval for one more draw, which another study's number is compared with.

A unit is a data draw or a split of the samples; each unit has some run seeds. Another study is one more unit with its
own seeds, so its mean and the mean of our D units with K seeds differ by chance with the variance

    s^2 (1 + 1/D)  +  w / (K D)  +  its own seeds' noise

    w      variance of run seeds within a unit
    s^2    variance between units. The variance S^2 of units' means holds s^2 + w/K, so w/K is taken out: seed noise
           is counted once, in the second term. With one seed per unit, w is unknown and remains in S^2,
           which makes the interval conservative.

Columns (the methods of a row) share the units. S^2 and the subtracted w are pooled over columns, whose spreads are
similar and poorly estimated from few units; the second term is per column. Columns are correlated within a unit, so the
pool has fewer degrees of freedom than the sum over columns: (D - 1) (tr C)^2 / tr(C^2) for the covariance C of units'
means, which is D - 1 for one column. The degrees of freedom of the sum are Satterthwaite's.

The share of runs that select a gene has another interval. At each split the gene has a share, and the run seeds are a
sample. Over splits, the shares follow a beta distribution with our mean and the variance above; the other study's runs
are drawn at one such share. The result is the beta-binomial distribution. It stays within 0 and 1 and may have its mass
at both ends, as for a gene that the split alone decides.
"""

import math
from dataclasses import dataclass

import numpy as np

from eflops.analysis.stats.summary import LEVEL, t_quantile


@dataclass(frozen=True)
class PredictionInterval:
    """Our mean over units, and the distance that a further unit's number may have from it by chance."""

    mean: float
    error: float
    df: float
    units: int

    @property
    def half(self) -> float:
        """Half of the width of the interval."""
        return t_quantile((1 + LEVEL) / 2, self.df) * self.error if self.error else 0.0

    def power(self, shift: float) -> float:
        """The probability that a further unit's number with an expectation `shift` away falls outside (noncentral
        t)."""
        if not self.error:
            return 1.0
        from scipy.special import nctdtr

        # Two-sided: the number may fall outside on either side of the interval.
        limit, centre = t_quantile((1 + LEVEL) / 2, self.df), abs(shift) / self.error
        return float(nctdtr(self.df, centre, -limit) + 1 - nctdtr(self.df, centre, limit))

    def t(self, other: float) -> float:
        """The further unit's number minus ours, divided by the standard error."""
        return (other - self.mean) / self.error if self.error else math.copysign(math.inf, other - self.mean)


@dataclass(frozen=True)
class JointTest:
    """Hotelling's T2 of a vector of numbers, as F with its degrees of freedom and p; units: how many were used.

    length: the squared length of a shift by 1 in every number, in the metric of T2 without bias.
    """

    f: float
    df: tuple[int, int]
    p: float
    units: int
    length: float

    def power(self, shift: float, alpha: float = 1 - LEVEL) -> float:
        """How probably p is below alpha where every number's expectation is `shift` away: by noncentral F."""
        from scipy.special import fdtri, ncfdtr

        return float(1 - ncfdtr(*self.df, shift**2 * self.length, fdtri(*self.df, 1 - alpha)))


def joint_test(units: np.ndarray, other: np.ndarray) -> JointTest:
    """Whether a vector may be one more unit like ours, all of its numbers jointly.

        T2 = (other - mean)' S^-1 (other - mean) / (1 + 1/n),   F = T2 (n - p) / (p (n - 1))  ~  F(p, n - p)

    Numbers of one unit are dependent (the N/d of a draw share rows), so tests of single numbers cannot be combined;
    the covariance S of our units' vectors accounts for that. Our units have fewer seeds than the other study, so S
    is, if anything, too large.

    Args:
        units: [units, numbers], one vector per unit; rows with NaN are left out.
        other: [numbers], the further unit.

    Raises: ValueError, where there are too few complete units (at least two more than numbers are needed), or where
        no number varies.
    """
    # A covariance needs whole vectors: pairwise ones may not be positive definite.
    complete = units[np.isfinite(units).all(axis=1)]
    n, size = complete.shape
    if n < size + 2:
        raise ValueError(f"{n} complete units; {size + 2} are needed to judge {size} numbers jointly")
    away = other - complete.mean(axis=0)
    covariance = np.atleast_2d(np.cov(complete, rowvar=False))
    # By the pseudo-inverse, because numbers that never vary (a column of ones) leave the covariance singular. Such
    # numbers take no part, so the test counts the covariance's rank, not them.
    size = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if not size:
        raise ValueError("no differences between units")
    inverse = np.linalg.pinv(covariance, hermitian=True) / (1 + 1 / n)
    t2 = float(away @ inverse @ away)
    # The inverse of an estimated covariance is too large by (n - 1) / (n - size - 2) on average.
    length = max(float(inverse.sum()), 0.0) * max(n - size - 2, 0) / (n - 1)
    # T2 has the exact F distribution where the covariance is estimated from the same few units, unlike chi-square.
    f = t2 * (n - size) / (size * (n - 1))
    from scipy.special import fdtrc

    return JointTest(f, (size, n - size), float(fdtrc(size, n - size, f)), n, length)


@dataclass(frozen=True)
class Noise:
    """The variance of a further unit's mean over its own seeds, with its degrees of freedom."""

    variance: float
    df: float


@dataclass(frozen=True)
class _Parts:
    """Mean squares of values [units, seeds, columns]: between units' means (pooled), and within (by column)."""

    means: np.ndarray
    between: float
    between_df: float
    within: np.ndarray
    within_df: np.ndarray
    seeds: np.ndarray


def prediction_intervals(values: np.ndarray, noise: list[Noise]) -> list[PredictionInterval]:
    """One interval per column of values [units, seeds, columns]; NaN is a run without a number, such as a diverged one.

    Every column needs a number, and two units must have one in every column.
    """
    parts = _parts(values)
    units = np.isfinite(parts.means).sum(axis=0)
    return [_one(parts, column, int(units[column]), each) for column, each in enumerate(noise)]


def outside(values: np.ndarray) -> np.ndarray:
    """Whether each unit falls outside the interval from all others, [units, columns]."""
    parts = _parts(values)
    # By the units' own seeds: here the further unit has as many as each of ours.
    noise = [
        # At least one degree of freedom: with one seed per unit the variance is 0, and its term is left out.
        Noise(float(w / k), float(max(df, 1)))
        for w, k, df in zip(parts.within, parts.seeds, parts.within_df, strict=True)
    ]
    results = []
    for unit in range(len(values)):
        # Without the unit itself, as the paper's number has no part in the interval that it is compared with.
        others = prediction_intervals(np.delete(values, unit, axis=0), noise)
        results.append([abs(parts.means[unit, at] - each.mean) > each.half for at, each in enumerate(others)])
    return np.array(results)


def within(values: np.ndarray) -> tuple[float, int]:
    """The pooled variance of seeds within the units of values [units, seeds], and its degrees of freedom; 0 with 0."""
    groups = [row[np.isfinite(row)] for row in values]
    df = sum(max(len(group) - 1, 0) for group in groups)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in groups if len(group))
    return (squares / df if df else 0.0), df


def _one(parts: _Parts, column: int, units: int, noise: Noise) -> PredictionInterval:
    seeds, within_column = parts.seeds[column], parts.within[column]
    df = float(parts.within_df.sum())
    pooled = float(parts.within.mean()) if df else 0.0
    # An estimate may fall below 0 by chance; then units differ no more than their seeds make them differ.
    between = max(parts.between - pooled / seeds, 0.0)
    terms = [(within_column / (seeds * units), float(parts.within_df[column])), (noise.variance, noise.df)]
    if between:
        # Two terms, because Satterthwaite's formula needs independent mean squares: a subtracted one adds to the doubt
        # too.
        terms += [(parts.between * (1 + 1 / units), parts.between_df), (-pooled / seeds * (1 + 1 / units), df)]
    variance = sum(size for size, _ in terms)
    doubt = sum(size**2 / known for size, known in terms if size)
    return PredictionInterval(
        float(np.nanmean(parts.means[:, column])), math.sqrt(variance), variance**2 / doubt if doubt else 1.0, units
    )


def _parts(values: np.ndarray) -> _Parts:
    counts = np.isfinite(values).sum(axis=1)
    known = np.where(np.isfinite(values), values, 0.0)
    means = np.divide(known.sum(axis=1), counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    squares = np.where(np.isfinite(values), (values - means[:, None]) ** 2, 0.0).sum(axis=(0, 1))
    # A unit without any number has no mean to lose a degree of freedom to.
    within_df = np.maximum(counts - 1, 0).sum(axis=0)
    complete = means[np.isfinite(means).all(axis=1)]
    if len(complete) < 2:
        raise ValueError("fewer units than an interval needs have a number in every column")
    covariance = np.atleast_2d(np.cov(complete, rowvar=False))
    trace, square = float(np.trace(covariance)), float((covariance**2).sum())
    return _Parts(
        means=means,
        # The mean of the columns' variances: one column has too few units for a good estimate of its own.
        between=trace / len(covariance),
        between_df=(len(complete) - 1) * trace**2 / square if square else float(len(complete) - 1),
        within=np.divide(squares, within_df, out=np.zeros(len(squares)), where=within_df > 0),
        within_df=within_df,
        # The harmonic mean, because a unit's mean has the variance w over its number of seeds.
        seeds=np.array([1 / np.mean(1 / column[column > 0]) for column in counts.T]),
    )


@dataclass(frozen=True)
class ShareInterval:
    """Our share over splits, and the interval for the share of a number of runs at one more split."""

    mean: float
    low: float
    high: float
    splits: int


def beta_binomial_interval(chosen: np.ndarray, runs: int) -> ShareInterval:
    """The interval for `runs` runs; chosen: 0 or 1 for each run, [splits, seeds], at least two splits."""
    splits, seeds = chosen.shape
    shares = chosen.mean(axis=1)
    # w / K, known without bias from two seeds on; with one seed it stays in the variance between splits.
    noise = float((shares * (1 - shares)).mean()) / (seeds - 1) if seeds > 1 else 0.0
    # Half a run each way, because a gene that was never selected may be, rarely.
    p = (float(chosen.sum()) + 0.5) / (chosen.size + 1)
    between = max(float(shares.var(ddof=1)) - noise, 0.0)
    variance = between * (1 + 1 / splits) + noise / splits
    # A beta distribution is narrower than its mean's p (1 - p); at that limit every share is 0 or 1.
    # The variance of a beta distribution is p (1 - p) / (strength + 1). Without variance it is as good as one point.
    strength = max(p * (1 - p) / variance - 1, 1e-3) if variance else 1e9
    tail = (1 - LEVEL) / 2
    from scipy import stats  # takes half a second to import

    low, high = stats.betabinom.ppf([tail, 1 - tail], runs, p * strength, (1 - p) * strength) / runs
    return ShareInterval(float(shares.mean()), float(low), float(high), splits)
