"""What share of runs would select a gene at one further split.

At each split a gene has a share of its own, of which the run seeds show a sample. Over splits the shares are taken as
drawn from a beta distribution with our mean p and the variance s^2 (1 + 1/S) + w / (K S), s^2 between S splits and w
within a split of K seeds, as `further` has them; the other study's runs are then drawn at one such share. That is the
beta-binomial distribution, which never leaves 0 to 1 and may have its weight at both ends, as a gene has that the split
alone decides.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95


@dataclass(frozen=True)
class Share:
    """Our share over splits, and the interval for the share of a number of runs at one further split."""

    mean: float
    low: float
    high: float
    splits: int


def further_share(chosen: np.ndarray, runs: int) -> Share:
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
    strength = max(p * (1 - p) / variance - 1, 1e-3) if variance else 1e9
    tail = (1 - LEVEL) / 2
    low, high = stats.betabinom.ppf([tail, 1 - tail], runs, p * strength, (1 - p) * strength) / runs
    return Share(float(shares.mean()), float(low), float(high), splits)
