"""The workflow on a real Slurm: complete, with the bits of a local run, and again so after faults."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slurm.cluster import Cluster, missing_programs
from workflow.conftest import lay_out

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {', '.join(missing_programs())}"),
]

STUDY = """
results: results
datasets:
  synthetic: {kind: synthetic, density: 0.1, features: 64, test_rows: 40, clients: 3, min_rows: 6}
methods:
  eflops: {method: eflops, label: E-FLoPS, settings: {rounds: 6, finetune_rounds: 2}}
  fedavg: {method: fedavg, label: FedAvg, settings: {rounds: 6, finetune_rounds: 2}}
experiments:
  support_recovery: {dataset: synthetic, ratios: [0.64], methods: [eflops, fedavg], seeds: 4}
"""
# Tests ask more often than people need to.
OFTEN = ("--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2")
SLURM = ("--profile", "profiles/slurm", *OFTEN)
SMOKE = ("smoke", "--configfile", "config/smoke.yaml")
# After a fault the training is what matters; tables and figures follow from it.
GATHERED = "results/gathered/support_recovery.csv"
RECORDS = 8


class Study:
    """A folder with the workflow, a small config, and the cluster to run it on."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.folder, self.cluster = folder, cluster
        venv = f"{Path(sys.executable).parent}{os.pathsep}{cluster.environment['PATH']}"
        self.environment = {**cluster.environment, "PYTHONPATH": str(folder / "src"), "PATH": venv}

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Snakemake, running."""
        command = [sys.executable, "-m", "snakemake", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, text=True, **pipes)  # type: ignore

    def snakemake(self, *arguments: str) -> str:
        """What Snakemake printed, having succeeded."""
        process = self.start(*arguments)
        output, _ = process.communicate()
        assert process.returncode == 0, output
        return output

    def hashes(self, results: str = "results") -> dict[str, str]:
        """The hash of every record's result."""
        runs = self.folder / results / "runs"
        return {
            str(path.relative_to(runs)): json.loads(path.read_text())["result_sha256"] for path in runs.rglob("*.json")
        }

    def products(self, results: str) -> dict[str, bytes]:
        """The files of every table and figure, and those of the scorecard and the summary."""
        folder = self.folder / results
        names = ("tables/*", "figures/*", "scorecard.*", "summary.md")
        return {str(path.relative_to(folder)): path.read_bytes() for name in names for path in folder.glob(name)}

    def heavy_jobs(self, results: str) -> int:
        """How many jobs made data, references and records, by their benchmark files."""
        stages = [self.folder / results / "benchmarks" / name for name in ("data", "references", "train")]
        files = [path for stage in stages for path in stage.rglob("*.tsv")]
        # The names of genes are written where Snakemake runs.
        return sum(path.stem != "genes" for path in files)

    def forget(self, method: str) -> None:
        """Remove all records of a method and what was gathered from them, so that they are due."""
        (self.folder / GATHERED).unlink()
        shutil.rmtree(self.folder / "results/runs/support_recovery/nd0.64" / method)

    def train(self) -> "subprocess.Popen[str]":
        """Snakemake on the cluster with a training job just running there."""
        process = self.start(*SLURM, GATHERED)
        self.cluster.wait(lambda: self.cluster.jobs("RUNNING"), "a job to run")
        return process


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("slurm") / "cluster") as cluster:
        yield cluster


def fresh(folder: Path, cluster: Cluster, config: str | None = None) -> Study:
    lay_out(folder, config)
    return Study(folder, cluster)


def submitted(output: str) -> int:
    """How many jobs Snakemake says it has given to Slurm."""
    return len(set(re.findall(r"has been submitted with SLURM jobid (\d+)", output)))


@pytest.fixture(scope="module")
def local(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The result hashes of a run without Slurm, whole cells at a time."""
    study = fresh(tmp_path_factory.mktemp("local"), cluster, STUDY)
    study.snakemake("--cores", "2", "all")
    return study.hashes()


@pytest.fixture(scope="module")
def finished(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The study after a run through Slurm, cells split in two."""
    study = fresh(tmp_path_factory.mktemp("cluster"), cluster, f"seeds_per_job: 2\n{STUDY}")
    output = study.snakemake(*SLURM, "all")
    # Four halves of two cells, a draw's test features, its other data and its references went to the cluster.
    assert submitted(output) == 4 + 3
    return study


@pytest.fixture
def study(finished: Study, tmp_path: Path) -> Study:
    shutil.copytree(finished.folder, tmp_path / "study", copy_function=shutil.copy2)
    return Study(tmp_path / "study", finished.cluster)


def ends_complete(study: Study, process: "subprocess.Popen[str]", local: dict[str, str]) -> None:
    """Whatever became of the disturbed run, the same command again leaves everything complete and identical."""
    process.communicate()
    study.snakemake(*SLURM, GATHERED)
    assert study.hashes() == local


def test_the_small_study_has_the_bits_of_a_local_run(finished: Study, local: dict[str, str]) -> None:
    assert len(local) == RECORDS
    assert finished.hashes() == local
    assert (finished.folder / "results/scorecard.md").exists()
    assert "Nothing to be done" in finished.snakemake(*SLURM, "all")


def test_the_smoke_pipeline_has_the_bits_of_a_local_run(cluster: Cluster, tmp_path: Path) -> None:
    here, there = fresh(tmp_path / "local", cluster), fresh(tmp_path / "cluster", cluster)
    here.snakemake("--cores", "2", *SMOKE)
    output = there.snakemake(*SLURM, *SMOKE)
    assert submitted(output) == here.heavy_jobs("results-smoke") > 0
    assert there.hashes("results-smoke") == here.hashes("results-smoke") != {}
    # Which files there are first: bytes of pictures make no readable message.
    mine, theirs = here.products("results-smoke"), there.products("results-smoke")
    assert theirs.keys() == mine.keys()
    assert [name for name in mine if theirs[name] != mine[name]] == []
    assert "Nothing to be done" in there.snakemake(*SLURM, *SMOKE)


def test_a_cancelled_job_is_made_up_for(study: Study, local: dict[str, str]) -> None:
    study.forget("eflops")
    process = study.train()
    for job in study.cluster.jobs("RUNNING"):
        study.cluster.command("scancel", job)
    ends_complete(study, process, local)


def test_a_node_that_goes_down_in_mid_job_is_made_up_for(study: Study, local: dict[str, str]) -> None:
    study.forget("fedavg")
    process = study.train()
    study.cluster.stop("slurmd")
    study.cluster.wait(lambda: not study.cluster.node_is_up(), "the node to be seen as down")
    study.cluster.start("slurmd")
    ends_complete(study, process, local)


def test_a_restarted_controller_loses_no_job(study: Study, local: dict[str, str]) -> None:
    study.forget("fedavg")
    process = study.train()
    study.cluster.stop("slurmctld")
    study.cluster.start("slurmctld")
    ends_complete(study, process, local)


def test_a_second_invocation_is_refused_and_a_killed_one_can_be_unlocked(study: Study, local: dict[str, str]) -> None:
    study.forget("fedavg")
    first = study.train()
    second = study.start(*SLURM, GATHERED)
    output, _ = second.communicate()
    assert second.returncode != 0
    assert "Directory cannot be locked" in output
    assert "--unlock" in output
    first.send_signal(signal.SIGKILL)
    first.wait()
    study.snakemake("--unlock")
    ends_complete(study, first, local)
