"""docs/your-own-data.md, followed as printed: from a sheet to its genes and to predictions."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from workflow.conftest import ROOT, lay_out

pytestmark = pytest.mark.workflow
PAGE = (ROOT / "docs" / "your-own-data.md").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which the page was followed: its YAML written, its commands run in their order."""
    folder = tmp_path_factory.mktemp("own")
    lay_out(folder)
    (entry,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (folder / "mine.yaml").write_text(entry)
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    for command in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL):
        done = subprocess.run(["bash", "-ec", command], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_genes_that_are_found_are_those_of_b_and_t_cells(folder: Path) -> None:
    genes = pd.read_csv(folder / "results-mine/tables/mine_genes.csv")
    found = genes[(genes["method"] == "eflops") & (genes["frequency"] > 0.5)].set_index("gene")["direction"]
    # HLA-DRA and CD74 are what B cells show and T cells do not; T cells have the T-cell receptor (TRBC1).
    assert found.loc[["37039_at", "35016_at", "32794_g_at"]].tolist() == ["B", "B", "T"]
    shown = (folder / "results-mine/tables/mine_genes.md").read_text()
    assert "| Gene | a higher value is associated with | E-FLoPS |" in shown
    assert "Best subset" in shown


def test_every_table_and_figure_of_the_page_is_there(folder: Path) -> None:
    named = re.findall(r"^\| `((?:tables|figures)/\S+)`", PAGE, re.MULTILINE)
    assert len(named) == 5
    assert all((folder / "results-mine" / path).stat().st_size > 200 for path in named)
    stability = pd.read_csv(folder / "results-mine/tables/mine_stability.csv")
    assert {"eflops", "centralized", "best_subset", "lasso"} <= set(stability["method"])
    assert "auc" in set(pd.read_csv(folder / "results-mine/tables/mine_tests.csv")["metric"])


def test_the_model_predicts_most_samples(folder: Path) -> None:
    sheet = pd.read_csv(folder / "patients.csv", dtype={"patient": str})
    found = pd.read_csv(folder / "predictions.csv", dtype={"sample": str})
    assert found["sample"].tolist() == sheet["patient"].tolist()
    assert (found["class"] == sheet["lineage"]).mean() > 0.9
