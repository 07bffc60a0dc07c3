"""What the trials of a search say of entropy, and which settings come near the paper."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from eflops.analysis.products.trials import outcome
from eflops.analysis.stats.trials import binned, effect, entropy_groups, entropy_pairs, nearest


def searched(count: int = 12) -> pd.DataFrame:
    """Trials of E-FLoPS and T = 0 with the same settings but for T, and one of T = 0 that has no twin."""
    draw = np.random.default_rng(1)
    shared = pd.DataFrame({"variant": [f"trial{place:02}" for place in range(count)]})
    shared = shared.assign(set_gate_rate=draw.uniform(0.1, 2, count), set_rho_init=draw.uniform(0.25, 0.9, count))
    shared = shared.assign(set_clip=np.nan, diverged=0, excluded="")
    with_t = shared.assign(method="eflops", set_temperature=np.geomspace(0.001, 1, count))
    parts = [
        with_t,
        shared.assign(method="flops", set_temperature=0.0),
        shared.head(1).assign(method="flops", set_rho_init=0.1),
    ]
    trials = pd.concat(parts, ignore_index=True)
    numbers = {
        f"{name}@{ratio}": draw.random(len(trials)) for name in ("r2", "support_recovery") for ratio in (0.64, 1.36)
    }
    return trials.assign(**numbers)


def test_a_trial_is_compared_with_its_twin_at_T_0() -> None:
    trials = searched()
    pairs = entropy_pairs(trials)
    assert len(pairs) == 12 * 2 * 2
    one, other = (trials[trials["method"] == name].iloc[3] for name in ("eflops", "flops"))
    row = pairs[(pairs["variant"] == "trial03") & (pairs["metric"] == "r2") & (pairs["ratio"] == 1.36)].iloc[0]
    assert row["difference"] == pytest.approx(one["r2@1.36"] - other["r2@1.36"])


def test_groups_part_the_settings_and_average_over_ratios() -> None:
    trials = searched()
    trials.loc[[0, 13], "excluded"] = "open gates"
    groups = entropy_groups(entropy_pairs(trials)).set_index(["metric", "group"])
    r2 = groups.loc["r2"]
    assert r2.loc["all settings", "settings"] == 12
    assert r2.loc[["admitted", "not admitted"], "settings"].tolist() == [10, 2]
    assert r2.loc[["T up to 0.01", "T 0.01 to 0.1", "T above 0.1"], "settings"].sum() == 12
    for by in ("gate rate", "initial density"):
        assert r2[r2["by"] == by]["settings"].tolist() == [4, 4, 4]
    both = r2.loc[["N/d 0.64", "N/d 1.36"], "mean"].mean()
    assert r2.loc["all settings", "mean"] == pytest.approx(both)


def test_an_effect_counts_helps_and_hurts_and_leaves_ties_out_of_the_share() -> None:
    found = effect(pd.Series([0.1, 0.2, -0.1, 0.0, np.nan]))
    assert (found["settings"], found["missing"], found["helps"], found["equal"], found["hurts"]) == (5, 1, 2, 1, 1)
    assert (found["mean"], found["median"], found["share"]) == pytest.approx((0.05, 0.05, 2 / 3))
    interval = stats.ttest_1samp([0.1, 0.2, -0.1, 0.0], 0).confidence_interval()
    assert (found["mean_low"], found["mean_high"]) == pytest.approx(tuple(interval))
    # Wilson's interval for 2 of 3, by its formula.
    z, n, p = stats.norm.ppf(0.975), 3, 2 / 3
    centre, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    ends = [(centre + side * half) / (1 + z**2 / n) for side in (-1, 1)]
    assert [found["share_low"], found["share_high"]] == pytest.approx(ends)


def test_nothing_is_said_where_nothing_was_measured() -> None:
    trials = searched()[["method", "variant", "set_temperature", "diverged", "excluded"]]
    assert entropy_groups(entropy_pairs(trials)).empty
    assert nearest(trials, 0.1).empty


def test_the_nearest_tenth_or_so_many() -> None:
    trials = pd.DataFrame({"distance": [*np.linspace(1, 0, 20), np.nan]})
    assert nearest(trials, 0.1)["distance"].tolist() == pytest.approx([0.0, 1 / 19])
    assert len(nearest(trials, 8)) == 8


def test_few_values_are_bins_of_their_own_and_a_wide_range_is_binned_by_its_logarithm() -> None:
    places, names, log = binned(pd.Series([1, 5, 1, 2]))
    assert (places.tolist(), names, log) == ([0, 2, 0, 1], ["1", "2", "5"], False)
    assert binned(pd.Series([True, False]))[1] == ["no", "yes"]
    places, names, log = binned(pd.Series(np.geomspace(0.001, 1, 100)))
    assert log
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
    told = outcome(trials)
    assert (told["trials"], told["diverged"], told["admitted"]) == (3, 1, 1)
    assert (told["excluded_gates"], told["excluded_bytes"]) == (2, 1)
    assert (told["best_score"], told["nearest_distance"], told["chosen"], told["settings"]) == (
        0.5,
        0.1,
        "b",
        "rate 0.25",
    )
    assert outcome(trials.tail(2))["settings"] == ""
