"""Training jobs and the records they write."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from eflops.config.cell import CellSpec
from eflops.config.settings import GatedSettings, TrainingSettings
from eflops.data.build import build
from eflops.data.federation import save
from eflops.data.job import Job
from eflops.errors import UserError
from eflops.provenance.explain.show import describe
from eflops.results import record
from eflops.results.labels import Run
from eflops.training.train import train
from small_problems import SYNTHETIC

SPEC = CellSpec.model_validate({
    "experiment": "main", "dataset": "synthetic", "model": "linear", "density": 0.1, "client_fraction": 0.5,
    "ratio": "nd1.20", "name": "eflops", "method": "eflops", "options": {}, "pooled": False, "engine": "batched",
    "evaluate_every": 3, "variants": {"base": {"rounds": 6, "finetune_rounds": 2}},
})  # fmt: skip


def quiet(title: str) -> Any:
    return lambda *_: None


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one small data draw."""
    save(build(SYNTHETIC, 1.2, 0), tmp_path / "data/synthetic/nd1.20-draw0", SYNTHETIC)
    return tmp_path / "data"


def job(data: Path, seeds: list[int], **changes: Any) -> Job:
    runs = tuple(Run("base", 0, seed) for seed in seeds)
    return Job(CellSpec.model_validate({**SPEC.model_dump(), **changes}), data, data.parent / "runs", runs, 32)


def test_a_job_writes_one_checked_record_a_run(data: Path) -> None:
    assert train(job(data, [0, 5]), quiet) == 2
    written = record.read(data.parent / "runs/base/draw0-seed5.json")
    assert written.run == record.Identity(
        experiment="main", dataset="synthetic", ratio=1.2, method="eflops", variant="base", draw=0, seed=5
    )
    assert written.result.status == "finished"
    assert len(written.result.support) == 10
    assert set(written.result.metrics) == {"r2", "mse", "support_recovery", "open_gates", "multiplier", "gate_entropy"}
    assert written.result.curve.round == [1, 4, 6, 7, 8]
    assert written.result.curve.phase == ["training"] * 3 + ["finetuning"] * 2
    assert "eflops.training.numerics.gates" in written.origin.code
    assert "eflops.training.methods.fediht" not in written.origin.code
    assert written.circumstances.versions["torch"].startswith("2.13.0")
    assert written.circumstances.bits == "every machine"


def test_the_curve_shows_the_gates_until_finetuning_and_how_the_support_changes(data: Path) -> None:
    train(job(data, [0]), quiet)
    result = record.read(data.parent / "runs/base/draw0-seed0.json").result
    curve = result.curve.metrics
    assert all(0 < count < 100 for count in curve["open_gates"][:3])
    assert all(0 < entropy < math.log(2) for entropy in curve["gate_entropy"][:3])
    assert curve["open_gates"][3:] == curve["gate_entropy"][3:] == curve["multiplier"][3:] == [None, None]
    assert result.metrics["open_gates"] == curve["open_gates"][2]
    assert curve["support_changed"][0] is None
    assert max(curve["support_changed"][1:3]) > 0
    assert curve["support_changed"][3:] == [0, 0]
    settings = TrainingSettings(rounds=6, finetune_rounds=2)
    train(job(data, [0], name="fedavg", method="fedavg", variants={"base": settings}), quiet)
    plain = record.read(data.parent / "runs/base/draw0-seed0.json").result
    assert set(plain.curve.metrics) == {"r2", "mse", "support_recovery", "support_changed", "bytes_sent"}
    assert set(plain.metrics) == {"r2", "mse", "support_recovery"}


def test_records_that_are_up_to_date_are_left_alone(data: Path) -> None:
    train(job(data, [0, 1]), quiet)
    before = (data.parent / "runs/base/draw0-seed0.json").read_bytes()
    assert train(job(data, [0, 1, 2]), quiet) == 1
    assert (data.parent / "runs/base/draw0-seed0.json").read_bytes() == before
    assert train(job(data, [0], client_fraction=1.0), quiet) == 1
    assert (data.parent / "runs/base/draw0-seed0.json").read_bytes() != before


