"""The common form of all data sets: clients with a block of rows each, a test block, and the truth if known.

On disk a federation is a folder of two files. `federation.npz` holds the arrays and `manifest.json`, written last,
names them with their hashes. Neither contains a time stamp, so equal settings give equal bytes. Arrays that several
federations share, such as the test features of all N/d of a draw, may be in one file that their manifests name. The
sha256 of the data is that of the arrays, wherever they are stored.
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np

from eflops.config.data import DataSettings
from eflops.errors import UserError
from eflops.files import canonical_json, most_unpacked, sha256_bytes, write_json, write_npz

SCHEMA = 1
ARRAYS = "federation.npz"
MANIFEST = "manifest.json"
_VERSIONED = ("numpy", "scipy")


class Target(TypedDict):
    """A numeric target: its column, and the mean and deviation that standardised it."""

    name: str
    centre: float
    spread: float


class Facts(TypedDict, total=False):
    """Facts about the data besides the arrays, for models and tables; a builder may add more."""

    task: Literal["regression", "classification"]
    classes: int | None
    class_names: list[str]
    target: Target
    intercept: bool
    rows: int
    sigma: float
    label_counts: list[list[int]]
    client_ids: list[int]
    client_names: list[str]
    client_samples: list[list[str]]
    test_samples: list[str]
    centre: list[float] | None
    spread: list[float] | None


def unit_of(facts: Facts) -> float | None:
    """The deviation that numeric targets were divided by; None if they were not."""
    return facts["target"]["spread"] if "target" in facts else None


@dataclass(frozen=True)
class Block:
    """The rows of one client, or the test rows.

    Args:
        x: [rows, ...] float32, one row of features or one image each.
        y: [rows], float32 numbers or int64 classes from 0 on.
    """

    x: np.ndarray
    y: np.ndarray

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"a block has {len(self.x)} rows of x and {len(self.y)} of y")

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: np.ndarray | slice) -> "Block":
        return Block(self.x[rows], self.y[rows])


@dataclass(frozen=True)
class Federation:
    """A data draw: what every data set builder returns and every engine trains on.

    Args:
        clients: one block per client, in the order of their numbers.
        test: the common test rows, which only the server evaluates.
        truth: arrays by name; "support" has the indices of the true features, [features] int64, if they are known.
        meta: facts as JSON values: "task", for classes also "classes", and whatever a builder adds.
            "client_ids" is set only if some clients were left out; otherwise clients are numbered from 0.

    Example of a builder, named as `kind: module:build` in the config:

        def build(settings, ratio, seed, raw=None):
            x = numpy_generator(seed, "mine").standard_normal((40, 10)).astype(np.float32)
            clients = (Block(x[:15], x[:15, 0].copy()), Block(x[15:30], x[15:30, 0].copy()))
            truth = {"support": np.array([0], dtype=np.int64)}
            return Federation(clients, Block(x[30:], x[30:, 0].copy()), truth, {"task": "regression"})
    """

    clients: tuple[Block, ...]
    test: Block
    truth: dict[str, np.ndarray] = field(default_factory=dict)
    meta: Facts = field(default_factory=Facts)

    @property
    def counts(self) -> np.ndarray:
        """Rows of each client: [clients] int64."""
        return np.array([len(block) for block in self.clients], dtype=np.int64)

    @property
    def client_ids(self) -> tuple[int, ...]:
        return tuple(self.meta.get("client_ids", range(len(self.clients))))

    def pooled(self) -> "Federation":
        """The centralized federation: one client with every row, in client order and with the clients' shifts."""
        whole = Block(
            np.concatenate([block.x for block in self.clients]),
            np.concatenate([block.y for block in self.clients]),
        )
        meta = self.meta.copy()
        meta.pop("client_ids", None)
        return replace(self, clients=(whole,), meta=meta)

    def subset(self, ids: Iterable[int], with_test: bool = True) -> "Federation":
        """Only the named clients, with their numbers: for a node that may see only its own rows."""
        wanted = tuple(ids)
        missing = sorted(set(wanted) - set(self.client_ids))
        if missing:
            raise UserError(f"client {missing[0]} is not in this federation: it has {list(self.client_ids)}")
        blocks = tuple(self.clients[self.client_ids.index(i)] for i in wanted)
        test = self.test if with_test else self.test.take(slice(0, 0))
        return replace(self, clients=blocks, test=test, meta={**self.meta, "client_ids": list(wanted)})


def save(federation: Federation, folder: Path, settings: DataSettings, shared: Path | None = None) -> None:
    """Write the arrays and then the manifest, each atomically.

    settings: the settings that the federation was built from. shared: an .npz file next to the folder with arrays
    that are not stored again, such as `test_x`.
    """
    arrays = _to_arrays(federation)
    elsewhere = _names_in(shared) & arrays.keys() if shared else set()
    # Images have few different values and become a tenth; measured features would hardly shrink.
    images = federation.test.x.ndim > 2
    write_npz(folder / ARRAYS, {name: array for name, array in arrays.items() if name not in elsewhere}, images)
    # The manifest comes last: a draw whose job was killed has none, so that it is due.
    described = _describe(arrays)
    manifest = {
        "schema": SCHEMA,
        "settings": dict(settings),
        "meta": federation.meta,
        "clients": list(federation.client_ids),
        "arrays": described,
        **({"shared": {"file": shared.name, "arrays": sorted(elsewhere)}} if shared else {}),
        "versions": {name: version(name) for name in _VERSIONED},
        "sha256": sha256_bytes(canonical_json(described).encode()),
    }
    write_json(folder / MANIFEST, {**manifest, "manifest_sha256": _own_hash(manifest)})


