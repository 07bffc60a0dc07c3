"""A Provenance Run Crate of the results: the workflow, its jobs (one action each), and the results."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

from eflops.config import study
from eflops.config.products import products
from eflops.errors import UserError
from eflops.files import sha256
from eflops.provenance.audit.records import read_records
from eflops.provenance.publish import publish
from eflops.results import checksums
from eflops.results.paths import SCORECARD, STUDY
from eflops.results.record import Record, versions
from eflops.results.store import RECORDS, opened

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
# A workflow whose steps are listed is also a description of how to do something.
TYPES = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
RESULTS = "results"
LICENSE = "https://spdx.org/licenses/MIT"
STEPS = {
    "data": "make a data draw",
    "train": "train all runs of a cell",
    "table": "make a table from records",
    "figure": "draw a figure from records",
    "scorecard": "compare the paper's numbers and claims with the runs",
}


@dataclass(frozen=True)
class WorkflowJob:
    """A job of the workflow: its step, name, input and output files, and end time."""

    step: str
    name: str
    read: tuple[str, ...]
    made: tuple[str, ...]
    ended: str | None = None


def make_crate(results: Path, out: Path, project: Path = Path()) -> int:
    """Write the crate of a results folder (or of a published one) to `out`, a new folder; returns the number of
    files."""
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
    parts = [project / name for name in (*PROJECT, *PROJECT_TEXTS)]
    files = [path for part in parts for path in ([part] if part.is_file() else sorted(part.rglob("*")))]
    return [path.relative_to(project) for path in files if path.is_file() and "__pycache__" not in path.parts]


def _stage_results(results: Path, target: Path) -> None:
    if (results / RECORDS).exists():
        checksums.refuse_links_out(results)
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
        raise UserError(f"{damaged[0]}; a crate is made from valid results only.")
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
    crate.root_dataset["conformsTo"] = [
        _entity(crate, url, "CreativeWork", name=name, version=url.rpartition("/")[2]) for url, name in PROFILES.items()
    ]
    _add_actions(crate, workflow, records, staged / RESULTS)
    return crate


def _add_actions(crate: ROCrate, workflow: Entity, records: Mapping[str, Record], results: Path) -> None:
    """Add the tools, the steps, one action per job and the action of the whole run."""
    jobs = [job for job in _jobs(records, results) if job.made]
    used = [step for step in STEPS if any(job.step == step for job in jobs)]
    tools = {step: _tool(crate, f"#tool-{step}", f"eflops {step}", STEPS[step]) for step in used}
    steps = {step: _step(crate, position, step, tools[step]) for position, step in enumerate(used, 1)}
    workflow["hasPart"], workflow["step"] = list(tools.values()), list(steps.values())
    controls = [_add_job(crate, job, tools, steps) for job in jobs]
    ended = sorted(job.ended for job in jobs if job.ended)
    run = _entity(
        crate,
        "#run",
        "CreateAction",
        name="The run of the whole workflow",
        instrument=workflow,
        object=_files(crate, [STUDY]),
        result=_files(crate, (file for job in jobs for file in job.made)),
        actionStatus="http://schema.org/CompletedActionStatus",
        **({"startTime": ended[0], "endTime": ended[-1]} if ended else {}),
    )
    crate.root_dataset["mentions"] = [run]
    engine = _tool(crate, "#snakemake", "Snakemake", "the workflow engine", versions()["snakemake"])
    _entity(crate, "#organize", "OrganizeAction", name="Snakemake", instrument=engine, object=controls, result=run)


def _jobs(records: Mapping[str, Record], results: Path) -> Iterator[WorkflowJob]:
    """The jobs recorded in the results."""
    config = study.read_study(results).config
    for manifest in sorted((results / "data").glob("*/*/manifest.json")):
        name = manifest.relative_to(results).as_posix()
        yield WorkflowJob("data", name.removesuffix("/manifest.json"), (STUDY,), (name,))
    cells: dict[str, list[Record]] = {}
    for path, record in records.items():
        cells.setdefault(path.rsplit("/", 2)[0], []).append(record)
    for cell, members in cells.items():
        read = tuple(dict.fromkeys(f"data/{record.origin.data}/manifest.json" for record in members))
        yield WorkflowJob("train", cell, read, (RECORDS,), max(record.circumstances.finished_at for record in members))
    for product in products(config):
        made = tuple(file for file in product.files if (results / file).exists())
        yield WorkflowJob(product.kind, product.name, (RECORDS,), made)
    if (results / SCORECARD).exists():
        yield WorkflowJob("scorecard", "scorecard", (RECORDS,), (SCORECARD,))


def _add_job(crate: ROCrate, job: WorkflowJob, tools: Mapping[str, Entity], steps: Mapping[str, Entity]) -> Entity:
    """The action of a job, and the engine's action that started it."""
    name = f"{job.step}-{job.name}".replace(" ", "-").replace("/", "-")
    action = _entity(
        crate,
        f"#job-{name}",
        "CreateAction",
        name=f"{STEPS[job.step]}: {job.name}",
        instrument=tools[job.step],
        object=_files(crate, job.read),
        result=_files(crate, job.made),
        **({"endTime": job.ended} if job.ended else {}),
    )
    return _entity(
        crate, f"#start-{name}", "ControlAction", name=f"start {job.name}", instrument=steps[job.step], object=action
    )


def _tool(crate: ROCrate, name: str, title: str, what: str, version: str | None = None) -> Entity:
    stated = {"softwareVersion": version} if version else {}
    return _entity(crate, name, "SoftwareApplication", name=title, description=what, **stated)


def _step(crate: ROCrate, position: int, step: str, tool: Entity) -> Entity:
    return _entity(
        crate, f"{crate.mainEntity.id}#{step}", "HowToStep", name=STEPS[step], position=str(position), workExample=tool
    )


def _files(crate: ROCrate, paths: Iterable[str]) -> list[Entity]:
    """The entities of results that the crate holds."""
    entities = (crate.dereference(f"{RESULTS}/{path}") for path in dict.fromkeys(paths))
    return [entity for entity in entities if entity is not None]


def _entity(crate: ROCrate, address: str, kind: str, **properties: object) -> Entity:
    """A contextual entity of the crate; links are set after adding it, as the library requires."""
    entity = crate.add(ContextEntity(crate, address, properties={"@type": kind}))
    for key, value in properties.items():
        entity[key] = value
    return entity
