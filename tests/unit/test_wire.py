"""The wire: what a message's bytes are, how many they are, and which bytes are refused."""

import struct
import zlib
from itertools import product

import numpy as np
import pytest

from eflops.training.numerics.wire import Message, WireError, decode, encode, encoded_size, paper_bytes


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def positions(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def resealed(body: bytes) -> bytes:
    """`body` with the checksum a malicious or mistaken sender would put behind it."""
    return body + struct.pack("<I", zlib.crc32(body))


SPARSE = Message(1000, positions(3, 500, 999), floats(1.5, -2.0, 0.25), floats(0.9, 0.5, 1.0), 0.1, 2.5)


def test_a_sparse_message_comes_back_as_it_was_sent():
    back = decode(encode(SPARSE))
    assert back.size == 1000
    assert back.indices.dtype == np.int64
    assert back.values.dtype == back.gates.dtype == np.float32
    assert back.indices.tolist() == [3, 500, 999]
    assert back.values.tolist() == [1.5, -2.0, 0.25]
    assert back.gates.tolist() == SPARSE.gates.tolist()
    assert back.tail == SPARSE.tail == float(np.float32(0.1))
    assert back.multiplier == 2.5
    assert not back.implicit


def test_what_is_absent_stays_absent():
    back = decode(encode(Message(3, None, floats(1, 2, 3))))
    assert (back.indices, back.gates, back.tail, back.multiplier) == (None, None, None, None)


def test_an_empty_support_is_a_message_too():
    back = decode(encode(Message(10, positions(), floats(), tail=0.5)))
    assert back.indices.size == back.values.size == 0
    assert back.tail == 0.5


def test_decoded_arrays_can_be_written_to():
    back = decode(encode(SPARSE))
    back.values[0] = 7.0
    back.indices[0] = 1


def test_the_bytes_are_little_endian_in_the_documented_order():
    message = Message(300, positions(2, 258), floats(1.0, 2.0), floats(0.5, 0.25), 0.75, 3.0)
    body = struct.pack("<4sBBII2f2H4f", b"EFLW", 1, 4 | 8 | 16, 300, 2, 0.75, 3.0, 2, 258, 1, 2, 0.5, 0.25)
    assert encode(message) == resealed(body)


@pytest.mark.parametrize(("size", "width"), [(1, 1), (256, 1), (257, 2), (65536, 2), (65537, 4), (2**32 - 1, 4)])
def test_indices_take_the_smallest_width_that_holds_the_largest(size, width):
    message = Message(size, positions(size - 1), floats(1.0))
    assert len(encode(message)) == 14 + width + 4 + 4
    assert decode(encode(message)).indices.tolist() == [size - 1]


@pytest.mark.parametrize("shape", ["dense", "sparse", "implicit"])
@pytest.mark.parametrize("size", [1, 200, 5000, 70000])
def test_the_size_is_known_without_encoding(shape, size):
    kept = size if shape == "dense" else max(1, size // 20)
    indices = None if shape == "dense" else np.arange(kept, dtype=np.int64)
    values = np.ones(kept, dtype=np.float32)
    for gates, tail, multiplier in product([False, True], repeat=3):
        message = Message(
            size,
            indices,
            values,
            values if gates else None,
            0.5 if tail else None,
            1.0 if multiplier else None,
            implicit=shape == "implicit",
        )
        expected = encoded_size(
            size,
            kept,
            gates=gates,
            tail=tail,
            multiplier=multiplier,
            dense=shape == "dense",
            implicit=shape == "implicit",
        )
        assert len(encode(message)) == expected


def test_an_implicit_message_takes_its_indices_from_the_support():
    support = positions(1, 4, 8)
    data = encode(Message(10, support, floats(1, 2, 3), implicit=True))
    back = decode(data, support)
    assert back.implicit
    assert back.indices.tolist() == [1, 4, 8]
    assert back.values.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("support", "complaint"),
    [
        (None, "leaves its indices out"),
        (positions(1, 4), "3 values, but the support has 2"),
        (positions(1, 4, 9), "another support"),
        (positions(1, 4, 10), "between 0 and 9"),
    ],
)
def test_an_implicit_message_is_refused_with_the_wrong_support(support, complaint):
    data = encode(Message(10, positions(1, 4, 8), floats(1, 2, 3), implicit=True))
    with pytest.raises(WireError, match=complaint):
        decode(data, support)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"size": 0, "indices": None, "values": floats()}, "message size is 0"),
        ({"size": 2**32, "indices": positions(), "values": floats()}, "message size is 4294967296"),
        ({"size": 3, "indices": None, "values": floats(1, 2)}, r"shape \(3,\)"),
        ({"size": 3, "indices": positions(1), "values": floats(1, 2)}, r"shape \(1,\)"),
        ({"size": 3, "indices": positions(1), "values": np.ones(1)}, "values are float64"),
        (
            {"size": 3, "indices": positions(1), "values": floats(1), "gates": floats(1, 2)},
            "gates are float32",
        ),
        ({"size": 3, "indices": positions(1, 1), "values": floats(1, 2)}, "increase strictly"),
        ({"size": 3, "indices": positions(2, 1), "values": floats(1, 2)}, "increase strictly"),
        ({"size": 3, "indices": positions(3), "values": floats(1)}, "between 0 and 2"),
        ({"size": 3, "indices": positions(-1), "values": floats(1)}, "between 0 and 2"),
        ({"size": 3, "indices": np.array([1], np.int32), "values": floats(1)}, "vector of int64"),
        ({"size": 1, "indices": None, "values": floats(1), "implicit": True}, "implicit must be False"),
        ({"size": 1, "indices": None, "values": floats(1), "tail": 1e39}, "tail is 1e[+]39"),
    ],
)
def test_a_message_that_makes_no_sense_cannot_be_made(arguments, complaint):
    with pytest.raises(WireError, match=complaint):
        Message(**arguments)


