"""The wire: what a message's bytes are, how many they are, and which bytes are refused."""

import struct
import zlib
from itertools import product

import numpy as np
import pytest

from eflops.training.numerics.wire import Frame, WireError, decode, encode, encoded_size, paper_bytes


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def positions(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def resealed(body: bytes) -> bytes:
    """`body` with the checksum a malicious or mistaken sender would put behind it."""
    return body + struct.pack("<I", zlib.crc32(body))


SPARSE = Frame(1000, positions(3, 500, 999), [floats(1.5, -2.0, 0.25), floats(0.9, 0.5, 1.0)], [0.1, 2.5])


def test_a_sparse_frame_comes_back_as_it_was_sent():
    back, length = decode(encode(SPARSE), 2, 2)
    assert (back.size, length) == (1000, len(encode(SPARSE)))
    assert back.indices.dtype == np.int64
    assert all(vector.dtype == np.float32 for vector in back.vectors)
    assert back.indices.tolist() == [3, 500, 999]
    assert [vector.tolist() for vector in back.vectors] == [vector.tolist() for vector in SPARSE.vectors]
    assert back.numbers == SPARSE.numbers == (float(np.float32(0.1)), 2.5)
    assert not back.implicit


def test_ungated_values_travel_beside_the_first_vector():
    frame = Frame(10, positions(2), [floats(1), floats(2)], [3], ungated=floats(4, 5))
    back, _ = decode(encode(frame), 2, 1)
    assert back.ungated.tolist() == [4, 5]
    assert len(encode(frame)) == encoded_size(10, 1, 2, 1, ungated=2)


def test_a_frame_of_another_layout_is_refused():
    with pytest.raises(WireError, match="checksum"):
        decode(encode(SPARSE, b"theta, phi"), 2, 2, b"phi, theta")


def test_what_is_absent_stays_absent():
    back, _ = decode(encode(Frame(3, None, [floats(1, 2, 3)])))
    assert (back.indices, back.ungated, back.numbers, len(back.vectors)) == (None, None, (), 1)


def test_an_empty_support_is_a_frame_too():
    back, _ = decode(encode(Frame(10, positions(), [floats()], [0.5])), 1, 1)
    assert back.indices.size == back.vectors[0].size == 0
    assert back.numbers == (0.5,)


def test_decoded_arrays_can_be_written_to():
    back, _ = decode(encode(SPARSE), 2, 2)
    back.vectors[0][0] = 7.0
    back.indices[0] = 1


def test_the_bytes_are_little_endian_in_the_documented_order():
    frame = Frame(300, positions(2, 258), [floats(1.0, 2.0), floats(0.5, 0.25)], [0.75, 3.0])
    body = struct.pack("<4sBBII2f2H4f", b"EFLW", 2, 0, 300, 2, 0.75, 3.0, 2, 258, 1, 2, 0.5, 0.25)
    assert encode(frame) == resealed(body)


@pytest.mark.parametrize(("size", "width"), [(1, 1), (256, 1), (257, 2), (65536, 2), (65537, 4), (2**32 - 1, 4)])
def test_indices_take_the_smallest_width_that_holds_the_largest(size, width):
    message = Frame(size, positions(size - 1), [floats(1.0)])
    assert len(encode(message)) == 14 + width + 4 + 4
    assert decode(encode(message))[0].indices.tolist() == [size - 1]


@pytest.mark.parametrize("shape", ["dense", "sparse", "implicit"])
@pytest.mark.parametrize("size", [1, 200, 5000, 70000])
def test_the_size_is_known_without_encoding(shape, size):
    kept = size if shape == "dense" else max(1, size // 20)
    indices = None if shape == "dense" else np.arange(kept, dtype=np.int64)
    values, implicit = np.ones(kept, dtype=np.float32), shape == "implicit"
    for vectors, numbers in product([1, 2, 3], [0, 1, 2]):
        frame = Frame(size, indices, [values] * vectors, [0.5] * numbers, implicit)
        expected = encoded_size(size, kept, vectors, numbers, dense=shape == "dense", implicit=implicit)
        assert len(encode(frame)) == expected


def test_an_implicit_message_takes_its_indices_from_the_support():
    support = positions(1, 4, 8)
    data = encode(Frame(10, support, [floats(1, 2, 3)], implicit=True))
    back, _ = decode(data, support=support)
    assert back.implicit
    assert back.indices.tolist() == [1, 4, 8]
    assert back.vectors[0].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("support", "complaint"),
    [
        (None, "leaves its indices out"),
        (positions(1, 4), "3 values, but the support has 2"),
        (positions(1, 4, 9), "another layout or support"),
        (positions(1, 4, 10), "between 0 and 9"),
    ],
)
def test_an_implicit_message_is_refused_with_the_wrong_support(support, complaint):
    data = encode(Frame(10, positions(1, 4, 8), [floats(1, 2, 3)], implicit=True))
    with pytest.raises(WireError, match=complaint):
        decode(data, support=support)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"size": 0, "indices": None, "vectors": [floats()]}, "message size is 0"),
        ({"size": 2**32, "indices": positions(), "vectors": [floats()]}, "message size is 4294967296"),
        ({"size": 3, "indices": None, "vectors": [floats(1, 2)]}, r"shape \(3,\)"),
        ({"size": 3, "indices": positions(1), "vectors": [floats(1, 2)]}, r"shape \(1,\)"),
        ({"size": 3, "indices": positions(1), "vectors": [np.ones(1)]}, "values are float64"),
        (
            {"size": 3, "indices": positions(1), "vectors": [floats(1), floats(1, 2)]},
            "values are float32",
        ),
        ({"size": 3, "indices": positions(1, 1), "vectors": [floats(1, 2)]}, "increase strictly"),
        ({"size": 3, "indices": positions(2, 1), "vectors": [floats(1, 2)]}, "increase strictly"),
        ({"size": 3, "indices": positions(3), "vectors": [floats(1)]}, "between 0 and 2"),
        ({"size": 3, "indices": positions(-1), "vectors": [floats(1)]}, "between 0 and 2"),
        ({"size": 3, "indices": np.array([1], np.int32), "vectors": [floats(1)]}, "vector of int64"),
        ({"size": 1, "indices": None, "vectors": [floats(1)], "implicit": True}, "implicit must be False"),
        ({"size": 1, "indices": None, "vectors": [floats(1)], "numbers": [1e39]}, "number of the message is 1e[+]39"),
        ({"size": 1, "indices": None, "vectors": []}, "at least one"),
    ],
)
def test_a_message_that_makes_no_sense_cannot_be_made(arguments, complaint):
    with pytest.raises(WireError, match=complaint):
        Frame(**arguments)


