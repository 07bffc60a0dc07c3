"""Runs trained again are compared with their records, bit by bit and then metric by metric."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from eflops.cli import main
from eflops.config.cell import CellSpec
from eflops.config.settings import settings_class
from eflops.data.federation import Block, Federation, save
from eflops.data.job import Job
from eflops.provenance import data as provenance_data
from eflops.provenance import verify
from eflops.provenance.audit.sample import sample
from eflops.provenance.explain import explanation
from eflops.provenance.verify import TOLERANCES, beyond_tolerance, compare_records
from eflops.results import record
from eflops.results.labels import Run
from eflops.training.train import train
from small_results import CONFIG

TABLE = "tables/support_recovery.csv"
ADDRESS = ("--row", "0.64", "--column", "eflops")


def change_result(path: Path, metric: str, by: float) -> None:
    """Change a metric of a record, which then is a sound record of another result."""
    entry = record.read(path)
    metrics = {**entry.result.metrics, metric: entry.result.metrics[metric] + by}
    result = entry.result.model_copy(update={"metrics": metrics})
    record.write(path, entry.model_copy(update={"result": result, "result_sha256": record.result_hash(result)}))


def test_a_run_comes_out_again_with_the_same_bits(small_results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(small_results / TABLE), *ADDRESS, "--runs", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("identical: runs/support_recovery/nd0.64/eflops/base/draw0-seed") == 2
    assert "2 of the 3 runs behind it" in printed
    assert "The number rebuilt from the records: " in printed


def test_published_results_are_verified_with_data_made_again(
    small_published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not list(small_published.rglob("federation.npz"))
    assert main(["verify", str(small_published / TABLE), "--row", "1.0", "--column", "fedavg", "--all"]) == 0
    assert capsys.readouterr().out.count("identical: ") == 3


def test_what_explain_prints_of_published_results_works_when_pasted(
    small_published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(small_published / TABLE), "--row", "1.0", "--column", "fedavg"]) == 0
    printed = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("  eflops verify ")]
    assert len(printed) == 2
    for _, *words in printed:
        assert main(words) == 0
        assert "identical: " in capsys.readouterr().out
    assert main(["show", printed[1][-1]]) == 0
    assert "fedavg" in capsys.readouterr().out


def test_other_bits_of_a_method_with_the_same_bits_everywhere_are_different(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A forger who stays within a tolerance, and says that the bits are of one machine, is found out all the same."""
    cell = results / "runs/support_recovery/nd0.64/eflops/base"
    change_result(cell / "draw0-seed0.json", "r2", TOLERANCES["r2"] / 2)
    entry = record.read(cell / "draw0-seed0.json")
    here = entry.circumstances.model_copy(update={"bits": "this kind of machine"})
    record.write(cell / "draw0-seed0.json", entry.model_copy(update={"circumstances": here}))
    assert main(["verify", str(cell / "draw0-seed0.json")]) == 1
    printed = capsys.readouterr().out
    assert "different: runs/support_recovery/nd0.64/eflops/base/draw0-seed0.json: its method has the same" in printed
    assert "these parts differ: metrics" in printed


def test_a_small_change_of_torchs_bits_is_within_tolerance_and_a_large_one_is_not(small_results: Path) -> None:
    entry = record.read(small_results / "runs/support_recovery/nd0.64/eflops/base/draw0-seed0.json")
    again = entry.model_copy(
        update={"circumstances": entry.circumstances.model_copy(update={"bits": "this kind of machine"})}
    )
    for share, outcome in ((0.5, "within tolerance"), (2.0, "different")):
        metrics = {**entry.result.metrics, "r2": entry.result.metrics["r2"] + share * TOLERANCES["r2"]}
        before = entry.model_copy(
            update={"result": entry.result.model_copy(update={"metrics": metrics}), "result_sha256": "x"}
        )
        assert compare_records(before, again)[0] == outcome


def test_weights_are_evaluated_again_without_training(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verify, "retrain", None)
    path = results / "runs/support_recovery/nd0.64/eflops/base/draw0-seed0.json"
    assert main(["verify", str(path), "--weights"]) == 0
    assert "identical: " in capsys.readouterr().out
    change_result(path, "mse", 1e-6)
    assert main(["verify", str(path), "--weights"]) == 1
    assert "mse is " in capsys.readouterr().out


