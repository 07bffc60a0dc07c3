"""The run record: one JSON file per run, complete enough to explain, audit and repeat the run.

The `result` part is deterministic, and the record has its hash. Time and machine are in another part.
"""

import json
import math
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from eflops.errors import UserError
from eflops.files import below, canonical_json, sha256_bytes, write_json

PACKAGES = ("torch", "numpy", "numba", "scipy", "snakemake", "flwr")


class RecordPart(BaseModel):
    """A part of the record: unknown keys and non-finite numbers are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


# Names of folders below the results: a record from elsewhere must not lead out of them.
Folder = Annotated[str, Field(pattern=r"^[^/\\\x00-\x1f\x7f]+$"), AfterValidator(below)]


class Identity(RecordPart):
    """Which run this is."""

    experiment: Folder
    dataset: Folder
    ratio: float | None
    method: Folder
    variant: Folder
    draw: int
    seed: int


class Cell(RecordPart):
    """What the runs of one training job share besides their settings."""

    experiment: Folder
    dataset: Folder
    model: str = Field(description="a built-in model, or module:function")
    gated: list[str] | None = Field(None, description="its modules that may be gated and cut; none: all")
    # Left out where there is none, as of the paper's data, whose records stay as they were.
    intercept: bool = Field(False, exclude_if=lambda value: not value, description="never gated or cut")
    density: float
    genes_per_class: int | None = None
    keep: int | None = None
    client_fraction: float
    ratio: Folder = Field(description="the label of N/d in paths, such as nd0.64")
    name: Folder = Field(description="the method's name in the config")
    method: str = Field(description="a built-in method, or module:Class")
    options: dict[str, bool | int | float | str | None]
    pooled: bool
    engine: str
    evaluate_every: int

    def kept_weights(self, parameters: int, classes: int | None) -> int:
        """m of this cell's models."""
        return kept_weights(self.density, self.genes_per_class or self.keep, parameters, classes)

    @property
    def folder(self) -> str:
        """The folder of its records below the runs."""
        return f"{self.experiment}/{self.ratio}/{self.name}"


def kept_weights(density: float, per_class: int | None, parameters: int, classes: int | None) -> int:
    """m, the number of weights that a sparse model keeps: a share of all parameters, or a number per class."""
    if per_class:
        return min(parameters, per_class * (classes or 1))
    # 0.29 * 100 is 28.999... in binary; the small number keeps floor from losing a weight.
    return max(1, math.floor(density * parameters + 1e-9))


class Curve(RecordPart):
    """The metrics over rounds: equally long lists, None for missing numbers, such as those of gates in finetuning."""

    phase: list[str]
    round: list[int]
    metrics: dict[str, list[float | None]]


class Result(RecordPart):
    """The result of the run: the same bits in every run, on all machines that `circumstances.bits` names."""

    status: Literal["finished", "diverged"]
    diverged_round: int | None = None
    metrics: dict[str, float]
    curve: Curve
    support: list[int] = Field(description="indices of the kept gated weights; none of a run that diverged")
    weights: list[float] = Field([], description="the kept weights, in the order of support; none if too many")
    # Left out where a model has none, as of all models of the paper, whose result hashes stay as they were.
    ungated: list[float] = Field(
        [], exclude_if=lambda values: not values, description="parameters that are never cut; none if too many"
    )
    weights_sha256: str = Field(description="hash of the final parameters as little-endian float32")
    # An audit makes an array of so many, so a forged count must not fill the memory.
    parameters: int = Field(ge=0, le=2**28, description="|theta|")
    traffic: dict[str, dict[str, int]] = Field(description="bytes between server and clients, by phase")
    macs: dict[str, int] = Field(description="multiply-accumulate operations of one prediction, by layer")
    dense_macs: dict[str, int] = Field(description="the same for the dense model")
    dead_units: dict[str, int] = {}
    faults: list[str] = Field([], description="clients that failed, on a real federation")


class Origin(RecordPart):
    """What the run was computed from."""

    settings: dict[str, Any]
    job: Cell = Field(description="what the run shares with the others of its training job")
    data: Annotated[str, AfterValidator(below)] = Field(description="the data's folder, below that of all data")
    data_sha256: str
    code: dict[str, str] = Field(description="content hash of every module the run could reach")
    code_hash: str