def test_a_damaged_record_is_trained_again_to_the_same_result(data: Path) -> None:
    path = data.parent / "runs/base/draw0-seed0.json"
    train(job(data, [0]), quiet)
    before = record.read(path).result
    path.write_text(path.read_text().replace('"status": "finished"', '"status": "finishe'))
    assert train(job(data, [0]), quiet) == 1
    assert record.read(path).result == before


def test_small_blocks_give_the_same_results(data: Path) -> None:
    train(job(data, [0, 1, 2]), quiet)
    whole = [record.read(data.parent / f"runs/base/draw0-seed{seed}.json").result_sha256 for seed in range(3)]
    parts = Job(SPEC, data, data.parent / "parts", tuple(Run("base", 0, seed) for seed in range(3)), 1)
    train(parts, quiet)
    assert [record.read(data.parent / f"parts/base/draw0-seed{seed}.json").result_sha256 for seed in range(3)] == whole


def test_plain_torch_is_an_engine_like_the_others(data: Path) -> None:
    train(job(data, [0, 5]), quiet)
    batched = record.read(data.parent / "runs/base/draw0-seed5.json").result
    assert train(job(data, [0, 5], engine="reference"), quiet) == 2
    written = record.read(data.parent / "runs/base/draw0-seed5.json")
    assert "eflops.training.engines.reference" in written.origin.code
    assert written.circumstances.bits == "this kind of machine"
    assert written.circumstances.bits == "this kind of machine"
    assert written.result.support == batched.support
    assert written.result.traffic == batched.traffic
    assert written.result.curve.round == batched.curve.round
    assert written.result.metrics == pytest.approx(batched.metrics, abs=1e-4)
    with pytest.raises(UserError, match=r"engine reference has eflops, .*, fediterht, not mine:Mine"):
        train(job(data, [0], engine="reference", method="mine:Mine", variants={"base": {}}), quiet)


def test_a_diverged_run_is_a_result_without_nan(data: Path) -> None:
    settings = GatedSettings(rounds=6, finetune_rounds=2, rate=1e9)
    train(job(data, [0], variants={"base": settings}), quiet)
    path = data.parent / "runs/base/draw0-seed0.json"
    written = record.read(path)
    assert written.result.status == "diverged"
    assert written.result.diverged_round is not None
    assert written.result.metrics == {}
    assert written.result.support == written.result.weights == []
    assert all(round_ < written.result.diverged_round for round_ in written.result.curve.round)
    assert "NaN" not in path.read_text()
    assert "diverged" in describe(written)


def test_a_changed_digit_is_refused(data: Path) -> None:
    train(job(data, [0]), quiet)
    path = data.parent / "runs/base/draw0-seed0.json"
    content = json.loads(path.read_text())
    content["result"]["metrics"]["r2"] += 1e-9
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match="does not match its own hash"):
        record.read(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda content: content.pop("run"), "not a valid run record"),
        (lambda content: content.update(extra=1), "not a valid run record"),
        (lambda content: content.update(schema_version=3), "not a valid run record"),
        (lambda content: content["result"].update(status="lost"), "not a valid run record"),
    ],
    ids=["missing part", "unknown part", "other version", "unknown status"],
)
def test_a_record_of_another_shape_is_refused(data: Path, change: Any, sentence: str) -> None:
    train(job(data, [0]), quiet)
    path = data.parent / "runs/base/draw0-seed0.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=sentence):
        record.read(path)


def test_swapped_data_are_refused(data: Path) -> None:
    folder = data / "synthetic/nd1.20-draw0"
    save(build(SYNTHETIC, 1.2, 1), data / "other", SYNTHETIC)
    (data / "other/federation.npz").replace(folder / "federation.npz")
    with pytest.raises(UserError, match="not the file that its manifest describes"):
        train(job(data, [0]), quiet)


def test_a_method_that_cannot_be_imported_is_named(data: Path) -> None:
    with pytest.raises(UserError, match="gates:Nothing: this method is not part of eflops"):
        train(job(data, [0], method="eflops.training.numerics.gates:Nothing", variants={"base": {"rounds": 2}}), quiet)
