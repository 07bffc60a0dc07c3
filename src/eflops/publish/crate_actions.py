"""What was run, as the actions of a Provenance Run Crate: the whole workflow, and one action per job."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from eflops.analysis.needs import SCORECARD
from eflops.config.products import products
from eflops.results import study
from eflops.results.store import RECORDS
from eflops.training.record import Record, versions

STEPS = {
    "data": "make a data draw",
    "train": "train all runs of a cell",
    "table": "make a table from records",
    "figure": "draw a figure from records",
    "scorecard": "judge the paper's numbers and claims",
}


@dataclass(frozen=True)
class Job:
    """A job of the workflow: which step, its name, the files it read and made, and when it ended."""

    step: str
    name: str
    read: tuple[str, ...]
    made: tuple[str, ...]
    ended: str | None = None


def add_actions(crate: ROCrate, workflow: Any, records: Mapping[str, Record], staged: Path, results: str) -> None:
    """Add the tools, the steps, one action per job and the action of the whole run."""
    jobs = [job for job in _jobs(records, staged / results) if job.made]
    used = [step for step in STEPS if any(job.step == step for job in jobs)]
    tools = {step: _tool(crate, f"#tool-{step}", f"eflops {step}", STEPS[step]) for step in used}
    steps = {step: _step(crate, place, step, tools[step]) for place, step in enumerate(used, 1)}
    workflow["hasPart"], workflow["step"] = list(tools.values()), list(steps.values())
    controls = [_add_job(crate, job, tools, steps, results) for job in jobs]
    ended = sorted(job.ended for job in jobs if job.ended)
    run = _entity(
        crate,
        "#run",
        "CreateAction",
        name="The run of the whole workflow",
        instrument=workflow,
        object=_files(crate, [f"{results}/{study.NAME}"]),
        result=_files(crate, (f"{results}/{file}" for job in jobs for file in job.made)),
        actionStatus="http://schema.org/CompletedActionStatus",
        **({"startTime": ended[0], "endTime": ended[-1]} if ended else {}),
    )
    crate.root_dataset["mentions"] = [run]
    engine = _tool(crate, "#snakemake", "Snakemake", "the workflow engine", versions()["snakemake"])
    _entity(crate, "#organize", "OrganizeAction", name="Snakemake", instrument=engine, object=controls, result=run)


def _jobs(records: Mapping[str, Record], results: Path) -> Iterable[Job]:
    """The jobs that the results tell of."""
    config = study.read_study(results).config
    for manifest in sorted((results / "data").glob("*/*/manifest.json")):
        name = manifest.relative_to(results).as_posix()
        yield Job("data", name.removesuffix("/manifest.json"), (study.NAME,), (name,))
    cells: dict[str, list[Record]] = {}
    for path, record in records.items():
        cells.setdefault(path.rsplit("/", 2)[0], []).append(record)
    for cell, members in cells.items():
        read = tuple(dict.fromkeys(f"data/{record.origin.data}/manifest.json" for record in members))
        yield Job("train", cell, read, (RECORDS,), max(record.circumstances.finished_at for record in members))
    for product in products(config):
        made = tuple(file for file in product.files if (results / file).exists())
        yield Job(product.kind, product.name, (RECORDS,), made)
    if (results / SCORECARD).exists():
        yield Job("scorecard", "scorecard", (RECORDS,), (SCORECARD,))


def _add_job(crate: ROCrate, job: Job, tools: Mapping[str, Any], steps: Mapping[str, Any], results: str) -> Any:
    """The action of a job, and the engine's action that started it."""
    place = f"{job.step}-{job.name}".replace(" ", "-").replace("/", "-")
    action = _entity(
        crate,
        f"#job-{place}",
        "CreateAction",
        name=f"{STEPS[job.step]}: {job.name}",
        instrument=tools[job.step],
        object=_files(crate, (f"{results}/{file}" for file in job.read)),
        result=_files(crate, (f"{results}/{file}" for file in job.made)),
        **({"endTime": job.ended} if job.ended else {}),
    )
    return _entity(
        crate, f"#start-{place}", "ControlAction", name=f"start {job.name}", instrument=steps[job.step], object=action
    )


def _tool(crate: ROCrate, name: str, title: str, what: str, version: str | None = None) -> Any:
    stated = {"softwareVersion": version} if version else {}
    return _entity(crate, name, "SoftwareApplication", name=title, description=what, **stated)


def _step(crate: ROCrate, place: int, step: str, tool: Any) -> Any:
    return _entity(
        crate, f"{crate.mainEntity.id}#{step}", "HowToStep", name=STEPS[step], position=str(place), workExample=tool
    )


def _files(crate: ROCrate, paths: Iterable[str]) -> list[Any]:
    """The entities of files that the crate holds."""
    found = (crate.dereference(path) for path in dict.fromkeys(paths))
    return [entity for entity in found if entity is not None]


def _entity(crate: ROCrate, address: str, kind: str, **properties: Any) -> Any:
    """A contextual entity of the crate; links are set after it is added, as the library asks."""
    entity = crate.add(ContextEntity(crate, address, properties={"@type": kind}))
    for key, value in properties.items():
        entity[key] = value
    return entity
