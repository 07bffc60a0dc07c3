"""A file that nothing makes is refused with the nearest that something makes."""

from pathlib import Path

import pytest

from eflops.config.load import read
from eflops.config.messages import misspelt
from eflops.results import paths

ROOT = Path(__file__).parents[2]
CONFIG = read(ROOT / "config.yaml")


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


def test_rules_make_their_files_where_the_package_looks_for_them() -> None:
    text = "".join(file.read_text() for file in (ROOT / "workflow/rules").glob("*.smk"))
    # The rules of data sets are made in a loop over their names.
    rules = text.replace("{{", "{").replace("}}", "}").replace("{DATASET}", "{dataset}")
    single = (paths.SCORECARD, paths.SUMMARY, paths.SUMMARY_TEXT, paths.SUMMARY_OF_REPORT, paths.STUDY, paths.EXPLORER)
    products = [
        paths.product(kind, "{name}", suffix) for kind, suffixes in paths.FORMATS.items() for suffix in suffixes
    ]
    templates = (paths.GENES, paths.RAW, paths.DATA_MANIFEST, paths.DATA_ARRAYS, paths.TEST_FEATURES, paths.CELL)
    gathered = (paths.GATHERED, paths.CURVES, paths.SUPPORTS, paths.REFERENCES)
    ranked = (paths.TRIALS, paths.CHOSEN, paths.SEARCH_RUNS)
    specs = [paths.SPEC.format(job=job) for job in (paths.CELL_JOB, paths.DRAW, "gather/{experiment}", "study")]
    stated = [*single, *products, *templates, *gathered, *ranked, *specs]
    assert [path for path in stated if f'"<results>/{path}"' not in rules] == []
