"""The wire, on messages and on bytes nobody thought of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eflops.training.numerics.wire import Message, WireError, decode, encode, encoded_size

scalars = st.none() | st.floats(width=32)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Any message; arrays are random bit patterns, so NaN payloads and infinities are among them."""
    size = draw(st.one_of(st.integers(1, 40), st.sampled_from([256, 257, 65536, 65537])))
    dense = size <= 40 and draw(st.booleans())
    if dense:
        indices, kept = None, size
    else:
        chosen = draw(st.sets(st.integers(0, size - 1), max_size=12))
        indices, kept = np.array(sorted(chosen), dtype=np.int64), len(chosen)
    bits = st.binary(min_size=4 * kept, max_size=4 * kept).map(lambda b: np.frombuffer(b, np.float32))
    return Message(
        size,
        indices,
        draw(bits),
        draw(st.none() | bits),
        draw(scalars),
        draw(scalars),
        implicit=not dense and draw(st.booleans()),
    )


def same_bits(left: np.ndarray | None, right: np.ndarray | None) -> bool:
    if left is None or right is None:
        return left is right
    return left.dtype == right.dtype and left.tobytes() == right.tobytes()


def same_scalar(left: float | None, right: float | None) -> bool:
    return left is right or (left is not None and right is not None and np.array_equal(left, right, equal_nan=True))


@given(messages())
def test_decoding_inverts_encoding_bit_for_bit(message):
    data = encode(message)
    back = decode(data, message.indices)
    assert (back.size, back.implicit) == (message.size, message.implicit)
    assert same_bits(back.indices, message.indices)
    assert same_bits(back.values, message.values)
    assert same_bits(back.gates, message.gates)
    assert same_scalar(back.tail, message.tail)
    assert same_scalar(back.multiplier, message.multiplier)
    assert encode(back) == data


@given(messages())
def test_the_predicted_size_is_the_real_one(message):
    assert len(encode(message)) == encoded_size(
        message.size,
        message.values.size,
        gates=message.gates is not None,
        tail=message.tail is not None,
        multiplier=message.multiplier is not None,
        dense=message.indices is None,
        implicit=message.implicit,
    )


@given(messages(), st.data())
def test_a_truncated_message_is_refused(message, data):
    encoded = encode(message)
    length = data.draw(st.integers(0, len(encoded) - 1))
    with pytest.raises(WireError):
        decode(encoded[:length], message.indices)


@given(messages(), st.binary(min_size=1, max_size=20))
def test_a_message_with_something_behind_it_is_refused(message, extra):
    with pytest.raises(WireError):
        decode(encode(message) + extra, message.indices)


@given(messages(), st.data())
def test_a_message_with_one_changed_byte_is_refused(message, data):
    encoded = bytearray(encode(message))
    position = data.draw(st.integers(0, len(encoded) - 1))
    encoded[position] ^= data.draw(st.integers(1, 255))
    with pytest.raises(WireError):
        decode(bytes(encoded), message.indices)


@given(messages())
def test_every_single_flipped_bit_is_noticed(message):
    encoded = encode(message)
    for position in range(8 * min(len(encoded), 60)):
        damaged = bytearray(encoded)
        damaged[position // 8] ^= 1 << position % 8
        with pytest.raises(WireError):
            decode(bytes(damaged), message.indices)


@given(st.binary(max_size=200), st.booleans())
def test_random_bytes_are_refused(noise, with_magic):
    with pytest.raises(WireError):
        decode(b"EFLW\x01" + noise if with_magic else noise, np.arange(3))


supports = st.lists(st.integers(0, 299), min_size=4, max_size=4, unique=True).map(
    lambda chosen: np.array(sorted(chosen), dtype=np.int64)
)


@given(supports, supports)
def test_an_implicit_message_is_read_with_its_own_support_only(sent, known):
    encoded = encode(Message(300, sent, np.ones(4, dtype=np.float32), implicit=True))
    if np.array_equal(sent, known):
        assert same_bits(decode(encoded, known).indices, sent)
    else:
        with pytest.raises(WireError):
            decode(encoded, known)
