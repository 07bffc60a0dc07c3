"""The one message type of the federation, and its bytes.

Layout, little-endian:

    magic "EFLW" | version u8 | flags u8 | size u32 | kept u32 [ungated u32]
    [tail f32] [multiplier f32] [indices, kept x u8/u16/u32] values, kept x f32 [gates, kept x f32]
    [ungated values, ungated x f32] CRC32 u32

What stands in brackets is there if its flag is set. Indices have the smallest width that holds size - 1. The
CRC covers everything before it, and the indices even where they are not sent, so that a receiver with another
support than the sender's is told instead of getting values in the wrong places.
"""

import struct
import zlib
from dataclasses import dataclass

import numpy as np

MAGIC = b"EFLW"
VERSION = 1
LARGEST_SIZE = 2**32 - 1

DENSE, IMPLICIT, GATES, TAIL, MULTIPLIER, UNGATED = 1, 2, 4, 8, 16, 32
_ALL_FLAGS = DENSE | IMPLICIT | GATES | TAIL | MULTIPLIER | UNGATED

_HEADER = struct.Struct("<4sBBII")
_FLOAT = struct.Struct("<f")
_COUNT = struct.Struct("<I")
_CRC = struct.Struct("<I")


class WireError(ValueError):
    """Bytes that are no message, or a message that has no bytes."""


@dataclass(frozen=True, eq=False)
class Message:
    """Parameters on their way between server and client.

    size: how many parameters may be gated and cut.
    indices: [kept] strictly increasing int64 positions of the values; None means dense (kept = size).
    values: [kept] float32.
    gates: [kept] float32, or None.
    tail: average gate outside the indices, rounded to float32, or None.
    multiplier: the sender's Lagrange multiplier, rounded to float32, or None.
    implicit: the receiver knows the indices already, so they are not sent.
    ungated: [count] float32, the parameters that are never gated or cut, or None.
    """

    size: int
    indices: np.ndarray | None
    values: np.ndarray
    gates: np.ndarray | None = None
    tail: float | None = None
    multiplier: float | None = None
    implicit: bool = False
    ungated: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.size <= LARGEST_SIZE:
            raise WireError(f"message size is {self.size}; it must be between 1 and {LARGEST_SIZE}")
        if self.indices is None and self.implicit:
            raise WireError("a dense message has no indices to leave out; implicit must be False")
        kept = self.size if self.indices is None else _checked_indices(self.indices, self.size).size
        _check_floats("values", self.values, kept)
        if self.gates is not None:
            _check_floats("gates", self.gates, kept)
        if self.ungated is not None:
            _check_floats("ungated values", self.ungated, max(1, self.ungated.size))
        for name in ("tail", "multiplier"):
            object.__setattr__(self, name, _rounded(name, getattr(self, name)))


def encode(message: Message) -> bytes:
    """The message as bytes; `decode` is the exact inverse, NaN payloads of the arrays included."""
    kept = message.values.size
    parts = [_HEADER.pack(MAGIC, VERSION, _flags(message), message.size, kept)]
    if message.ungated is not None:
        parts.append(_COUNT.pack(message.ungated.size))
    parts += [_FLOAT.pack(scalar) for scalar in (message.tail, message.multiplier) if scalar is not None]
    indices = b"" if message.indices is None else _index_bytes(message.indices, message.size)
    if not message.implicit:
        parts.append(indices)
    arrays = message.values, message.gates, message.ungated
    parts += [array.astype("<f4").tobytes() for array in arrays if array is not None]
    body = b"".join(parts)
    return body + _CRC.pack(_checksum(body, indices if message.implicit else b""))


def decode(data: bytes, support: np.ndarray | None = None) -> Message:
    """The message in `data`. `support` [kept] gives the indices of an implicit message; others ignore it."""
    flags, size, kept, count = _read_header(data)
    implicit = bool(flags & IMPLICIT)
    unsent = _support_bytes(support, size, kept) if implicit else b""
    body, (checksum,) = data[: -_CRC.size], _CRC.unpack(data[-_CRC.size :])
    if checksum != _checksum(body, unsent):
        cause = "they were damaged, or the sender used another support" if implicit else "they were damaged"
        raise WireError(f"the checksum of the message bytes does not match: {cause}")
    reader = _Reader(body, _HEADER.size + (_COUNT.size if count else 0))
    tail = reader.scalar() if flags & TAIL else None
    multiplier = reader.scalar() if flags & MULTIPLIER else None
    indices = None
    if implicit:
        indices = np.frombuffer(unsent, _index_type(size)).astype(np.int64)
    elif not flags & DENSE:
        indices = reader.array(_index_type(size), kept).astype(np.int64)
    values = reader.array(np.dtype("<f4"), kept).astype(np.float32)
    gates = reader.array(np.dtype("<f4"), kept).astype(np.float32) if flags & GATES else None
    ungated = reader.array(np.dtype("<f4"), count).astype(np.float32) if count else None
    return Message(size, indices, values, gates, tail, multiplier, implicit, ungated)


