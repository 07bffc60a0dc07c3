"""Messages go over the wire and come back as they were."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from eflops.training import messages
from eflops.training.messages import Message, Part
from eflops.training.numerics import wire


def message(size: int, kept: int | None, gated: bool, implicit: bool = False, ungated: int = 0) -> Message:
    """A message of one run as a method makes it: 0 off the support, gates there their common value."""
    draw = torch.Generator().manual_seed(size)
    theta, gates = torch.randn(1, size, generator=draw), torch.rand(1, size - ungated, generator=draw)
    scalars = {"multiplier": torch.rand(1, generator=draw)} if gated else {}
    if kept is None:
        return Message({"theta": Part(theta), **({"gates": Part(gates)} if gated else {})}, scalars, False, ungated)
    support = torch.zeros(1, size, dtype=torch.bool)
    support[0, torch.randperm(size - ungated, generator=draw)[:kept]] = True
    support[0, size - ungated :] = True
    common = torch.rand(1, generator=draw)
    parts = {"theta": Part(theta * support, support)}
    if gated:
        spread = torch.where(support[:, : size - ungated], gates, common[:, None])
        parts["gates"] = Part(spread, support, common)
    return Message(parts, scalars, implicit, ungated)


def changes(size: int, kept: int) -> Message:
    """A message of error feedback: each part has a support of its own, one a common value."""
    one, other = message(size, kept, False), message(size + 1, kept, True)
    gates = other.parts["gates"]
    assert gates.support is not None
    phi = Part(gates.values[:, :size].contiguous(), gates.support[:, :size].contiguous(), gates.common)
    return Message({"theta": one.parts["theta"], "phi": phi}, other.scalars)


def assert_same(sent: Message, back: Message) -> None:
    assert (list(sent.parts), list(sent.scalars)) == (list(back.parts), list(back.scalars))
    assert (sent.implicit, sent.ungated) == (back.implicit, back.ungated)
    for name, part in sent.parts.items():
        for one, other in zip(part, back.parts[name], strict=True):
            assert torch.equal(one, other) if isinstance(one, Tensor) and isinstance(other, Tensor) else one is other
    assert all(torch.equal(scalar, back.scalars[name]) for name, scalar in sent.scalars.items())


@given(st.integers(4, 300), st.integers(0, 300) | st.none(), st.booleans(), st.booleans(), st.integers(0, 3))
def test_a_message_comes_back_bit_for_bit(
    size: int, most: int | None, gated: bool, implicit: bool, ungated: int
) -> None:
    kept = None if most is None else min(most, size - ungated)
    sent = message(size, kept, gated, implicit and kept is not None, ungated)
    data = messages.encode(sent, size)
    assert_same(sent, messages.decode(data, messages.layout(sent), size, sent))
    encoded, _ = sent.sizes(size)
    assert encoded.tolist() == [len(data)]


@given(st.integers(3, 300), st.integers(1, 300))
def test_parts_with_supports_of_their_own_come_back_bit_for_bit(size: int, most: int) -> None:
    sent = changes(size, min(most, size))
    data = messages.encode(sent, size)
    assert_same(sent, messages.decode(data, messages.layout(sent), size))
    assert sent.sizes(size)[0].tolist() == [len(data)]


@pytest.mark.parametrize(("kept", "values"), [(None, 100), (5, 5)])
def test_parts_on_one_support_share_its_indices(kept: int | None, values: int) -> None:
    for gated in (False, True):
        sent = message(100, kept, gated)
        numbers = gated * (1 + (kept is not None))
        assert len(messages.encode(sent, 100)) == wire.encoded_size(100, values, 1 + gated, numbers, dense=kept is None)
        assert sent.sizes(100)[1].tolist() == [4 * values * (1 + gated)]


def test_a_message_for_another_model_is_refused() -> None:
    sent = message(100, 5, True)
    with pytest.raises(wire.WireError, match="100 weights, but the model has 90"):
        messages.decode(messages.encode(sent, 100), messages.layout(sent), 90)


def test_an_answer_on_another_support_is_refused() -> None:
    sent, other = message(100, 5, False, implicit=True), message(101, 5, False)
    with pytest.raises(wire.WireError, match="another layout or support"):
        messages.decode(messages.encode(sent, 100), messages.layout(sent), 100, other)


@pytest.mark.parametrize("layout", ["", "[]", "[[]]", "3", "null", '[[["theta"], [], [], []]]', "[[[1], [], []]]"])
def test_a_layout_that_makes_no_sense_is_refused(layout: str) -> None:
    with pytest.raises(wire.WireError):
        messages.decode(messages.encode(message(100, 5, False), 100), layout, 100)


def test_bytes_behind_a_message_are_refused() -> None:
    sent = message(100, 5, False)
    with pytest.raises(wire.WireError, match="1 bytes follow"):
        messages.decode(messages.encode(sent, 100) + b"x", messages.layout(sent), 100)
