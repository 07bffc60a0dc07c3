"""What is asked of each training job, as a small file under the results: the cell's slice of the config and its runs.

A file is written only when its content changes, so that an edit elsewhere in the config trains nothing again.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eflops.code import code_hash, training_roots
from eflops.config.models import Config
from eflops.config.plan import all_plans, job_slice
from eflops.files import read_json, sha256_bytes, write_text
from eflops.results import paths
from eflops.training.job import Job, job_of


@dataclass(frozen=True)
class Slice:
    """One training job: where its plan, its manifest and its records lie below the results, and the plan's digest."""

    plan: str
    cell: str
    runs: str
    digest: str


def write_slices(config: Config, results: Path) -> dict[str, Slice]:
    """Write the plans of all training jobs, by the paths of their manifests, and forget manifests that no longer hold.

    A manifest that lists a record which is gone is removed, so that Snakemake trains its cell again.
    """
    slices = {}
    for slice_, asked in _slices(config):
        write_if_changed(results / slice_.plan, _text(asked))
        manifest = results / slice_.cell
        if manifest.exists() and not _is_whole(manifest, results / slice_.runs):
            manifest.unlink()
        slices[slice_.cell] = slice_
    return slices


def write_if_changed(file: Path, text: str) -> None:
    """Write a text unless it stands there already, so that the file's date says when it changed."""
    if not file.exists() or file.read_bytes() != text.encode():
        write_text(file, text)


def planned_jobs(config: Config, results: Path) -> Iterator[tuple[Job, str]]:
    """All training jobs of a config below a results folder, each with the hash of the code that it is planned for."""
    for _, asked in _slices(config):
        yield job_of(asked, results)


def _slices(config: Config) -> Iterator[tuple[Slice, dict[str, Any]]]:
    for plan in all_plans(config):
        model = config.datasets[plan.dataset].model
        for method in plan.methods:
            code = code_hash(*training_roots(config.methods[method].method, model, config.engine))
            for ratio in plan.ratios:
                job = job_slice(config, plan.name, ratio, method)
                for part, seeds in plan.parts(config.seeds_per_job):
                    asked = {**job, "draws": list(plan.draws), "seeds": list(seeds), "code": code}
                    names = {"experiment": plan.name, "ratio": ratio, "method": method, "part": part}
                    plan_, cell, runs = (each.format(**names) for each in (paths.PLAN, paths.CELL, paths.RUNS))
                    yield Slice(plan_, cell, runs, sha256_bytes(_text(asked).encode())[:16]), asked


def _text(asked: dict[str, Any]) -> str:
    return json.dumps(asked, indent=1) + "\n"


def _is_whole(manifest: Path, folder: Path) -> bool:
    """Whether every record that a manifest lists is there."""
    try:
        return all((folder / path).exists() for path in read_json(manifest)["records"])
    except (ValueError, KeyError, TypeError):
        return False
