"""Read and write files: atomic, hashed, without pickle.

A file is written next to its target under a temporary name, flushed to disk and then renamed over the target, so a
killed job leaves either the old file or the new one, never a part.
"""

import hashlib
import io
import json
import os
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

PROJECT = Path(__file__).resolve().parents[2]


def locate(path: str | Path) -> Path | None:
    """The path of a file that the config names: in the working folder, else next to the Snakefile; None if it does not
    exist.

    A device or a pipe is no such file: reading it may never end.
    """
    return next((file for file in (Path(path), PROJECT / path) if file.is_file()), None)


def below(path: str) -> str:
    """The path, if it stays below its folder; else an error."""
    if PurePosixPath(path).is_absolute() or not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise ValueError(f"{path!r} leads out of its folder")
    return path


def sha256_bytes(data: bytes) -> str:
    """The sha256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sha256(path: Path) -> str:
    """The sha256 of a file's bytes in hexadecimal."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def canonical_json(value: object) -> str:
    """Canonical JSON text: sorted keys, no spaces, and no NaN or infinity."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path` atomically; missing parent folders are created."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            # Before the rename, which could otherwise reach the disk before the content does.
            os.fsync(stream.fileno())
        # mkstemp lets only the owner read, and others may use the results too.
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` atomically in UTF-8."""
    write_bytes(path, text.encode())


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON with sorted keys; NaN and infinity are rejected."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n")


def write_npz(path: Path, arrays: Mapping[str, np.ndarray], compress: bool = False) -> None:
    """Write named arrays as an .npz; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    (np.savez_compressed if compress else np.savez)(buffer, allow_pickle=False, **dict(arrays))
    write_bytes(path, buffer.getvalue())


def read_json(path: Path) -> Any:
    """The value of a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a .npz file; pickled content is rejected."""
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def inflate(data: bytes) -> bytes:
    """The content of gzip or zlib data; a ValueError if it is too large for memory, as a small malicious file may
    be."""
    # 32 more than the window: the header says whether it is gzip or zlib.
    stream = zlib.decompressobj(zlib.MAX_WBITS | 32)
    content = stream.decompress(data, most_unpacked())
    if not stream.eof or stream.unused_data:
        raise ValueError(f"it is truncated, has trailing bytes, or unpacks to more than {most_unpacked():,} bytes")
    return content


def most_unpacked() -> int:
    """The largest content that may be unpacked from a file, in bytes: a quarter of the machine's memory."""
    return machine_bytes() // 4


def machine_bytes() -> int:
    """The memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
