"""A file that nothing makes is refused with the nearest that something makes."""

from pathlib import Path

import pytest

from eflops.config.load import read
from eflops.config.messages import misspelt
from eflops.config.products import products

CONFIG = read(Path(__file__).parents[2] / "config.yaml")
CELLS = ["cells/mnist/all/eflops.json", "cells/mnist/all/fedavg.json"]


def message_for(path: str) -> str:
    return misspelt(path, CONFIG, products(CONFIG), CELLS)


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("tables/suport_recovery.csv", "tables/support_recovery.csv"),
        ("figures/fig1b.jpg", "figures/fig1b.png"),
        ("gathered/curve.csv", "gathered/curves.csv"),
        ("gathered/golub_run.references.csv", "gathered/golub_runs.references.csv"),
        ("cells/mnist/all/eflop.json", "cells/mnist/all/eflops.json"),
        ("search/sinthetic.json", "search/synthetic.json"),
        ("data/golb/genes.csv", "data/golub/genes.csv"),
        ("data/synthetc/nd0.64-draw3/manifest.json", "data/synthetic/nd0.64-draw3/manifest.json"),
        ("data/golub/all-draw99/manifest.json", "data/golub/all-draw9/manifest.json"),
    ],
)
def test_a_misspelt_file_is_answered_with_the_nearest(path: str, near: str) -> None:
    assert message_for(f"results/{path}") == f"results/{path}: no rule makes this file; did you mean results/{near}?"
    assert message_for(f"results/{near}") == ""


@pytest.mark.parametrize(
    "word", ["all", "--cores", "results", "results/study.json", "other/tables/x.csv", "tables/x.csv"]
)
def test_other_words_are_left_to_snakemake(word: str) -> None:
    assert message_for(word) == ""
