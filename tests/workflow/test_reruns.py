"""A job reruns when, and only when, what it computes from changed."""

import json
import re
import shutil
from pathlib import Path

import pytest

from eflops.analysis.gather import checked
from eflops.data.job import read_spec
from eflops.errors import UserError
from eflops.provenance.audit.audit import Options, audit
from workflow.conftest import Study

pytestmark = pytest.mark.workflow
EVERY_CELL = {
    f"{method} {ratio}" for method in ("eflops", "flops", "fediht", "fedavg") for ratio in ("nd0.64", "nd1.00")
}
GATHERED = "results/gathered/support_recovery.csv"


def cell(name: str) -> str:
    """What the training job of a cell makes last."""
    return f"results/cells/support_recovery/nd0.64/{name}.json"


def record(study: Study, method: str, seed: int) -> dict:
    path = study.folder / f"results/runs/support_recovery/nd0.64/{method}/base/draw0-seed{seed}.json"
    return json.loads(path.read_text())


def test_a_second_run_has_nothing_to_do(study: Study) -> None:
    assert "Nothing to be done" in study.snakemake("all")


def test_new_file_times_comments_docstrings_and_captions_train_nothing(finished: Study, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, tmp_path / "clone", copy_function=shutil.copyfile)
    study = Study(tmp_path / "clone")
    study.edit("src/eflops/training/numerics/gates.py", "import numpy as np\n", "import numpy as np  # arrays\n\n\n")
    study.edit("src/eflops/training/methods/eflops.py", '"""E-FLoPS: ', '"""E-FLoPS, said otherwise: ')
    (study.folder / "workflow/report/product.rst").write_text("Another caption.\n")
    assert study.would_train() == set()


def test_a_changed_line_of_the_gates_trains_the_gated_methods_alone(study: Study) -> None:
    study.edit("src/eflops/training/numerics/gates.py", "BETA = 0.66", "BETA = 0.67")
    assert study.would_train() == {cell for cell in EVERY_CELL if cell.split()[0] in {"eflops", "flops"}}


def test_a_changed_line_of_the_rounds_trains_everything(study: Study) -> None:
    study.edit("src/eflops/training/rounds.py", "CHUNK = 64", "CHUNK = 65")
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
    study.snakemake(cell("fedavg"))
    assert {seed: record(study, "fedavg", seed) for seed in (0, 1)} == before
    assert record(study, "fedavg", 2)["circumstances"]["runs_in_batch"] == 1
    assert "trained 1 of 3 runs" in log_of(study, "fedavg")


def test_a_new_ratio_adds_its_own_jobs_and_changes_no_other(study: Study) -> None:
    study.edit("config.yaml", "ratios: [0.64, 1.0]", "ratios: [0.64, 1.0, 2.0]")
    output = study.snakemake("--dry-run", "all")
    assert set(re.findall(r"Train (\w+ on .+)", output)) == {
        f"{method} on support_recovery nd2.00" for method in ("eflops", "flops", "fediht", "fedavg")
    }
    assert re.findall(r"Make (\w+ nd.+|the test features .+)", output) == ["synthetic nd2.00, draw 0"]


def test_a_new_draw_makes_its_own_data_alone(study: Study) -> None:
    study.edit("config.yaml", "seeds: 2", "seeds: 2, draws: [0, 1]")
    output = study.snakemake("--dry-run", "all")
    assert set(re.findall(r"Make (\w+ nd.+|the test features .+)", output)) == {
        "synthetic nd0.64, draw 1",
        "synthetic nd1.00, draw 1",
        "the test features of synthetic, draw 1",
    }


def test_a_new_target_adds_its_own_jobs_and_changes_no_other(study: Study) -> None:
    entry = "  mine: {dataset: synthetic, ratios: [0.64], methods: [fedavg], seeds: 1, target: own}\n"
    (study.folder / "config.yaml").write_text((study.folder / "config.yaml").read_text().rstrip() + f"\n{entry}")
    assert study.would_train() == set()
    output = study.snakemake("--dry-run", "own")
    assert re.findall(r"Train (.+)", output)[-1:] == ["fedavg on mine nd0.64"]
    assert "Make synthetic" not in output
    assert "test features" not in output