def test_weights_of_images_are_kept_and_evaluated(tmp_path: Path) -> None:
    """A network's record keeps its weights, so that its metrics can be computed again."""
    images = np.random.default_rng(0).normal(size=(40, 1, 28, 28)).astype(np.float32)
    blocks = [Block(images[start::4], (np.arange(10) + start) % 10) for start in range(4)]
    meta = {"task": "classification", "classes": 10}
    settings = {"kind": "mnist", "source": "not fetched", "ratio": "all", "draw": 0}
    save(Federation(tuple(blocks[:3]), blocks[3], meta=meta), tmp_path / "data/images/all-draw0", settings)
    settings = settings_class("fediht").model_validate({"rounds": 2, "finetune_rounds": 1, "rate": 0.05})
    spec = CellSpec.model_validate({
        "experiment": "images", "dataset": "images", "model": "cnn", "density": 0.025, "genes_per_class": None,
        "client_fraction": 1.0, "ratio": "all", "name": "fediht", "method": "fediht", "options": {}, "pooled": False,
        "engine": "batched", "evaluate_every": 1, "variants": {"base": settings},
    })  # fmt: skip
    run = Run("base", 0, 0)
    train(Job(spec, tmp_path / "data", tmp_path / "runs/images/all/fediht", (run,), 1), lambda _: lambda *_: None)
    path = tmp_path / "runs/images/all/fediht" / run.path
    assert len(record.read(path).result.weights) == len(record.read(path).result.support) > 1000
    assert main(["verify", str(path), "--weights", "--results", str(tmp_path)]) == 0
    change_result(path, "accuracy", 0.1)
    assert main(["verify", str(path), "--weights", "--results", str(tmp_path)]) == 1


def test_a_number_without_runs_is_not_said_to_be_verified(
    small_results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    true = explanation.explain_cell
    monkeypatch.setattr(explanation, "explain_cell", lambda *given: replace(true(*given), runs=()))
    assert main(["verify", str(small_results / TABLE), *ADDRESS]) == 2
    assert "no run behind this can be trained again." in capsys.readouterr().err


def test_after_a_single_target_the_config_of_the_working_folder_stands_for_the_study(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "study.json").unlink()
    assert main(["explain", str(results / TABLE), *ADDRESS]) == 2
    assert "snakemake --cores 2" in capsys.readouterr().err
    monkeypatch.chdir(results.parent)
    Path("config.yaml").write_text(yaml.safe_dump({**CONFIG, "results": "results"}))
    assert main(["explain", f"results/{TABLE}", *ADDRESS]) == 0
    first = next(word for word in capsys.readouterr().out.split() if word.endswith("draw0-seed0.json"))
    assert main(["show", first]) == 0
    assert f"eflops verify {first}" in capsys.readouterr().out
    assert main(["verify", first, "--weights"]) == 0


def test_a_number_that_the_records_do_not_give_fails_though_its_runs_come_out_again(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (results / TABLE).read_text()
    (results / TABLE).write_text(text.replace("0.64,eflops,0.", "0.64,eflops,1.", 1))
    assert main(["verify", str(results / TABLE), *ADDRESS]) == 1
    printed = capsys.readouterr().out
    assert "identical: " in printed
    assert "NOT THE SAME" in printed


def test_data_that_cannot_be_made_again_are_refused(
    published: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    true = provenance_data.build
    monkeypatch.setattr(
        provenance_data, "build", lambda settings, ratio, draw, raw: true(settings, ratio, draw + 1, raw)
    )
    assert main(["verify", str(published / TABLE), *ADDRESS]) == 1
    assert "the rebuilt data differ from the data of the training run" in capsys.readouterr().out


def test_a_run_that_diverged_before_and_not_now_is_different(small_results: Path) -> None:
    result = record.read(small_results / "runs/support_recovery/nd0.64/eflops/base/draw0-seed0.json").result
    diverged = result.model_copy(update={"status": "diverged", "diverged_round": 3, "metrics": {}})
    assert beyond_tolerance(diverged, result) == "it diverged before and finished now"
    assert beyond_tolerance(result, result) == ""


def test_the_sample_is_chosen_by_its_seed() -> None:
    runs = list(range(30))
    assert sample(runs, 3, 0) == sample(runs, 3, 0) != sample(runs, 3, 1)  # type: ignore[comparison-overlap,arg-type]
    assert sample(runs, None, 0) == runs  # type: ignore[comparison-overlap,arg-type]
    assert sample(runs, 99, 0) == runs  # type: ignore[comparison-overlap,arg-type]