def load(folder: Path) -> Federation:
    """Read a federation that `save` wrote; a file with changed bytes is rejected."""
    manifest = read_manifest(folder)
    arrays = _read_arrays(folder, ARRAYS)
    if "shared" in manifest:
        # The name alone: a manifest from somebody else may not lead out of the data.
        arrays |= _read_arrays(folder.parent, Path(manifest["shared"]["file"]).name, manifest["shared"]["arrays"])
    described = _describe(arrays)
    if described != manifest["arrays"] or sha256_bytes(canonical_json(described).encode()) != manifest["sha256"]:
        raise _refusal(folder, ARRAYS, "is not the file that its manifest describes")
    federation = _from_arrays(arrays, manifest["clients"], manifest["meta"])
    if wrong := misshapen(federation):
        raise _refusal(folder, ARRAYS, f"is no federation: {wrong}")
    return federation


def misshapen(federation: Federation) -> str:
    """In words, which block compiled code would read beyond its ends or misread; empty where none is."""
    blocks = {**{f"client {i}": each for i, each in enumerate(federation.clients)}, "the test block": federation.test}
    shape, target = federation.test.x.shape[1:], federation.test.y.dtype
    for name, block in blocks.items():
        if block.x.dtype != np.float32 or block.x.shape[1:] != shape:
            have = f"{block.x.dtype} of shape {block.x.shape}"
            return f"x of {name} is {have}; it should be float32 of shape ({', '.join(map(str, ('rows', *shape)))})"
        if block.y.dtype != target or target not in (np.float32, np.int64) or block.y.ndim != 1:
            right = "float32 numbers or int64 classes of shape (rows,), of one type in all blocks"
            return f"y of {name} is {block.y.dtype} of shape {block.y.shape}; it should be {right}"
    return ""


def _read_arrays(folder: Path, name: str, only: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an .npz file; pickled content and other files are rejected."""
    data = _read_bytes(folder, name)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            if sum(entry.file_size for entry in stored.zip.infolist()) > most_unpacked():
                raise ValueError("it does not fit into memory")
            return {each: stored[each] for each in (stored.files if only is None else only)}
    except (
        ValueError,
        KeyError,
        TypeError,
        EOFError,
        OSError,
        MemoryError,
        zipfile.BadZipFile,
        zlib.error,
    ):
        raise _refusal(folder, name, "is not the file that its manifest describes") from None


def _names_in(file: Path) -> set[str]:
    """The names of the arrays in a file."""
    with np.load(file, allow_pickle=False) as stored:
        return set(stored.files)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The checked manifest: settings, meta, shapes and the sha256 that identifies the data."""
    return parse_manifest(_read_bytes(folder, MANIFEST), folder)


def parse_manifest(data: bytes | str, folder: Path) -> dict[str, Any]:
    """The checked manifest with these bytes."""
    try:
        manifest = json.loads(data)
        right = _own_hash(manifest) if isinstance(manifest, dict) else ""
    except (ValueError, RecursionError):
        raise _refusal(folder, MANIFEST, "is not readable JSON") from None
    if not right or manifest.get("manifest_sha256") != right:
        raise _refusal(folder, MANIFEST, "does not match its own checksum")
    if manifest.get("schema") != SCHEMA:
        raise _refusal(folder, MANIFEST, f"has schema {manifest.get('schema')} and not {SCHEMA}")
    # Who forged a manifest can write its hash again.
    for key, kind in (("settings", dict), ("meta", dict), ("clients", list), ("arrays", dict), ("sha256", str)):
        if not isinstance(manifest.get(key), kind):
            raise _refusal(folder, MANIFEST, f"has no {kind.__name__} {key}")
    return manifest


def _to_arrays(federation: Federation) -> dict[str, np.ndarray]:
    blocks = {f"client{i:03d}": b for i, b in zip(federation.client_ids, federation.clients, strict=True)}
    arrays = {}
    for name, block in {**blocks, "test": federation.test}.items():
        arrays[f"{name}_x"] = block.x
        arrays[f"{name}_y"] = block.y
    return arrays | {f"truth_{name}": value for name, value in federation.truth.items()}


def _from_arrays(arrays: dict[str, np.ndarray], ids: list[int], meta: Facts) -> Federation:
    def block(name: str) -> Block:
        return Block(arrays[f"{name}_x"], arrays[f"{name}_y"])

    prefix = "truth_"
    truth = {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
    return Federation(tuple(block(f"client{i:03d}") for i in ids), block("test"), truth, meta)


def _describe(arrays: dict[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """Shape, type and hash of every array."""
    return {
        name: {
            "shape": list(array.shape),
            "dtype": str(array.dtype),
            "sha256": hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).hexdigest(),
        }
        for name, array in arrays.items()
    }


def _own_hash(manifest: Mapping[str, object]) -> str:
    """The hash of everything in the manifest except this hash, so that changed settings are detected too."""
    rest = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    return sha256_bytes(canonical_json(rest).encode())


def _read_bytes(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise _refusal(folder, name, f"cannot be read ({error.strerror})") from None


def _refusal(folder: Path, name: str, what: str) -> UserError:
    remedy = f"rebuild it with: snakemake --cores 1 --force {folder / MANIFEST}"
    return UserError(f"{folder / name} {what}; {remedy}")
