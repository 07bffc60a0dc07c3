"""The wire, on messages and on bytes nobody thought of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eflops.training.numerics.wire import Frame, WireError, decode, encode, encoded_size


@st.composite
def messages(draw: st.DrawFn) -> Frame:
    """Any frame; arrays are random bit patterns, so NaN payloads and infinities are among them."""
    size = draw(st.one_of(st.integers(1, 40), st.sampled_from([256, 257, 65536, 65537])))
    dense = size <= 40 and draw(st.booleans())
    if dense:
        indices, kept = None, size
    else:
        chosen = draw(st.sets(st.integers(0, size - 1), max_size=12))
        indices, kept = np.array(sorted(chosen), dtype=np.int64), len(chosen)

    def bits(count: int) -> st.SearchStrategy[np.ndarray]:
        return st.binary(min_size=4 * count, max_size=4 * count).map(lambda b: np.frombuffer(b, np.float32))

    return Frame(
        size,
        indices,
        draw(st.lists(bits(kept), min_size=1, max_size=3)),
        draw(st.lists(st.floats(width=32), max_size=3)),
        implicit=not dense and draw(st.booleans()),
        ungated=draw(st.none() | st.integers(1, 5).flatmap(bits)),
    )


def read(data: bytes, like: Frame) -> Frame:
    """The frame in `data`, which a sender of frames `like` this one sent, and nothing behind it."""
    frame, length = decode(data, len(like.vectors), len(like.numbers), b"", like.indices)
    if length != len(data):
        raise WireError("something follows")
    return frame


def same_bits(left: np.ndarray | None, right: np.ndarray | None) -> bool:
    if left is None or right is None:
        return left is right
    return left.dtype == right.dtype and left.tobytes() == right.tobytes()


@given(messages())
def test_decoding_inverts_encoding_bit_for_bit(message):
    data = encode(message)
    back = read(data, message)
    assert (back.size, back.implicit) == (message.size, message.implicit)
    assert same_bits(back.indices, message.indices)
    assert same_bits(back.ungated, message.ungated)
    assert all(same_bits(*pair) for pair in zip(back.vectors, message.vectors, strict=True))
    assert np.array_equal(back.numbers, message.numbers, equal_nan=True)
    assert encode(back) == data


@given(messages())
def test_the_predicted_size_is_the_real_one(message):
    assert len(encode(message)) == encoded_size(
        message.size,
        message.vectors[0].size,
        len(message.vectors),
        len(message.numbers),
        dense=message.indices is None,
        implicit=message.implicit,
        ungated=0 if message.ungated is None else message.ungated.size,
    )


@given(messages(), st.data())
def test_a_truncated_message_is_refused(message, data):
    encoded = encode(message)
    length = data.draw(st.integers(0, len(encoded) - 1))
    with pytest.raises(WireError):
        read(encoded[:length], message)


@given(messages(), st.binary(min_size=1, max_size=20))
def test_a_message_with_something_behind_it_is_refused(message, extra):
    with pytest.raises(WireError):
        read(encode(message) + extra, message)


@given(messages(), st.data())
def test_a_message_with_one_changed_byte_is_refused(message, data):
    encoded = bytearray(encode(message))
    position = data.draw(st.integers(0, len(encoded) - 1))
    encoded[position] ^= data.draw(st.integers(1, 255))
    with pytest.raises(WireError):
        read(bytes(encoded), message)


@given(messages())
def test_every_single_flipped_bit_is_noticed(message):
    encoded = encode(message)
    for position in range(8 * min(len(encoded), 60)):
        damaged = bytearray(encoded)
        damaged[position // 8] ^= 1 << position % 8
        with pytest.raises(WireError):
            read(bytes(damaged), message)


@given(st.binary(max_size=200), st.booleans())
def test_random_bytes_are_refused(noise, with_magic):
    with pytest.raises(WireError):
        decode(b"EFLW\x02" + noise if with_magic else noise, support=np.arange(3))


supports = st.lists(st.integers(0, 299), min_size=4, max_size=4, unique=True).map(
    lambda chosen: np.array(sorted(chosen), dtype=np.int64)
)


@given(supports, supports)
def test_an_implicit_message_is_read_with_its_own_support_only(sent, known):
    encoded = encode(Frame(300, sent, [np.ones(4, dtype=np.float32)], implicit=True))
    if np.array_equal(sent, known):
        assert same_bits(decode(encoded, support=known)[0].indices, sent)
    else:
        with pytest.raises(WireError):
            decode(encoded, support=known)
