"""docs/your-own-data.md, followed as printed: from a table to its features and to predictions."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from workflow.conftest import ROOT, lay_out

pytestmark = [pytest.mark.workflow, pytest.mark.slow]
PAGE = (ROOT / "docs" / "your-own-data.md").read_text()
SEARCH = "## Search settings"


def follow(folder: Path, text: str) -> None:
    """Write the YAML files of a part of the page and run its commands, in their order."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    file = "mine.yaml"
    for name, kind, block in re.findall(r"(?:Write `(\S+)`:|)\n+```(sh|yaml)\n(.*?)```", text, re.DOTALL):
        file = name or file
        if kind == "yaml":
            before = (folder / file).read_text() if not name else ""
            (folder / file).write_text(before + block)
            continue
        done = subprocess.run(["bash", "-ec", block], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which the page was followed, but for the search."""
    folder = tmp_path_factory.mktemp("own")
    lay_out(folder)
    follow(folder, PAGE.partition(SEARCH)[0])
    return folder


def test_the_regression_reaches_the_r2_that_its_features_allow(folder: Path) -> None:
    runs = pd.read_csv(folder / "results-mine/gathered/mine.csv")
    r2 = runs.groupby("method")["r2"].agg(["mean", "count"])
    assert (r2["count"] == 10).all()
    assert r2.loc["eflops", "mean"] >= 0.40
    features = pd.read_csv(folder / "results-mine/tables/mine_features.csv")
    often = features[(features["method"] == "eflops") & (features["frequency"] > 0.5)].set_index("gene")["direction"]
    # Body mass index and s5 (triglycerides) are what every analysis of these data finds.
    assert often.loc[["bmi", "s5"]].tolist() == ["higher", "higher"]
    shown = (folder / "results-mine/tables/mine_features.md").read_text()
    assert "| Feature | target at higher values | E-FLoPS |" in shown


def test_predictions_of_a_number_have_the_error_of_the_test_rows(folder: Path) -> None:
    predicted = pd.read_csv(folder / "predictions.csv")["progression"]
    actual = pd.read_csv(folder / "patients.csv")["progression"]
    rmse = pd.read_csv(folder / "results-mine/gathered/mine.csv")["rmse"].mean()
    assert ((predicted - actual) ** 2).mean() ** 0.5 == pytest.approx(rmse, rel=0.15)


def test_the_selected_genes_are_those_of_b_and_t_cells(folder: Path) -> None:
    genes = pd.read_csv(folder / "results-genes/tables/lineage_genes.csv")
    often = genes[(genes["method"] == "eflops") & (genes["frequency"] > 0.5)].set_index("gene")["direction"]
    # HLA-DRA and CD74 are what B cells show and T cells do not; T cells have the T-cell receptor (TRBC1).
    assert often.loc[["37039_at", "35016_at", "32794_g_at"]].tolist() == ["B", "B", "T"]
    shown = (folder / "results-genes/tables/lineage_genes.md").read_text()
    assert "| Gene | a higher value is associated with | E-FLoPS |" in shown
    assert "Best subset" in shown
    stability = pd.read_csv(folder / "results-genes/tables/lineage_stability.csv")
    assert {"eflops", "centralized", "best_subset", "lasso"} <= set(stability["method"])
    assert "auc" in set(pd.read_csv(folder / "results-genes/tables/lineage_tests.csv")["metric"])


def test_every_table_and_figure_of_the_page_is_there(folder: Path) -> None:
    named = re.findall(r"^\| `((?:tables|figures)/\S+)`", PAGE, re.MULTILINE)
    assert len(named) == 5
    assert all((folder / "results-mine" / path).stat().st_size > 200 for path in named)


def test_the_model_predicts_the_class_of_most_samples(folder: Path) -> None:
    sheet = pd.read_csv(folder / "samples.csv", dtype={"patient": str})
    predicted = pd.read_csv(folder / "diagnoses.csv", dtype={"sample": str})
    assert predicted["sample"].tolist() == sheet["patient"].tolist()
    assert (predicted["class"] == sheet["lineage"]).mean() > 0.9


def test_settings_can_be_searched_on_ones_own_data(folder: Path) -> None:
    follow(folder, PAGE.partition(SEARCH)[2].partition("\n## ")[0])
    runs = pd.read_csv(folder / "results-mine/gathered/mine.csv")
    assert runs.groupby("method")["r2"].mean()["eflops"] >= 0.40
    assert "mine:" in (folder / "chosen-mine.yaml").read_text()
