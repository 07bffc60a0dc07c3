"""Stability of the selected features over splits and over run seeds, each apart from the other."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from eflops.analysis.stats.stability import mean_jaccard, nogueira, selection


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