class Circumstances(RecordPart):
    """Machine and duration, which are not part of the result."""

    commit: str
    versions: dict[str, str]
    machine: dict[str, str | int]
    wall_seconds: float
    cpu_seconds: float
    evaluation_seconds: float = Field(description="CPU seconds of those that went into test metrics")
    peak_memory_mb: float
    runs_in_batch: int
    channel: dict[str, int] = Field({}, description="payload bytes that Flower carried, on a real federation")
    bits: Literal["every machine", "this kind of machine"] = Field(
        "this kind of machine", description="where the same run has the same bits; a custom method: only here"
    )
    finished_at: str


class Record(RecordPart):
    """One run."""

    schema_version: Literal[2] = 2
    run: Identity
    origin: Origin
    result: Result
    result_sha256: str
    circumstances: Circumstances
    record_sha256: str = Field("", description="hash of all the rest; set when the record is written")


def result_hash(result: Result) -> str:
    """The sha256 of the result part."""
    return sha256_bytes(canonical_json(result.model_dump(mode="json")).encode())


def key(run: Identity, origin: Origin) -> str:
    """The inputs of a run's result: two runs with the same key have the same result."""
    # Without the hashes of single modules: their combined hash is in the origin and says the same.
    parts = {"run": run.model_dump(mode="json"), "origin": origin.model_dump(mode="json", exclude={"code"})}
    return sha256_bytes(canonical_json(parts).encode())


def write(path: Path, record: Record) -> None:
    """Check a record against its schema, and write it atomically with its hash."""
    # Validated before it is written: a record that cannot be read would make its run due again for ever.
    values = Record.model_validate(record.model_dump()).model_dump(mode="json")
    write_json(path, {**values, "record_sha256": record_hash(values)})


def record_hash(values: dict[str, object]) -> str:
    """The sha256 of everything in a record except this hash."""
    rest = {key: value for key, value in values.items() if key != "record_sha256"}
    return sha256_bytes(canonical_json(rest).encode())


def read(path: Path, hashed: bool = True) -> Record:
    """The record of a file, its schema checked, and its hashes unless `hashes` is false."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such record; make it with: snakemake all") from None
    except OSError as error:
        raise UserError(f"{path}: this record cannot be read ({error.strerror}).") from None
    return parse(data, str(path), hashed)


def parse(data: bytes, name: str, hashed: bool = True) -> Record:
    """The record that a file's bytes hold, its schema checked, and its hashes unless `hashes` is false.

    name: its name in error messages.
    """
    try:
        record = Record.model_validate_json(data)
        # The hashes are of the file's own values, so that nothing that the schema fills in can hide a change.
        values = json.loads(data) if hashed else {}
        of_result, of_record = sha256_bytes(canonical_json(values.get("result")).encode()), record_hash(values)
    except (ValidationError, ValueError, RecursionError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise UserError(f"{name}: this is not a valid run record ({first}); rebuild it.") from None
    if not hashed:
        return record
    if of_result != record.result_sha256:
        raise UserError(f"{name}: the result does not match its own hash; the file was changed after the run.")
    if of_record != record.record_sha256:
        raise UserError(f"{name}: the record does not match its own hash; the file was changed after the run.")
    return record


def finite_or_none(value: float) -> float | None:
    """The number, or None if JSON cannot hold it."""
    return value if math.isfinite(value) else None


@cache
def machine() -> dict[str, str | int]:
    """A description of this machine."""
    return {
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "python": platform.python_version(),
    }


@cache
def versions() -> dict[str, str]:
    """Versions of the packages that results depend on."""
    return {name: version(name) for name in PACKAGES if find_spec(name)}


@cache
def commit() -> str:
    """The commit of the checkout, marked if files differ from it; 'unknown' outside a checkout."""
    folder = Path(__file__).parent
    try:
        head = _git(folder, "rev-parse", "HEAD")
        return f"{head}+changes" if _git(folder, "status", "--porcelain", "--untracked-files=no") else head
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
