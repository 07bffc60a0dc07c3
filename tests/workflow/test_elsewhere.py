"""The workflow outside its own folder: by --directory, as a module of another workflow, and deployed by snakedeploy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from own_environment import python_with
from workflow.conftest import MINI, ROOT, Study

pytestmark = pytest.mark.workflow

TABLE = "results/tables/support_recovery.csv"
# One of the small study's eight cells: each costs seconds.
PART = MINI.replace("ratios: [0.64, 1.0], methods: [eflops, flops, fediht, fedavg]", "ratios: [1.0], methods: [eflops]")
SHOWN = (b"eflops", b"best_subset", b"lasso")
AWKWARD = 'my "results" & more'
HOST = """
configfile: "config.yaml"

module eflops:
    snakefile: "{snakefile}"
    config: config

use rule * from eflops as eflops_*

rule best:
    default_target: True
    input:
        rules.eflops_table.output.csv.format(name="support_recovery"),
    output:
        "results/tables/best.txt",
    shell:
        "printenv PYTHONPATH > {{output}}; head -2 {{input:q}} >> {{output}}"
"""


def snakemake(folder: Path, *arguments: str, python: str = sys.executable) -> str:
    """Run snakemake in a folder that is not the workflow's; what it printed."""
    environment = {**os.environ, "PYTHONPATH": "given"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    command = [python, "-m", "snakemake", "--cores", "2", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def is_part_of(table: Path, study: Study) -> bool:
    """Whether the table has the lines, to the byte, that the study's own has for that cell and its references."""
    whole = (study.folder / TABLE).read_bytes().splitlines()
    part = [line for line in whole if line.startswith((b"ratio,", *(b"1.0,%s," % method for method in SHOWN)))]
    return len(part) == 1 + len(SHOWN) and table.read_bytes().splitlines() == part


def test_a_folder_of_ones_own_with_an_awkward_name_gives_the_same_bytes(finished: Study, tmp_path: Path) -> None:
    folder = tmp_path / AWKWARD
    folder.mkdir()
    (folder / "config.yaml").write_text(PART.replace("results: results", f"results: '{AWKWARD}'"))
    made = folder / AWKWARD / "tables/support_recovery.csv"
    # A clone's environment lies in the clone, so its Python has the awkward name in its path as well.
    environment = folder / "environment"
    environment.symlink_to(sys.prefix)
    target = str(made.relative_to(folder))
    where = ("--snakefile", str(finished.folder / "Snakefile"), "--directory", str(folder))
    snakemake(tmp_path, *where, target, python=str(environment / "bin/python"))
    assert is_part_of(made, finished)


def test_as_a_module_it_gives_the_same_bytes_and_leaves_the_hosts_rules_alone(finished: Study, tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(HOST.format(snakefile=finished.folder / "Snakefile"))
    (tmp_path / "config.yaml").write_text(PART)
    snakemake(tmp_path, "results/tables/best.txt")
    assert is_part_of(tmp_path / TABLE, finished)
    assert (tmp_path / "results/tables/best.txt").read_text().startswith("given\n")


@pytest.mark.slow
def test_deployed_by_snakedeploy_it_plans_and_runs(finished: Study, tmp_path: Path) -> None:
    clone, deployed = tmp_path / "clone", tmp_path / "deployed"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    branch = subprocess.run(
        ["git", "-C", str(clone), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    tool = python_with("snakedeploy", "snakedeploy==0.17.1").parent / "snakedeploy"
    words = [str(tool), "deploy-workflow", str(clone), str(deployed), "--commit", branch, "--name", "eflops"]
    subprocess.run(words, check=True, capture_output=True)
    snakefile = deployed / "workflow/Snakefile"
    # Of a folder that is no host of repositories snakedeploy keeps only the path inside of it.
    text = snakefile.read_text()
    assert text.count('"workflow/Snakefile"') == 1
    snakefile.write_text(text.replace('"workflow/Snakefile"', f'"{clone}/workflow/Snakefile"'))
    (deployed / "config/config.yaml").write_text(PART)
    snakemake(deployed, TABLE)
    assert is_part_of(deployed / TABLE, finished)