@pytest.mark.parametrize(
    ("offset", "replacement", "complaint"),
    [
        (0, b"PNG!", "begin with b'PNG!'"),
        (4, b"\x02", "version 2"),
        (5, b"\x80", "flags 0x80"),
        (5, b"\x03", "flags 0x03"),
        (5, b"\x01", "claims 2 values for 9"),
        (5, b"\x04", "has 36 bytes; these are 28"),
        (6, struct.pack("<I", 1), "claims 2 values for 1"),
        (14, b"\x05\x05", "increase strictly"),
        (14, b"\x01\x09", "between 0 and 8"),
    ],
)
def test_a_wrong_field_is_named_even_when_the_checksum_is_right(offset, replacement, complaint):
    body = bytearray(encode(Message(9, positions(1, 5), floats(1, 2)))[:-4])
    body[offset : offset + len(replacement)] = replacement
    with pytest.raises(WireError, match=complaint):
        decode(resealed(bytes(body)))


def test_bytes_left_over_are_refused_even_when_the_checksum_is_right():
    with pytest.raises(WireError, match="has 28 bytes; these are 29"):
        decode(resealed(encode(Message(9, positions(1, 5), floats(1, 2)))[:-4] + b"\0"))


def test_a_damaged_message_is_refused():
    data = bytearray(encode(SPARSE))
    data[-6] ^= 1
    with pytest.raises(WireError, match="checksum"):
        decode(bytes(data))


def test_the_papers_formula_counts_four_bytes_a_value_and_no_indices():
    assert paper_bytes("dense", 1000, 50) == 4000
    assert paper_bytes("gated", 1000, 50) == 400
    assert paper_bytes("sparse", 1000, 50) == 200
    with pytest.raises(ValueError, match="'ternary'"):
        paper_bytes("ternary", 1000, 50)
