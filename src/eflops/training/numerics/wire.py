"""The bytes of messages: frames, each of one or more vectors on one support.

Layout of a frame, little-endian:

    magic "EFLW" | version u8 | flags u8 | size u32 | kept u32 [ungated u32]
    numbers, each f32 [indices, kept x u8/u16/u32] vectors, each kept x f32 [ungated values, ungated x f32]
    CRC32 u32

Fields in brackets are present if their flag is set. Indices have the smallest width that holds size - 1. Sender and
receiver agree on the layout: how many vectors and numbers a frame has, and their names. The CRC covers everything
before it, the layout, and the indices even if they are not sent. So a receiver with a different layout or support gets
an error instead of values at wrong indices.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Tells bytes of something else from a damaged message, before any length is read.
MAGIC = b"EFLW"
VERSION = 2
LARGEST_SIZE = 2**32 - 1

DENSE, IMPLICIT, UNGATED = 1, 2, 4
_ALL_FLAGS = DENSE | IMPLICIT | UNGATED

_HEADER = struct.Struct("<4sBBII")
_FLOAT = struct.Struct("<f")
_COUNT = struct.Struct("<I")
_CRC = struct.Struct("<I")
_VALUE = np.dtype("<f4")


class WireError(ValueError):
    """Invalid bytes of a message, or a message that cannot be encoded."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Vectors on one support, and numbers beside them.

    size: length of the whole vectors.
    indices: [kept] strictly increasing int64 positions of the values; None means dense (kept = size).
    vectors: one or more, each [kept] float32.
    numbers: rounded to float32.
    implicit: the receiver knows the indices already, so they are not sent.
    ungated: [count] float32, values of the first vector behind `size` that are always sent, or None.
    """

    size: int
    indices: np.ndarray | None
    vectors: Sequence[np.ndarray]
    numbers: Sequence[float] = ()
    implicit: bool = False
    ungated: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.size <= LARGEST_SIZE:
            raise WireError(f"message size is {self.size}; it must be between 1 and {LARGEST_SIZE}")
        if self.indices is None and self.implicit:
            raise WireError("a dense message has no indices to leave out; implicit must be False")
        if not self.vectors:
            raise WireError("a frame has no vectors; it must have at least one")
        kept = self.size if self.indices is None else _checked_indices(self.indices, self.size).size
        for vector in self.vectors:
            _check_floats("values", vector, kept)
        if self.ungated is not None:
            _check_floats("ungated values", self.ungated, max(1, self.ungated.size))
        # When the frame is made, so that the sender holds the numbers that the receiver gets.
        object.__setattr__(self, "numbers", tuple(_rounded(number) for number in self.numbers))


def encode(frame: Frame, layout: bytes = b"") -> bytes:
    """The frame as bytes; `decode` is the exact inverse, NaN payloads of the arrays included."""
    dense, ungated = frame.indices is None, frame.ungated
    flags = DENSE * dense | IMPLICIT * frame.implicit | UNGATED * (ungated is not None)
    parts = [_HEADER.pack(MAGIC, VERSION, flags, frame.size, frame.vectors[0].size)]
    if ungated is not None:
        parts.append(_COUNT.pack(ungated.size))
    parts += [_FLOAT.pack(number) for number in frame.numbers]
    # Indices that are not sent are still in the checksum, so that another support is an error.
    indices = b"" if frame.indices is None else _index_bytes(frame.indices, frame.size)
    if not frame.implicit:
        parts.append(indices)
    parts += [array.astype(_VALUE).tobytes() for array in (*frame.vectors, ungated) if array is not None]
    body = b"".join(parts)
    return body + _CRC.pack(_checksum(body, layout, indices if frame.implicit else b""))


def decode(
    data: bytes, vectors: int = 1, numbers: int = 0, layout: bytes = b"", support: np.ndarray | None = None
) -> tuple[Frame, int]:
    """The frame at the start of `data`, and how many bytes it takes.

    vectors, numbers: how many the agreed layout has. support: [kept] the indices of an implicit frame.
    """
    flags, size, kept, count = _read_header(data)
    implicit, dense = bool(flags & IMPLICIT), bool(flags & DENSE)
    length = encoded_size(size, kept, vectors, numbers, dense=dense, implicit=implicit, ungated=count)
    # A header may claim any size, so it is compared with the bytes at hand before arrays are made.
    if len(data) < length:
        raise WireError(f"by its header the message has {length} bytes; these are {len(data)}")
    unsent = _support_bytes(support, size, kept) if implicit else b""
    body, (checksum,) = data[: length - _CRC.size], _CRC.unpack_from(data, length - _CRC.size)
    if checksum != _checksum(body, layout, unsent):
        cause = "they were damaged, or the sender used another layout or support" if implicit else "they were damaged"
        raise WireError(f"the checksum of the message bytes does not match: {cause}")
    reader = _Reader(body, _HEADER.size + (_COUNT.size if count else 0))
    scalars = [reader.scalar() for _ in range(numbers)]
    indices = None
    if implicit:
        indices = np.frombuffer(unsent, _index_type(size)).astype(np.int64)
    elif not dense:
        indices = reader.array(_index_type(size), kept).astype(np.int64)
    values = [reader.array(_VALUE, kept).astype(np.float32) for _ in range(vectors)]
    ungated = reader.array(_VALUE, count).astype(np.float32) if count else None
    return Frame(size, indices, values, scalars, implicit, ungated), length


def encoded_size(
    size: int,
    kept: int,
    vectors: int = 1,
    numbers: int = 0,
    *,
    dense: bool = False,
    implicit: bool = False,
    ungated: int = 0,
) -> int:
    """len(encode(...)) of any frame of that shape; a dense one has kept = size."""
    index_width = 0 if dense or implicit else _index_type(size).itemsize
    header = _HEADER.size + (_COUNT.size if ungated else 0)
    return header + _FLOAT.size * (numbers + ungated) + kept * (index_width + _FLOAT.size * vectors) + _CRC.size


def paper_bytes(values: int) -> int:
    """The bytes of so many values by the paper's formula: 4 bytes per value and no indices.

    FedAvg sends |theta| values a message, Fed-IHT rho |theta|, and E-FLoPS, with a gate beside each, 2 rho |theta|.
    """
    return 4 * values


class _Reader:
    """Reads one field after another from bytes, with length checks."""

    def __init__(self, data: bytes, offset: int) -> None:
        self._data = data
        self._offset = offset

    def scalar(self) -> float:
        (value,) = _FLOAT.unpack_from(self._data, self._offset)
        self._offset += _FLOAT.size
        return float(value)

    def array(self, dtype: np.dtype, count: int) -> np.ndarray:
        array = np.frombuffer(self._data, dtype, count, self._offset)
        self._offset += array.nbytes
        return array


def _read_header(data: bytes) -> tuple[int, int, int, int]:
    """Flags, size, kept and the count of ungated values."""
    if len(data) < _HEADER.size + _CRC.size:
        raise WireError(f"a message has at least {_HEADER.size + _CRC.size} bytes; these are {len(data)}")
    magic, version, flags, size, kept = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise WireError(f"a message begins with {MAGIC!r}; but these bytes begin with {magic!r}")
    if version != VERSION:
        raise WireError(f"the message has version {version}; but this program reads version {VERSION}")
    # An unknown flag may stand for another layout.
    if flags & ~_ALL_FLAGS or (flags & DENSE and flags & IMPLICIT):
        raise WireError(f"the message has flags {flags:#04x}, which no sender sets")
    if kept > size or (flags & DENSE and kept != size):
        raise WireError(f"the message claims {kept} values for {size} parameters")
    ungated = _COUNT.unpack_from(data, _HEADER.size)[0] if flags & UNGATED else 0
    if flags & UNGATED and not ungated:
        raise WireError("the message claims ungated values but has none")
    return flags, size, kept, ungated


def _support_bytes(support: np.ndarray | None, size: int, kept: int) -> bytes:
    if support is None:
        raise WireError("the message leaves its indices out; decode it with the support they stand for")
    if _checked_indices(support, size).size != kept:
        raise WireError(f"the message has {kept} values, but the support has {support.size} indices")
    return _index_bytes(support, size)


def _checked_indices(indices: np.ndarray, size: int) -> np.ndarray:
    if indices.dtype != np.int64 or indices.ndim != 1:
        raise WireError(f"indices are {indices.dtype} of shape {indices.shape}; they must be a vector of int64")
    # Strictly increasing: a support then has one encoding, so that checksums over indices can be compared.
    if indices.size and not (indices[0] >= 0 and indices[-1] < size and np.all(indices[1:] > indices[:-1])):
        raise WireError(f"indices must increase strictly and lie between 0 and {size - 1}")
    return indices


def _check_floats(name: str, array: np.ndarray, kept: int) -> None:
    if array.dtype != np.float32 or array.shape != (kept,):
        raise WireError(f"{name} are {array.dtype} of shape {array.shape}; they must be float32 of shape ({kept},)")


def _rounded(value: float) -> float:
    try:
        (rounded,) = _FLOAT.unpack(_FLOAT.pack(value))
    except OverflowError:
        raise WireError(f"a number of the message is {value}; it must fit in float32") from None
    return float(rounded)


def _index_type(size: int) -> np.dtype:
    """The smallest unsigned type that holds the largest index, size - 1."""
    if size <= 2**8:
        return np.dtype("<u1")
    return np.dtype("<u2") if size <= 2**16 else np.dtype("<u4")


def _index_bytes(indices: np.ndarray, size: int) -> bytes:
    return indices.astype(_index_type(size)).tobytes()


def _checksum(body: bytes, layout: bytes, unsent: bytes) -> int:
    return zlib.crc32(unsent, zlib.crc32(layout, zlib.crc32(body)))
