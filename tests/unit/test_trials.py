"""The trials of a search: which come near the paper, how their settings are spread, and what was chosen."""

import numpy as np
import pandas as pd
import pytest

from eflops.analysis.products.trials import outcome
from eflops.analysis.stats.trials import binned, nearest


def test_no_trial_is_near_where_no_distance_was_measured() -> None:
    assert nearest(pd.DataFrame({"method": ["eflops"]}), 0.1).empty


def test_the_nearest_tenth_or_so_many() -> None:
    trials = pd.DataFrame({"distance": [*np.linspace(1, 0, 20), np.nan]})
    assert nearest(trials, 0.1)["distance"].tolist() == pytest.approx([0.0, 1 / 19])
    assert len(nearest(trials, 8)) == 8


def test_few_values_are_bins_of_their_own_and_a_wide_range_is_binned_by_its_logarithm() -> None:
    places, names = binned(pd.Series([1, 5, 1, 2]))
    assert (places.tolist(), names) == ([0, 2, 0, 1], ["1", "2", "5"])
    assert binned(pd.Series([True, False]))[1] == ["no", "yes"]
    places, names = binned(pd.Series(np.geomspace(0.001, 1, 100)))
    assert places.value_counts().between(11, 14).all()
    assert len(names) == 8


def test_a_search_is_told_by_what_it_excluded_and_chose() -> None:
    trials = pd.DataFrame(
        {
            "variant": ["b", "a", "c"],
            "excluded": ["", "open gates", "open gates and bytes"],
            "score": [0.5, 0.9, 0.8],
            "diverged": [0, 0, 2],
            "distance": [0.3, 0.1, np.nan],
            "set_rate": [0.25, 0.5, 0.5],
            "set_rounds": 200,
        }
    )
    values = outcome(trials)
    assert (values["trials"], values["diverged"], values["admitted"]) == (3, 1, 1)
    assert (values["excluded_gates"], values["excluded_bytes"]) == (2, 1)
    assert (values["best_score"], values["nearest_distance"], values["chosen"], values["settings"]) == (
        0.5,
        0.1,
        "b",
        "rate 0.25",
    )
    assert outcome(trials.tail(2))["settings"] == ""
