"""A study of a table with an intercept and of a module, one of whose runs diverges: read like the paper's."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import eflops
import small_results
from eflops import trust
from eflops.cli import main
from eflops.results import record
from eflops.results.paths import EXPLORER

NET = """
from torch import nn
def build(shape, classes):
    return nn.Sequential(nn.Linear(shape[0], 4), nn.LayerNorm(4), nn.Linear(4, 1))
"""
SMALL = {"draws": [0], "seeds": 1, "settings": {"rounds": 4, "finetune_rounds": 2}}
CONFIG: dict[str, Any] = {
    "results": "results",
    "datasets": {
        "table": {"kind": "table", "file": "t.csv", "target": "y", "keep": 2, "clients": 3},
        "synthetic": small_results.CONFIG["datasets"]["synthetic"],
    },
    "methods": {
        "fedavg": {"method": "fedavg", "label": "FedAvg"},
        "lost": {"method": "fedavg", "label": "Diverges", "settings": {"rate": 1e9}},
    },
    "experiments": {
        "table": {"dataset": "table", "methods": ["fedavg"], **SMALL},
        "module": {"dataset": "table", "model": "study_net:build", "methods": ["fedavg", "lost"], **SMALL},
        "synthetic": {"dataset": "synthetic", "ratios": [1.0], "methods": ["fedavg"], **SMALL},
    },
}
RUN = "runs/module/all/{}/base/draw0-seed0.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working folder of the study, with its results."""
    folder = tmp_path_factory.mktemp("study")
    x = np.random.default_rng(0).normal(size=(60, 3))
    pd.DataFrame(x, columns=[*"abc"]).assign(y=2 * x[:, 0] + 9).to_csv(folder / "t.csv", index=False)
    (folder / "study_net.py").write_text(NET)
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    with pytest.MonkeyPatch.context() as patch, trust.session(folder / "config.yaml", folder=folder):
        patch.chdir(folder)
        small_results.make(folder / "results", CONFIG)
    return folder


@pytest.fixture(autouse=True)
def _there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_its_audit_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert record.read(Path("results", RUN.format("lost"))).result.status == "diverged"
    code = main(["audit", "results", "--no-pictures", "--cores", "1"])
    assert (code, "no problems found" in capsys.readouterr().out) == (0, True)


def test_the_explorer_shows_records_with_and_without_an_intercept() -> None:
    assert main(["explorer", "results"]) == 0
    assert (Path("results") / EXPLORER).exists()


def test_runs_are_verified_with_the_code_that_a_given_config_names(capsys: pytest.CaptureFixture[str]) -> None:
    Path("config.yaml").rename("mine.yaml")
    file = f"results/{RUN.format('fedavg')}"
    try:
        for arguments in (["verify", file], ["verify", "--results", "results", "--all"]):
            assert main(arguments) == 2
            assert "this model is not part of eflops" in capsys.readouterr().err
            assert main([*arguments, "--config", "mine.yaml"]) == 0
            assert "identical" in capsys.readouterr().out
    finally:
        Path("mine.yaml").rename("config.yaml")


def test_the_study_states_the_code_of_its_model() -> None:
    assert "study_net" in json.loads(Path("results/study.json").read_text())["code"]


def test_it_is_read_where_neither_its_table_nor_its_model_is(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study_net.py").write_text("raise SystemExit('a file of this name is the reader's, and not imported')")
    results = shutil.copytree(folder / "results", tmp_path / "sent")
    cell = ["--row", "fedavg", "--row", "rmse", "--column", "mean"]
    for command in (
        ["explain", "sent/tables/module.csv", *cell],
        ["times", "sent"],
        ["explorer", "sent", "--out", "page.html"],
    ):
        assert main(command) == 0, command
    assert len(eflops.load(results).explain("tables/module.csv", row=["fedavg", "rmse"], column="mean").facts["runs"])
    assert main(["publish", "sent", "--out", "published"]) == 0
    shutil.copy(folder / "t.csv", tmp_path)
    assert main(["audit", "sent", "--no-pictures", "--cores", "1", "--allow-stale"]) == 0
