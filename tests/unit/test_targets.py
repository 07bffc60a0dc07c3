"""A file that nothing makes is refused with the nearest that something makes."""

from pathlib import Path

import pytest

from eflops.config.load import read
from eflops.config.messages import misspelt

CONFIG = read(Path(__file__).parents[2] / "config.yaml")


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
        ("search/synthetic.run.csv.gz", "search/synthetic.runs.csv.gz"),
        ("data/synthetic/test-draw0.npy", "data/synthetic/test-draw0.npz"),
        ("data/golub/all-draw99/manifest.json", "data/golub/all-draw9/manifest.json"),
    ],
)
def test_a_misspelt_file_is_answered_with_the_nearest(path: str, near: str) -> None:
    sentence = f"results/{path}: no rule makes this file; did you mean results/{near}?"
    assert misspelt(f"results/{path}", CONFIG) == sentence
    assert misspelt(f"results/{near}", CONFIG) == ""


@pytest.mark.parametrize(
    "word", ["all", "--cores", "results", "results/study.json", "other/tables/x.csv", "tables/x.csv"]
)
def test_other_words_are_left_to_snakemake(word: str) -> None:
    assert misspelt(word, CONFIG) == ""
