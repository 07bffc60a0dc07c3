"""docs/adding-a-model.md, as printed: its files written, its configs checked, and its experiments trained."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from eflops import code, trust
from eflops.config import load
from eflops.config.jobs import training_jobs
from eflops.config.models import data_settings
from eflops.data import idx
from eflops.data.build import build
from eflops.data.federation import Block, Federation, save
from eflops.data.job import job_of
from eflops.errors import UserError
from eflops.files import PROJECT
from eflops.results.record import Record, read
from eflops.training.train import train

PAGE = (PROJECT / "docs" / "adding-a-model.md").read_text()
NAMED = re.compile(r"`((?!config)\w+\.(?:py|yaml))`[^`]*```(?:python|yaml)\n(.*?)```", re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the files that the page names."""
    for name, text in NAMED.findall(PAGE):
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for each in vars(code).values():
        if hasattr(each, "cache_clear"):
            each.cache_clear()
    with trust.session():
        yield tmp_path


def trained(folder: Path, config: dict[str, Any], raw: Path | None = None) -> dict[str, list[Record]]:
    """The records of all runs of a config, by experiment and method."""
    checked = load.check(config)
    records: dict[str, list[Record]] = {}
    for _, spec in training_jobs(checked):
        job = job_of(spec, folder)
        settings = data_settings(checked.datasets[spec.dataset])
        for draw in spec.draws:
            if not job.data_folder(draw).exists():
                save(build(settings, None, draw, raw), job.data_folder(draw), {**settings, "draw": draw})
        train(job, lambda _: lambda *_: None)
        records[f"{spec.experiment} {spec.name}"] = [read(job.folder / run.path) for run in spec.runs]
    return records


def shortened(folder: Path, name: str, **changes: Any) -> dict[str, Any]:
    """A config of the page with one draw, two rounds, and what else is changed."""
    config: dict[str, Any] = yaml.safe_load((folder / name).read_text())
    for entry in config["experiments"].values():
        entry["draws"] = [0]
        entry["settings"] = {**entry["settings"], "rounds": 2, "finetune_rounds": 1, **changes}
    return config


def accuracy(records: list[Record]) -> float:
    return float(np.mean([record.result.metrics["accuracy"] for record in records]))


def test_the_page_names_all_of_its_files() -> None:
    assert [name for name, _ in NAMED.findall(PAGE)] == [
        "digits_mlp.py", "digits.yaml", "residual.py", "residual.yaml", "paper_cnn.py"
    ]  # fmt: skip


def test_the_digits_of_the_page_are_trained(folder: Path) -> None:
    records = trained(folder, shortened(folder, "digits.yaml", local_steps=2, finetune_steps=2))
    sparse, dense = records["digits eflops"][0].result, records["digits_dense fedavg"][0].result
    assert dense.parameters == len(dense.support) == 9610
    assert len(sparse.support) == 961
    assert sparse.dead_units.keys() == {"0"}
    assert sum(sparse.dense_macs.values()) == 64 * 128 + 128 * 10
    assert 0 < sum(sparse.macs.values()) < 961
    assert records["digits eflops"][0].circumstances.bits == "this kind of machine"


def test_the_residual_network_of_the_page_is_trained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)

    def block(rows: int) -> Block:
        return Block(generator.random((rows, 1, 28, 28), np.float32), generator.integers(0, 10, rows))

    images = Federation((block(8), block(9)), block(10), {}, {"task": "classification", "classes": 10})
    monkeypatch.setattr(sys.modules[__name__], "build", lambda *_: images)
    (sparse,), (dense,) = trained(folder, shortened(folder, "residual.yaml", local_steps=1)).values()
    ungated = 2 * 2 * 16
    assert sparse.result.parameters == 16 * 25 + 16 + 2 * (16 * 16 * 9 + 16) + ungated + 2570
    assert len(sparse.result.support) == int(0.2 * (sparse.result.parameters - ungated))
    assert "top3" in sparse.result.metrics
    assert sparse.result.dead_units == {}
    assert set(sparse.result.macs) == {"0", "2.conv", "4.conv", "7"}
    assert dense.result.traffic["training"]["up"] > 0


@pytest.mark.slow
def test_a_tenth_of_the_mlps_weights_is_nearly_as_good_as_all(folder: Path) -> None:
    records = trained(folder, yaml.safe_load((folder / "digits.yaml").read_text()))
    assert all(len(each) == 10 for each in records.values())
    assert all(record.result.metrics["open_gates"] < 2 * 961 for record in records["digits eflops"])
    assert accuracy(records["digits eflops"]) > accuracy(records["digits_dense fedavg"]) - 0.02


@pytest.mark.slow
def test_the_residual_network_learns_mnist(folder: Path) -> None:
    raw = Path(os.environ.get("EFLOPS_MNIST", "") or folder / "mnist")
    try:
        idx.fetch(raw)
    except UserError as error:
        pytest.skip(str(error))
    records = trained(folder, yaml.safe_load((folder / "residual.yaml").read_text()), raw)
    sparse, dense = (accuracy(records[f"residual {name}"]) for name in ("eflops", "fedavg"))
    assert min(sparse, dense) > 0.8
    assert records["residual eflops"][0].result.metrics["top3"] > 0.93