@pytest.mark.parametrize(
    ("offset", "replacement", "complaint"),
    [
        (0, b"PNG!", "begin with b'PNG!'"),
        (4, b"\x01", "version 1"),
        (5, b"\x80", "flags 0x80"),
        (5, b"\x03", "flags 0x03"),
        (5, b"\x01", "claims 2 values for 9"),
        (5, b"\x04", "has .* bytes; these are 28"),
        (6, struct.pack("<I", 1), "claims 2 values for 1"),
        (14, b"\x05\x05", "increase strictly"),
        (14, b"\x01\x09", "between 0 and 8"),
    ],
)
def test_a_wrong_field_is_named_even_when_the_checksum_is_right(offset, replacement, complaint):
    body = bytearray(encode(Frame(9, positions(1, 5), [floats(1, 2)]))[:-4])
    body[offset : offset + len(replacement)] = replacement
    with pytest.raises(WireError, match=complaint):
        decode(resealed(bytes(body)))


def test_a_damaged_message_is_refused():
    data = bytearray(encode(SPARSE))
    data[-6] ^= 1
    with pytest.raises(WireError, match="checksum"):
        decode(bytes(data), 2, 2)


def test_the_papers_formula_counts_four_bytes_a_value_and_no_indices():
    assert paper_bytes(1000) == 4000
