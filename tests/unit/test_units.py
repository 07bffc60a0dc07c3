"""Means over data draws, whose run seeds are averaged first."""

import math

import pandas as pd
import pytest

from eflops.analysis.stats.summary import summarise_units, too_few, units_in_words


def runs(values: dict[tuple[int, int], float]) -> pd.DataFrame:
    """Runs of one method, by draw and seed; a run without a value diverged."""
    rows = [
        {"method": "eflops", "draw": draw, "seed": seed, "accuracy": value} for (draw, seed), value in values.items()
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(status=frame["accuracy"].isna().map({True: "diverged", False: "finished"}))


def test_seeds_of_a_draw_are_averaged_before_the_spread_is_taken():
    draw_runs = runs({(0, 0): 0.2, (0, 1): 0.4, (1, 0): 0.6, (1, 1): 0.8, (2, 0): 0.4, (2, 1): 0.6})
    (row,) = summarise_units(draw_runs, ["accuracy"], ["method"]).itertuples()
    assert (row.mean, row.units, row.n) == (pytest.approx(0.5), 3, 6)
    assert row.spread == pytest.approx(0.2)
    half = 4.30265 * 0.2 / math.sqrt(3)
    assert row.upper - row.mean == pytest.approx(row.mean - row.lower) == pytest.approx(half, rel=1e-4)
    assert units_in_words(draw_runs) == "3 data draws, the 2 run seeds of each averaged first"


def test_the_seeds_of_a_single_draw_are_the_units():
    seed_runs = runs({(3, 0): 0.2, (3, 1): 0.4})
    (row,) = summarise_units(seed_runs, ["accuracy"], ["method"]).itertuples()
    assert (row.units, row.spread) == (2, pytest.approx(math.sqrt(0.02)))
    assert units_in_words(seed_runs) == "2 run seeds of one data draw"


def test_a_diverged_run_is_counted_and_its_draw_has_the_mean_of_the_others():
    (row,) = summarise_units(
        runs({(0, 0): 0.2, (0, 1): math.nan, (1, 0): 0.4, (1, 1): 0.8}), ["accuracy"], ["method"]
    ).itertuples()
    assert (row.mean, row.n, row.diverged) == (pytest.approx(0.4), 4, 1)


@pytest.mark.parametrize("draws", [1, 2])
def test_one_or_two_units_have_no_interval_and_the_note_says_so(draws: int):
    draw_runs = runs({(draw, 0): 0.2 + draw / 10 for draw in range(draws)})
    cells = summarise_units(draw_runs, ["accuracy"], ["method"])
    assert cells["mean"].item() == pytest.approx(0.2 if draws == 1 else 0.25)
    assert cells[["lower", "upper"]].isna().all(axis=None)
    assert too_few(cells["units"]) == " Means over fewer than three have no interval."
    assert not too_few(pd.Series([0, 3]))
