"""A torch module of the user's own through Snakemake, explain, verify, the explorer and Flower's simulation."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.conftest import Study, lay_out

pytestmark = pytest.mark.workflow

CONFIG = """
results: results
datasets:
  small:
    {kind: synthetic, model: "my_net:build", gated: [first], density: 0.1, features: 30, test_rows: 40, clients: 3,
     min_rows: 6}
methods:
  eflops: {method: eflops, label: E-FLoPS, settings: {rounds: 4, finetune_rounds: 2}}
  fedavg: {method: fedavg, label: FedAvg, settings: {rounds: 4, finetune_rounds: 2}}
experiments:
  mine: {dataset: small, ratios: [1.0], methods: [eflops, fedavg], draws: [0, 1], seeds: 1, evaluate_every: 1}
"""
NET = """
from torch import nn


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(features, 6), nn.LayerNorm(6), nn.Linear(6, 1)
        self.dropout = nn.Dropout(0.3)

    def forward(self, x):
        return self.last(self.dropout(self.norm(self.first(x))))


def build(shape, classes):
    return Net(shape[0])


def metrics(output, y):
    return {"mae": (output[:, 0] - y).abs().mean()}
"""
RECORD = "runs/mine/nd1.00/eflops/base/draw0-seed0.json"


def eflops(folder: Path, *arguments: str) -> str:
    """What a command prints in the folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-m", "eflops", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_module_goes_through_everything(tmp_path: Path) -> None:
    lay_out(tmp_path / "study", CONFIG)
    study = Study(tmp_path / "study")
    (study.folder / "my_net.py").write_text(NET)
    study.snakemake("all")
    result = json.loads((study.folder / "results" / RECORD).read_text())
    assert result["circumstances"]["bits"] == "this kind of machine"
    assert result["origin"]["job"]["engine"] == "reference"
    assert "my_net" in result["origin"]["code"]
    assert len(result["result"]["support"]) == 18  # a tenth of the first layer's 186 parameters
    assert result["result"]["parameters"] == 186 + 12 + 7
    assert {"mae", "r2", "open_gates"} <= result["result"]["curve"]["metrics"].keys()
    assert set(result["result"]["macs"]) == {"first", "last"}

    where = ["results/tables/mine.csv", "--row", "eflops", "--row", "mae", "--column", "mean"]
    explained = eflops(study.folder, "explain", *where)
    assert "model my_net:build, gated" in explained
    assert "from the records" in explained
    assert eflops(study.folder, "verify", *where).count("identical:") == 2
    assert "my_net:build" in eflops(study.folder, "show", f"results/{RECORD}")
    explorer = (study.folder / "results" / "explorer.html").read_text()
    assert "fig_mine" in explorer

    text = (study.folder / "my_net.py").read_text()
    (study.folder / "my_net.py").write_text(text.replace("0.3", "0.4"))
    assert study.would_train() == {"eflops nd1.00", "fedavg nd1.00"}
    (study.folder / "my_net.py").write_text(text)

    overlay = ["results=flower", "engine=flower"]
    study.snakemake("flower/cells/mine/nd1.00/eflops.json", "--config", *overlay)
    flower_result = json.loads((study.folder / "flower" / RECORD).read_text())["result"]
    assert flower_result["metrics"] == pytest.approx(result["result"]["metrics"], rel=1e-2, abs=1e-3)
    assert flower_result["traffic"] == result["result"]["traffic"]


def test_a_results_folder_with_a_strangers_model_imports_nothing(tmp_path: Path) -> None:
    lay_out(tmp_path / "study", CONFIG)
    study = Study(tmp_path / "study")
    (study.folder / "my_net.py").write_text(NET)
    study.snakemake("results/cells/mine/nd1.00/fedavg.json")
    (study.folder / "my_net.py").write_text("raise SystemExit('imported')")
    (study.folder / "config.yaml").unlink()
    said = eflops(study.folder, "verify", "results/runs/mine/nd1.00/fedavg/base/draw0-seed0.json")
    assert "imported" not in said
    assert "--trust" in said or "other code" in said
