"""A cell to train: its spec, the paths of its data and records, and the origin of each run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from eflops.code import combined
from eflops.config.cell import CellSpec
from eflops.data.federation import read_manifest
from eflops.errors import UserError
from eflops.results import record
from eflops.results.labels import DATA, RUNS, Run, data_label


@dataclass(frozen=True)
class Job:
    """A cell to train: its spec, the folder of all data, the folder of its records, and which runs to make.

    block_size: the largest number of runs in a batch.
    """

    spec: CellSpec
    data: Path
    folder: Path
    runs: tuple[Run, ...]
    block_size: int = 1

    def data_folder(self, draw: int) -> Path:
        """The folder of a data draw."""
        return self.data / self.spec.dataset / data_label(self.spec.ratio, draw)

    def origin(self, run: Run, hashes: Mapping[str, str] | None = None) -> record.Origin:
        """The origin of a run, with the given hashes of all modules, or with the spec's hash of the code."""
        folder = self.data_folder(run.draw)
        return record.Origin(
            settings=self.spec.variants[run.variant].model_dump(mode="json"),
            job=self.spec.cell,
            data="/".join(folder.parts[-2:]),
            data_sha256=_data_sha256(folder),
            code=dict(hashes or {}),
            code_hash=combined(dict(hashes)) if hashes else self.spec.code,
        )

    def is_current(self, run: Run, hashes: Mapping[str, str]) -> bool:
        """Whether a run's record exists and matches the job's settings, data and code."""
        path = self.folder / run.path
        if not path.exists():
            return False
        try:
            old = record.read(path)
        # A damaged record is as good as none: its run is trained again instead of stopping the job.
        except UserError:
            return False
        return record.key(old.run, old.origin) == record.key(self.spec.identity(run), self.origin(run, hashes))


def read_spec(file: Path) -> CellSpec:
    """The spec in a job's file."""
    try:
        return CellSpec.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{file}: there is no such spec of a training job; run snakemake again.") from None
    except (ValidationError, ValueError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise UserError(f"{file}: this is not the spec of a training job ({reason}); run snakemake again.") from None


def job_of(spec: CellSpec, results: Path, block_size: int = 1) -> Job:
    """The job of a spec below a results folder."""
    return Job(spec, results / DATA, results / RUNS / spec.folder, tuple(spec.runs), block_size)


@cache
def _data_sha256(folder: Path) -> str:
    return str(read_manifest(folder)["sha256"])
