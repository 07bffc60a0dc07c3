"""A job reruns when, and only when, what it computes from changed."""

import json
import shutil
from pathlib import Path

import pytest

from workflow.conftest import Study

pytestmark = pytest.mark.workflow
EVERY_CELL = {
    f"{method} {ratio}" for method in ("eflops", "flops", "fediht", "fedavg") for ratio in ("nd0.64", "nd1.00")
}


def record(study: Study, method: str, seed: int) -> dict:
    path = study.folder / f"results/runs/support_recovery/nd0.64/{method}/base/draw0-seed{seed}.json"
    return json.loads(path.read_text())


def test_a_second_run_has_nothing_to_do(study: Study) -> None:
    assert "Nothing to be done" in study.snakemake("all")


def test_touching_every_source_trains_nothing(study: Study) -> None:
    for path in study.folder.joinpath("src").rglob("*.py"):
        path.touch()
    assert study.would_train() == set()


def test_a_copy_with_new_file_times_trains_nothing(finished: Study, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, tmp_path / "clone", copy_function=shutil.copyfile)
    assert Study(tmp_path / "clone").would_train() == set()


def test_a_comment_or_docstring_trains_nothing(study: Study) -> None:
    study.edit("src/eflops/gates.py", "import numpy as np\n", "import numpy as np  # arrays\n\n\n")
    study.edit("src/eflops/methods/eflops.py", '"""E-FLoPS: ', '"""E-FLoPS, said otherwise: ')
    assert study.would_train() == set()


def test_a_figures_caption_trains_nothing(study: Study) -> None:
    caption = study.folder / "workflow/report/product.rst"
    caption.write_text("Another caption.\n")
    assert study.would_train() == set()


def test_a_changed_line_of_the_gates_trains_the_gated_methods_alone(study: Study) -> None:
    study.edit("src/eflops/gates.py", "BETA = 0.66", "BETA = 0.67")
    assert study.would_train() == {cell for cell in EVERY_CELL if cell.split()[0] in {"eflops", "flops"}}


def test_a_changed_line_of_the_rounds_trains_everything(study: Study) -> None:
    study.edit("src/eflops/engines/rounds.py", "CHUNK = 64", "CHUNK = 65")
    assert study.would_train() == EVERY_CELL


def test_a_methods_learning_rate_trains_its_own_cells_alone(study: Study) -> None:
    settings = "label: FedAvg, settings: {rounds: 6"
    study.edit("config.yaml", settings, settings + ", rate: 0.001")
    assert study.would_train() == {"fedavg nd0.64", "fedavg nd1.00"}


def test_a_label_trains_nothing_but_redraws(study: Study) -> None:
    study.edit("config.yaml", "label: FedAvg", "label: Dense")
    output = study.snakemake("--dry-run", "all")
    assert "Train" not in output
    assert "Table support_recovery" in output


def test_more_seeds_train_alone_and_leave_the_old_records_as_they_were(study: Study) -> None:
    before = {seed: record(study, "fedavg", seed) for seed in (0, 1)}
    study.edit("config.yaml", "seeds: 2", "seeds: 3")
    study.snakemake("all")
    assert {seed: record(study, "fedavg", seed) for seed in (0, 1)} == before
    assert record(study, "fedavg", 2)["circumstances"]["runs_in_batch"] == 1
    log = (study.folder / "results/logs/train/support_recovery/nd0.64/fedavg.log").read_text()
    assert "trained 1 of 3 runs" in log


def test_changed_data_bytes_train_the_cells_on_them(study: Study) -> None:
    study.edit("config.yaml", "min_rows: 6", "min_rows: 7")
    assert study.would_train() == EVERY_CELL


def test_a_removed_record_is_trained_again_to_the_same_bits(study: Study) -> None:
    before = record(study, "eflops", 1)
    path = "results/runs/support_recovery/nd0.64/eflops/base/draw0-seed1.json"
    (study.folder / path).unlink()
    assert study.would_train() == {"eflops nd0.64"}
    study.snakemake(path)
    assert record(study, "eflops", 1)["result_sha256"] == before["result_sha256"]
    (study.folder / path).unlink()
    study.snakemake("all")
    assert record(study, "eflops", 1)["result_sha256"] == before["result_sha256"]
    assert "Nothing to be done" in study.snakemake("all")


def test_seed_blocks_retrain_nothing_and_give_the_same_bits(study: Study) -> None:
    before = {seed: record(study, "eflops", seed)["result_sha256"] for seed in (0, 1)}
    study.edit("config.yaml", "results: results\n", "results: results\nseeds_per_job: 1\n")
    assert study.would_train() == set()
    shutil.rmtree(study.folder / "results/runs/support_recovery/nd0.64/eflops")
    assert study.would_train() == {"eflops nd0.64, seeds 0to0", "eflops nd0.64, seeds 1to1"}
    study.snakemake("all")
    assert {seed: record(study, "eflops", seed)["result_sha256"] for seed in (0, 1)} == before
    assert record(study, "eflops", 1)["circumstances"]["runs_in_batch"] == 1
