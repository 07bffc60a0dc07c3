"""The direction of a gene, and the stability of selections over splits and seeds apart."""

import numpy as np
import pandas as pd
import pytest

from eflops.analysis.stats.genes import direction, directions, stability_over

CLASSES = ("healthy", "ill", "worse")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([0.0, 2.0, 0.0], "ill"),
        ([1.0, 2.0, -1.0], "ill"),
        ([0.0, -2.0, 0.0], "not ill"),
        ([-1.0, -2.0, 0.0], "worse"),
    ],
)
def test_a_higher_value_speaks_for_the_class_with_the_largest_weight(weights: list[float], words: str) -> None:
    assert direction(np.array(weights), CLASSES) == words


def test_of_two_classes_a_negative_weight_of_one_speaks_for_the_other() -> None:
    assert direction(np.array([0.0, -1.0]), CLASSES[:2]) == "healthy"


def test_the_usual_direction_of_a_gene_and_the_share_of_runs_that_agree() -> None:
    # Two classes and three genes: weight 1 is gene 1 of the first class, weight 4 gene 1 of the second.
    supports = ["1", "1 4", "4", "2"]
    weights = ["1.5", "0.5 -0.5", "1.0", "1.0"]
    runs = pd.DataFrame({"method": "eflops", "support": supports, "weights": weights})
    table = directions(runs, 3, CLASSES[:2]).set_index("feature")
    assert table.loc[1, "direction"] == "healthy"
    assert table.loc[1, "agreement"] == pytest.approx(2 / 3)
    assert table.loc[2, "agreement"] == 1


def test_sets_that_change_with_the_split_alone_are_stable_over_seeds_and_not_over_splits() -> None:
    rows = [(draw, seed, [draw, draw + 5]) for draw in range(4) for seed in range(3)]
    stability = stability_over(pd.DataFrame(rows, columns=["draw", "seed", "selected"]), 10)
    assert stability["over_seeds"] == pytest.approx(1)
    assert stability["over_splits"] < 0
    assert (stability["n"], stability["genes"], stability["different_genes"]) == (12, 2, 8)


def test_one_seed_says_nothing_over_seeds() -> None:
    rows = [(draw, 0, [1, 2]) for draw in range(4)]
    stability = stability_over(pd.DataFrame(rows, columns=["draw", "seed", "selected"]), 10)
    assert np.isnan(stability["over_seeds"])
    assert stability["over_splits"] == pytest.approx(1)
