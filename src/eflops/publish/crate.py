"""A Provenance Run Crate of the results: the workflow, what it ran and what came out, to be checked anywhere."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from eflops.audit.records import read_records
from eflops.errors import UserError
from eflops.files import sha256
from eflops.publish.crate_actions import add_actions
from eflops.publish.publish import publish
from eflops.results import checksums
from eflops.results.store import RECORDS, opened
from eflops.training.record import versions

# The profiles are versions of their own, made for RO-Crate 1.1.
VERSION = "1.1"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
WORKFLOW = "Snakefile"
PROJECT = (WORKFLOW, "config.yaml", "config", "workflow", "profiles", "envs", "src", "resources", "pyproject.toml")
PROJECT_TEXTS = ("requirements.lock", "Makefile", "LICENSE", "CITATION.cff", "README.md")
# A workflow whose steps are told is also a description of how to do something.
TYPES = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
RESULTS = "results"
LICENSE = "https://spdx.org/licenses/MIT"


def make_crate(results: Path, out: Path, project: Path = Path()) -> int:
    """Write the crate of a results folder (or of a published one) to `out`, a new folder; how many files it holds."""
    if not (project / WORKFLOW).exists():
        raise UserError(f"{project.resolve()}: there is no {WORKFLOW} here; run this in the project's folder.")
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out}: this folder is not empty; name a new one.")
    with tempfile.TemporaryDirectory(prefix="eflops-crate-") as temporary:
        staged = Path(temporary)
        _stage_project(project, staged)
        _stage_results(results, staged / RESULTS)
        crate = _described(staged)
        crate.write(out)
    checksums.write(out)
    return len(checksums.files(out))


def _stage_project(project: Path, staged: Path) -> None:
    """Copy the workflow and its code; in a checkout only what is tracked."""
    for path in _project_files(project):
        target = staged / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(project / path, target)


def _project_files(project: Path) -> list[Path]:
    tracked = subprocess.run(["git", "ls-files", "-z", *PROJECT, *PROJECT_TEXTS], cwd=project, capture_output=True)
    if tracked.returncode == 0 and tracked.stdout:
        return [Path(name) for name in tracked.stdout.decode().split("\0") if name and (project / name).is_file()]
    found = [project / name for name in (*PROJECT, *PROJECT_TEXTS)]
    files = [path for place in found for path in ([place] if place.is_file() else sorted(place.rglob("*")))]
    return [path.relative_to(project) for path in files if path.is_file() and "__pycache__" not in path.parts]


def _stage_results(results: Path, target: Path) -> None:
    if (results / RECORDS).exists():
        shutil.copytree(results, target)
    else:
        publish(results, target)


def _described(staged: Path) -> ROCrate:
    """The crate of a staged folder, with everything that was run."""
    crate = ROCrate(version=VERSION)
    crate.metadata.extra_terms.update(TERMS)
    with opened(staged / RESULTS) as store:
        records, damaged = read_records(store, store.record_paths())
    if damaged:
        raise UserError(f"{damaged[0]}; a crate is made of sound results only.")
    finished = sorted(record.circumstances.finished_at for record in records.values())
    crate.name = "E-FLoPS reproduced: workflow, runs and results"
    crate.description = "Tables, figures, scorecard and all run records, with the workflow and the code that made them."
    crate.license = LICENSE
    crate.datePublished = finished[-1] if finished else "1970-01-01"
    for path in checksums.files(staged):
        if path != WORKFLOW:
            crate.add_file(staged / path, path, properties={"sha256": sha256(staged / path)})
    workflow = crate.add_workflow(
        staged / WORKFLOW,
        WORKFLOW,
        properties={"@type": TYPES, "name": "The E-FLoPS paper from raw data to scorecard"},
        main=True,
        lang="snakemake",
        lang_version=versions()["snakemake"],
    )
    _add_profiles(crate)
    add_actions(crate, workflow, records, staged, RESULTS)
    return crate


def _add_profiles(crate: ROCrate) -> None:
    entities = [
        crate.add(
            ContextEntity(
                crate, url, properties={"@type": "CreativeWork", "name": name, "version": url.rpartition("/")[2]}
            )
        )
        for url, name in PROFILES.items()
    ]
    crate.root_dataset["conformsTo"] = entities
