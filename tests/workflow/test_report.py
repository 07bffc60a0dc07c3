"""Snakemake's own report holds every table and figure, and a bad config writes nothing."""

import pytest

from workflow.conftest import Study

pytestmark = pytest.mark.workflow


def test_the_report_holds_tables_and_figures_with_their_captions(study: Study) -> None:
    study.snakemake("all", "--report", "report.html")
    page = (study.folder / "report.html").read_text()
    for part in ("fig1a.svg", "support_recovery.html", "scorecard.html", "Synthetic regression"):
        assert part in page


def test_a_bad_config_stops_the_workflow_with_a_sentence_and_no_traceback(study: Study) -> None:
    study.edit("config.yaml", "seeds: 2", "sedes: 2")
    before = sorted(path for path in study.folder.rglob("*") if ".snakemake" not in path.parts)
    output = study.snakemake("all", check=False)
    assert study.code == 1
    assert "experiments.support_recovery.sedes: 'sedes' is not known; did you mean 'seeds'?" in output
    assert "Traceback" not in output
    assert sorted(path for path in study.folder.rglob("*") if ".snakemake" not in path.parts) == before
