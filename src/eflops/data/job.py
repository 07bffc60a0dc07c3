"""A cell to train: what is asked of the job, which runs it has, and what each run's record follows from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from eflops.config.settings import TrainingSettings, settings_class
from eflops.data.federation import read_manifest
from eflops.errors import UserError
from eflops.files import read_json
from eflops.results import record
from eflops.results.labels import Run, data_label, ratio_value

# What a plan says of a cell besides its slice of the config.
BESIDES = ("draws", "seeds", "code")


@dataclass(frozen=True)
class Job:
    """A cell to train: its slice of the config, where its data lie, and which records to make."""

    slice: dict[str, Any]
    data: Path
    folder: Path
    runs: tuple[Run, ...]
    block_size: int

    def settings(self, variant: str) -> TrainingSettings:
        """The settings of a variant."""
        return settings_class(self.slice["method"]).model_validate(self.slice["variants"][variant])

    def data_folder(self, draw: int) -> Path:
        """The folder of a data draw."""
        return self.data / self.slice["dataset"] / data_label(self.slice["ratio"], draw)

    def identity(self, run: Run) -> record.Identity:
        """Which run this is."""
        return record.Identity(
            experiment=self.slice["experiment"],
            dataset=self.slice["dataset"],
            ratio=ratio_value(self.slice["ratio"]),
            method=self.slice["name"],
            variant=run.variant,
            draw=run.draw,
            seed=run.seed,
        )

    def origin(self, run: Run, code_hash: str, hashes: Mapping[str, str] | None = None) -> record.Origin:
        """What a run follows from, with the hashes of all modules where they are known."""
        folder = self.data_folder(run.draw)
        return record.Origin(
            settings=self.slice["variants"][run.variant],
            job={name: value for name, value in self.slice.items() if name != "variants"},
            data="/".join(folder.parts[-2:]),
            data_sha256=_data_sha256(folder),
            code=dict(hashes or {}),
            code_hash=code_hash,
        )


def planned(plan: Path, results: Path, block_size: int = 1) -> tuple[Job, str]:
    """The job that a plan's file asks for, below a results folder, and the hash of the code that it was planned for."""
    return job_of(read_json(plan), results, block_size)


def job_of(asked: Mapping[str, Any], results: Path, block_size: int = 1) -> tuple[Job, str]:
    """The same for a plan's content."""
    slice_ = {name: value for name, value in asked.items() if name not in BESIDES}
    runs = tuple(Run(*parts) for parts in product(slice_["variants"], asked["draws"], asked["seeds"]))
    folder = results / "runs" / slice_["experiment"] / slice_["ratio"] / slice_["name"]
    return Job(slice_, results / "data", folder, runs, block_size), asked["code"]


def is_current(job: Job, run: Run, code_hash: str) -> bool:
    """Whether a run's record is there and follows from the job's settings, data and code."""
    path = job.folder / run.path
    if not path.exists():
        return False
    try:
        old = record.read(path)
    except UserError:
        return False
    return record.key(old.run, old.origin) == record.key(job.identity(run), job.origin(run, code_hash))


@cache
def _data_sha256(folder: Path) -> str:
    return str(read_manifest(folder)["sha256"])