def test_changed_data_bytes_train_the_cells_on_them(study: Study) -> None:
    study.edit("config.yaml", "min_rows: 6", "min_rows: 7")
    assert study.would_train() == EVERY_CELL


def test_a_removed_record_is_trained_again_to_the_same_bits(study: Study) -> None:
    before = record(study, "eflops", 1)
    path = "results/runs/support_recovery/nd0.64/eflops/base/draw0-seed1.json"
    (study.folder / path).unlink()
    assert study.would_train() == {"eflops nd0.64"}
    study.snakemake(cell("eflops"), GATHERED)
    assert record(study, "eflops", 1)["result_sha256"] == before["result_sha256"]
    assert "trained 1 of 2 runs" in log_of(study, "eflops")
    assert "Nothing to be done" in study.snakemake(GATHERED)


def test_an_altered_record_is_refused_with_the_command_that_mends_it(study: Study) -> None:
    path = "results/runs/support_recovery/nd0.64/eflops/base/draw0-seed1.json"
    shutil.copyfile(study.folder / path.replace("seed1", "seed0"), study.folder / path)
    (study.folder / GATHERED).unlink()
    output = study.snakemake(GATHERED, check=False)
    assert f"{path}: this is not the record that training wrote" in output
    (command,) = re.findall(r"retrain the run with: rm (.*) && snakemake", output)
    (study.folder / command).unlink()
    study.snakemake(GATHERED)


def test_a_changed_setting_is_met_although_snakemakes_own_notes_are_gone(study: Study) -> None:
    shutil.rmtree(study.folder / ".snakemake")
    study.edit("config.yaml", "label: FedAvg, settings: {rounds: 6", "label: FedAvg, settings: {rounds: 7")
    study.snakemake(cell("fedavg"))
    assert record(study, "fedavg", 0)["origin"]["settings"]["rounds"] == 7


@pytest.mark.slow
def test_changed_data_and_labels_are_met_although_snakemakes_own_notes_are_gone(study: Study) -> None:
    shutil.rmtree(study.folder / ".snakemake")
    assert "Nothing to be done" in study.snakemake("all")
    study.edit("config.yaml", "test_rows: 40", "test_rows: 50")
    study.edit("config.yaml", "label: FedAvg", "label: Averaging")
    study.snakemake("all")
    manifest = json.loads((study.folder / "results/data/synthetic/nd0.64-draw0/manifest.json").read_text())
    assert manifest["settings"]["test_rows"] == 50
    assert "Averaging" in (study.folder / "results/tables/support_recovery.md").read_text()
    assert audit(study.folder / "results", Options(pictures=False)).findings == []


def test_results_that_another_config_made_are_not_gathered(study: Study) -> None:
    spec = study.folder / "results/specs/train/support_recovery/nd0.64/fedavg.json"
    spec.write_text(spec.read_text().replace('"rounds": 6', '"rounds": 7'))
    with pytest.raises(UserError, match="rounds was 6 and is 7"):
        list(checked(read_spec(spec), str(spec).replace("specs/train/", "cells/"), study.folder / "results"))


@pytest.mark.slow
def test_seed_blocks_retrain_nothing_and_give_the_same_bits(study: Study) -> None:
    before = {seed: record(study, "eflops", seed)["result_sha256"] for seed in (0, 1)}
    study.edit("config.yaml", "results: results\n", "results: results\nseeds_per_job: 1\n")
    blocks = [cell(f"eflops_seeds{seed}to{seed}") for seed in (0, 1)]
    study.snakemake(*blocks)
    assert "trained 0 of 1 runs" in log_of(study, "eflops_seeds1to1")
    shutil.rmtree(study.folder / "results/runs/support_recovery/nd0.64/eflops")
    study.snakemake(*blocks)
    assert {seed: record(study, "eflops", seed)["result_sha256"] for seed in (0, 1)} == before
    assert record(study, "eflops", 1)["circumstances"]["runs_in_batch"] == 1


def test_a_forced_job_says_what_to_delete(study: Study) -> None:
    study.snakemake("--force", cell("eflops"))
    assert "trained 0 of 2 runs; delete the records of the others to retrain them" in log_of(study, "eflops")


def log_of(study: Study, cell: str) -> str:
    """What the training job of a cell printed last."""
    return (study.folder / f"results/logs/train/support_recovery/nd0.64/{cell}.log").read_text()
