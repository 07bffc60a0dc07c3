"""How alike the feature sets are that repeated runs of a method select.

A selection is a 0/1 matrix [runs, features], one row per run. Two measures of it:

    Jaccard     the mean over all pairs of runs of shared features / features of either; sets by chance are not at 0
    Nogueira's  1 - mean_f s_f^2 / (k/d (1 - k/d)), s_f^2 the unbiased variance of feature f's column, k the mean size
                of a set, d the number of features: 1 for equal sets, 0 in expectation for sets drawn by chance
                (Nogueira, Sechidis and Brown, Journal of Machine Learning Research 18, 2018)
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import ndtri

from eflops.analysis.stats.summary import LEVEL


@dataclass(frozen=True)
class Stability:
    """Nogueira's index and its interval; NaN below two sets, or where none or all features are selected."""

    value: float
    low: float
    high: float


def selection(sets: Iterable[Sequence[int]], features: int) -> np.ndarray:
    """The 0/1 matrix [runs, features] of sets of feature indices."""
    rows = [np.bincount(np.asarray(chosen, dtype=int), minlength=features) > 0 for chosen in sets]
    return np.array(rows, dtype=float).reshape(len(rows), features)


def mean_jaccard(sets: Iterable[Sequence[int]]) -> float:
    """The mean Jaccard index of all pairs of sets, two empty ones counting as equal; NaN below two sets."""
    pairs = list(combinations([frozenset(chosen) for chosen in sets], 2))
    return float(np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs])) if pairs else math.nan


def nogueira(selected: np.ndarray) -> Stability:
    """The index of a selection [runs, features] with its asymptotic interval (the delta method over runs)."""
    runs, features = selected.shape
    share = selected.mean(axis=0) if runs else np.zeros(features)
    density = float(share.mean())
    by_chance = density * (1 - density)
    if runs < 2 or by_chance == 0:
        return Stability(math.nan, math.nan, math.nan)
    value = 1 - runs / (runs - 1) * float((share * (1 - share)).mean()) / by_chance
    half = float(ndtri((1 + LEVEL) / 2)) * _standard_error(selected, share, value, by_chance)
    return Stability(value, value - half, value + half)


def _standard_error(selected: np.ndarray, share: np.ndarray, value: float, by_chance: float) -> float:
    """From each run's influence on the index: 2 (z_i.p/d - k_i k/d^2 + value/2 (2 k_i k/d^2 - k_i/d)) / by_chance."""
    own, mean = selected.mean(axis=1), float(share.mean())
    agreement = (selected * share).mean(axis=1) - own * mean
    influence = 2 * (agreement + value / 2 * (2 * mean - 1) * own) / by_chance
    return float(np.sqrt(((influence - influence.mean()) ** 2).sum())) / len(selected)


def stability_over(runs: pd.DataFrame, features: int) -> dict[str, float]:
    """What is known of one method's runs: genes per run, different genes, and Nogueira's index over splits and seeds.

    runs: one row per finished run with draw, seed and `selected`. Over splits, the index is taken across the splits of
    each seed, and averaged over seeds; over seeds the other way round. NaN where there is one split or one seed.
    """
    sets = [list(chosen) for chosen in runs["selected"]]
    return {
        "n": len(sets),
        "genes": float(np.mean([len(chosen) for chosen in sets])) if sets else float("nan"),
        "different_genes": len({feature for chosen in sets for feature in chosen}),
        "over_splits": _index(runs.groupby("seed")["selected"], features),
        "over_seeds": _index(runs.groupby("draw")["selected"], features),
        "jaccard": mean_jaccard(sets),
    }


def _index(groups: Iterable[tuple[object, pd.Series]], features: int) -> float:
    values = [nogueira(selection(chosen, features)).value for _, chosen in groups]
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
