"""The made-up study of tests/paper_like.py, for each test to spoil in one way."""

from pathlib import Path

import pytest

from eflops.analysis.paper import Paper, read_paper
from paper_like import RATES, TARGETS, Study, golub, golub_supports, mnist, scan, sparse, synthetic


@pytest.fixture
def targets() -> Path:
    return TARGETS


@pytest.fixture(scope="session")
def paper() -> Paper:
    return read_paper(TARGETS)


@pytest.fixture
def nothing_run(tmp_path: Path) -> Study:
    return Study(tmp_path)


@pytest.fixture
def paper_like(paper: Paper, tmp_path: Path) -> Study:
    runs, curves = synthetic(paper)
    splits = golub("golub_splits", 30, 10)
    study = Study(tmp_path, {"support_recovery": runs, "sparse_both": sparse(runs)}, {"support_recovery": curves})
    study.runs |= {name: scan(name) for name in RATES}
    study.runs |= {"golub_runs": golub("golub_runs", 1, 30), "golub_splits": splits, "mnist": mnist()}
    study.supports["golub_splits"] = golub_supports(splits, paper)
    return study
