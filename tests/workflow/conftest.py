"""A small study, run once for real; each test gets a copy of the finished folder to change."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from shared import made_once

ROOT = Path(__file__).parents[2]
PARTS = ("Snakefile", "config.yaml", "config", "workflow", "src", "profiles", "envs", "resources")

MINI = """
results: results
datasets:
  synthetic: {kind: synthetic, density: 0.1, features: 64, test_rows: 40, clients: 3, min_rows: 6}
methods:
  eflops: {method: eflops, label: E-FLoPS, settings: {rounds: 6, finetune_rounds: 2}}
  flops: {method: eflops, label: FLoPS, settings: {rounds: 6, finetune_rounds: 2, temperature: 0.0}}
  fediht: {method: fediht, label: Fed-IHT, settings: {rounds: 6, finetune_rounds: 2}}
  fedavg: {method: fedavg, label: FedAvg, settings: {rounds: 6, finetune_rounds: 2}}
experiments:
  support_recovery: {dataset: synthetic, ratios: [0.64, 1.0], methods: [eflops, flops, fediht, fedavg], seeds: 2}
"""


class Study:
    """A folder with the workflow and a small config."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def snakemake(self, *arguments: str, check: bool = True) -> str:
        """Run snakemake in the folder; what it printed."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        output = done.stdout + done.stderr
        assert not check or done.returncode == 0, output
        self.code = done.returncode
        return output

    def would_train(self) -> set[str]:
        """The cells that would be trained now, as "method ratio", or "method ratio, seeds" for parts of one."""
        output = self.snakemake("--dry-run", "all")
        return {f"{method} {ratio}" for method, ratio in re.findall(r"Train (\w+) on \w+ (.+)", output)}

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a piece of a file that must be there."""
        text = (self.folder / path).read_text()
        assert old in text
        (self.folder / path).write_text(text.replace(old, new))


def lay_out(folder: Path, config: str | None = None) -> None:
    """Copy the workflow into a folder, with a config of its own or the paper's."""
    folder.mkdir(exist_ok=True)
    for part in PARTS:
        source = ROOT / part
        copy: Callable[..., object] = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, folder / part)
    if config is not None:
        (folder / "config.yaml").write_text(config)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The small study after a full run, in a folder whose name has a space."""

    def make(folder: Path) -> None:
        lay_out(folder, MINI)
        Study(folder).snakemake("all")

    return Study(made_once(tmp_path_factory, "a study", make))


@pytest.fixture
def study(finished: Study, tmp_path: Path) -> Study:
    """A copy of the finished study with file times kept, free to be changed."""
    shutil.copytree(finished.folder, tmp_path / "copy of it", copy_function=shutil.copy2)
    return Study(tmp_path / "copy of it")