def parameter_counts(data: bytes) -> tuple[int, int]:
    """How many parameters of the sender's model may be gated, and how many are ungated."""
    _, size, _, ungated = _read_header(data)
    return size, ungated


def encoded_size(
    size: int,
    kept: int,
    *,
    gates: bool = False,
    tail: bool = False,
    multiplier: bool = False,
    dense: bool = False,
    implicit: bool = False,
    ungated: int = 0,
) -> int:
    """len(encode(...)) of any message of that shape; a dense one has kept = size."""
    index_width = 0 if dense or implicit else _index_type(size).itemsize
    per_entry = index_width + _FLOAT.size * (1 + gates)
    header = _HEADER.size + (_COUNT.size if ungated else 0)
    return header + _FLOAT.size * (tail + multiplier + ungated) + kept * per_entry + _CRC.size


def paper_bytes(kind: str, size: int, kept: int) -> int:
    """Bytes a client and round by the paper's formula, which counts 4 bytes a value and no indices.

    "dense" is FedAvg's 4 |theta|, "gated" E-FLoPS's 4 (2 rho |theta|), "sparse" Fed-IHT's 4 rho |theta|,
    with kept = rho |theta|.
    """
    values = {"dense": size, "gated": 2 * kept, "sparse": kept}
    if kind not in values:
        raise ValueError(f'kind of message is {kind!r}; it must be "dense", "gated" or "sparse"')
    return 4 * values[kind]


class _Reader:
    """Takes one field after the other off bytes whose length has been checked."""

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


def _flags(message: Message) -> int:
    return (
        DENSE * (message.indices is None)
        | IMPLICIT * message.implicit
        | GATES * (message.gates is not None)
        | TAIL * (message.tail is not None)
        | MULTIPLIER * (message.multiplier is not None)
        | UNGATED * (message.ungated is not None)
    )


def _read_header(data: bytes) -> tuple[int, int, int, int]:
    """Flags, size, kept and the count of ungated values, once the length of `data` is known to agree with them."""
    if len(data) < _HEADER.size + _CRC.size:
        raise WireError(f"a message has at least {_HEADER.size + _CRC.size} bytes; these are {len(data)}")
    magic, version, flags, size, kept = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise WireError(f"a message begins with {MAGIC!r}; these bytes begin with {magic!r}")
    if version != VERSION:
        raise WireError(f"the message has version {version}; this program reads version {VERSION}")
    if flags & ~_ALL_FLAGS or (flags & DENSE and flags & IMPLICIT):
        raise WireError(f"the message has flags {flags:#04x}, which no sender sets")
    if kept > size or (flags & DENSE and kept != size):
        raise WireError(f"the message claims {kept} values for {size} parameters")
    ungated = _COUNT.unpack_from(data, _HEADER.size)[0] if flags & UNGATED else 0
    if flags & UNGATED and not ungated:
        raise WireError("the message claims ungated values and has none")
    expected = encoded_size(
        size,
        kept,
        gates=bool(flags & GATES),
        tail=bool(flags & TAIL),
        multiplier=bool(flags & MULTIPLIER),
        dense=bool(flags & DENSE),
        implicit=bool(flags & IMPLICIT),
        ungated=ungated,
    )
    if len(data) != expected:
        raise WireError(f"by its header the message has {expected} bytes; these are {len(data)}")
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
    if indices.size and not (indices[0] >= 0 and indices[-1] < size and np.all(indices[1:] > indices[:-1])):
        raise WireError(f"indices must increase strictly and lie between 0 and {size - 1}")
    return indices


def _check_floats(name: str, array: np.ndarray, kept: int) -> None:
    if array.dtype != np.float32 or array.shape != (kept,):
        raise WireError(f"{name} are {array.dtype} of shape {array.shape}; they must be float32 of shape ({kept},)")


def _rounded(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    try:
        (rounded,) = _FLOAT.unpack(_FLOAT.pack(value))
    except OverflowError:
        raise WireError(f"{name} is {value}; it must fit in float32") from None
    return float(rounded)


def _index_type(size: int) -> np.dtype:
    """The smallest unsigned type that holds the largest index, size - 1."""
    if size <= 2**8:
        return np.dtype("<u1")
    return np.dtype("<u2") if size <= 2**16 else np.dtype("<u4")


def _index_bytes(indices: np.ndarray, size: int) -> bytes:
    return indices.astype(_index_type(size)).tobytes()


def _checksum(body: bytes, unsent: bytes) -> int:
    return zlib.crc32(unsent, zlib.crc32(body))
