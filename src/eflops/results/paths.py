"""The paths of all files below a results folder; `format` fills in the parts of a template.

The package takes all paths from here. Rules state theirs as literals, so each rule can be read separately; a test
compares them.
"""

from typing import Literal

from eflops.results.labels import DATA, RUNS

Kind = Literal["table", "figure"]

# Where the project keeps the trials of searches; a search that was never made has none.
SEARCHES = "resources/search"

DRAW = f"{DATA}/{{dataset}}/{{ratio}}-draw{{draw}}"
DATA_MANIFEST = f"{DRAW}/manifest.json"
DATA_ARRAYS = f"{DRAW}/federation.npz"
# The test features that all N/d of a draw of synthetic data share.
TEST_FEATURES = f"{DATA}/{{dataset}}/test-draw{{draw}}.npz"
GENES = f"{DATA}/{{dataset}}/genes.csv"
RAW = "raw/{source}.json"
# The spec that a job worked by. A training job also leaves a manifest: its records with their hashes.
SPECS, CELLS = "specs", "cells"
SPEC = f"{SPECS}/{{job}}.json"
CELL_JOB = "train/{experiment}/{ratio}/{method}{part}"
CELL = f"{CELLS}/{{experiment}}/{{ratio}}/{{method}}{{part}}.json"
CELL_RUNS = f"{RUNS}/{{experiment}}/{{ratio}}/{{method}}"
GATHERED_FOLDER = "gathered"
GATHERED = f"{GATHERED_FOLDER}/{{experiment}}.csv"
CURVES = f"{GATHERED_FOLDER}/{{experiment}}.curves.csv"
SUPPORTS = f"{GATHERED_FOLDER}/{{experiment}}.supports.csv"
REFERENCES = f"{GATHERED_FOLDER}/{{experiment}}.references.csv"
TRIALS = "search/{dataset}.csv"
CHOSEN = "search/{dataset}.json"
SEARCH_RUNS = "search/{dataset}.runs.csv.gz"
SCORECARD = "scorecard.json"
SCORECARD_TEXT = "scorecard.md"
SUMMARY = "summary.json"
SUMMARY_TEXT = "summary.md"
SUMMARY_OF_REPORT = "summary.rst"
STUDY = "study.json"
EXPLORER = "explorer.html"
# The CPU seconds of a finished job, beside its log.
JOB_TIME = "logs/{job}.json"

FORMATS: dict[Kind, tuple[str, ...]] = {"table": ("csv", "md", "tex", "html"), "figure": ("svg", "pdf", "png", "csv")}
# Left out of published results, whose explorer shows the same tables.
UNPUBLISHED_SUFFIX = ".html"


def product(kind: Kind, name: str, suffix: str = "csv") -> str:
    """A file of a table or figure; the CSV file holds its numbers."""
    return f"{kind}s/{name}.{suffix}"


def product_files(kind: Kind, name: str) -> tuple[str, ...]:
    """All files of a table or figure."""
    return tuple(product(kind, name, suffix) for suffix in FORMATS[kind])
