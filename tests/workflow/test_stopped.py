"""A run that cannot go on: a full disk, Ctrl-C, outputs deleted. Nothing half is left, and the same command goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eflops.files import PROJECT
from workflow.conftest import Study, lay_out

pytestmark = pytest.mark.workflow
CONFIG = """
results: results
block_size: 1
datasets:
  synthetic: {{kind: synthetic, density: 0.1, features: 64, test_rows: 40, clients: 3, min_rows: 6}}
  images: {{kind: mnist, source: mnist, density: 0.1, clients: 3}}
methods:
  fedavg: {{method: fedavg, label: FedAvg, settings: {{rounds: {rounds}, finetune_rounds: 0}}}}
experiments:
  runs: {{dataset: synthetic, ratios: [0.64], methods: [fedavg], seeds: {seeds}}}
"""
CELL = "results/cells/runs/nd0.64/fedavg.json"
SEEDS = 200  # so many that a busy machine does not train them all before it is interrupted
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "1"]


def tiny(folder: Path, rounds: int, seeds: int) -> Study:
    lay_out(folder, CONFIG.format(rounds=rounds, seeds=seeds))
    return Study(folder)


def records(study: Study) -> list[Path]:
    """The records that are there; each is whole, and nothing lies beside them."""
    record_paths = [path for path in study.folder.joinpath("results/runs").rglob("*") if path.is_file()]
    assert all(json.loads(path.read_text())["record_sha256"] for path in record_paths)
    return record_paths


@pytest.mark.slow
def test_after_a_full_disk_the_run_goes_on_where_it_was(tmp_path: Path) -> None:
    study = tiny(tmp_path / "study", rounds=4, seeds=60)
    command = " ".join(f"'{word}'" for word in [*SNAKEMAKE, CELL])
    script = f"""
        mkdir results && mount -t tmpfs -o size=300k tmpfs results || exit 77
        {command}; echo "first: $?"
        find results -name '.*.part'; find results/runs -name '*.json' | wc -l
        mount -o remount,size=30m tmpfs results
        {command}; echo "second: $?"; tail -n 2 results/logs/train/runs/nd0.64/fedavg.log; cp -r results kept
    """
    environment = {**os.environ, "PYTHONPATH": str(study.folder / "src")}
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    done = subprocess.run(unshare, cwd=study.folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("a file system of a given size needs user namespaces")
    assert "first: 1" in done.stdout
    assert "is full (No space left on device); free some space and run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    assert ".part" not in done.stdout
    kept = int(done.stdout.split("first: 1")[1].split()[0])
    assert 0 < kept < 60
    assert "second: 0" in done.stdout
    assert f"trained {60 - kept} of 60 runs" in done.stdout


def test_after_ctrl_c_the_run_goes_on_where_it_was(tmp_path: Path) -> None:
    study = tiny(tmp_path / "study", rounds=1500, seeds=SEEDS)
    environment = {**os.environ, "PYTHONPATH": str(study.folder / "src")}
    running = subprocess.Popen(
        [*SNAKEMAKE, CELL],
        cwd=study.folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests that were started in the background ignore Ctrl-C, and so would all that they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    first = study.folder / "results/runs/runs/nd0.64/fedavg/base/draw0-seed0.json"
    while not first.exists() and running.poll() is None:
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=300)
    assert running.returncode != 0
    assert "eflops: stopped; finished records are kept, and the same command continues from there" in said
    assert "Traceback" not in said
    kept = len(records(study))
    assert 0 < kept < SEEDS
    # Of what was left over a few are enough.
    study.edit("config.yaml", f"seeds: {SEEDS}", f"seeds: {kept + 2}")
    study.snakemake(CELL)
    log = study.folder / "results/logs/train/runs/nd0.64/fedavg.log"
    assert f"trained 2 of {kept + 2} runs" in log.read_text()


def test_deleting_all_output_keeps_downloaded_files(tmp_path: Path) -> None:
    study = tiny(tmp_path / "study", rounds=4, seeds=1)
    image, listing = (study.folder / name for name in ("resources/mnist/images", "results/raw/mnist.json"))
    for path in (image, listing):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    study.snakemake("--delete-all-output", "results/raw/mnist.json")
    assert not listing.exists()
    assert image.exists()


def test_a_results_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    study = tiny(tmp_path / "study", rounds=4, seeds=1)
    command = " ".join(f"'{word}'" for word in [*SNAKEMAKE, CELL])
    script = f"mkdir results && mount -t tmpfs -o ro tmpfs results || exit 77; {command}"
    environment = {**os.environ, "PYTHONPATH": str(study.folder / "src")}
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    done = subprocess.run(unshare, cwd=study.folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("a read-only file system needs user namespaces")
    assert done.returncode == 1
    assert (
        "results: this folder cannot be written to; make it writable, or set `results` to another folder."
        in done.stderr
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("locked", [True, False])
def test_make_reproduce_names_make_unlock_where_a_killed_run_left_its_lock(tmp_path: Path, locked: bool) -> None:
    (tmp_path / "Makefile").write_bytes((PROJECT / "Makefile").read_bytes())
    (tmp_path / "Snakefile").write_text("rule all:\n    output: 'made'\n    shell: 'false'\n")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    locks = tmp_path / ".snakemake/locks"
    locks.mkdir(parents=True)
    if locked:
        (locks / "0.output.lock").write_text("made\n")
    make = ["make", "-o", ".venv/.installed", "CORES=1", "reproduce"]
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert ("a killed run left the lock: make unlock" in done.stderr) == locked, done.stderr
