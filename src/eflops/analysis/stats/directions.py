"""Which class a higher value of a gene speaks for, by the weights that runs kept of it."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd


def directions(runs: pd.DataFrame, features: int, classes: Sequence[str]) -> pd.DataFrame:
    """One row per method and selected feature: its usual `direction` and `agreement`, the share of runs that have it.

    runs: one row per run, as `Source.supports` gives it; weights are laid out class by class.
    """
    found: dict[tuple[str, int], Counter[str]] = {}
    for run in runs.itertuples():
        kept = [int(index) for index in run.support.split()]
        weights = np.zeros((len(classes), features))
        weights.ravel()[kept] = [float(weight) for weight in run.weights.split()]
        for feature in {index % features for index in kept}:
            found.setdefault((run.method, feature), Counter())[direction(weights[:, feature], classes)] += 1
    rows = []
    for (method, feature), counts in found.items():
        usual, times = counts.most_common(1)[0]
        rows.append((method, feature, usual, times / counts.total()))
    return pd.DataFrame(rows, columns=["method", "feature", "direction", "agreement"])


def direction(weights: np.ndarray, classes: Sequence[str]) -> str:
    """The class with the largest weight; of several that no weight speaks for, the one that a weight speaks against."""
    order = np.argsort(-weights, kind="stable")
    if weights[order[0]] > weights[order[1]]:
        return classes[order[0]]
    return f"not {classes[order[-1]]}"
