"""Payloads go over the wire and come back as they were."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from eflops.training import messages
from eflops.training.methods.base import Payload
from eflops.training.numerics import wire


def payload(size: int, kept: int | None, gated: bool, implicit: bool = False) -> Payload:
    """A payload of one run as a method makes it: 0 off the support, gates there the tail, 0 in the padding."""
    draw = torch.Generator().manual_seed(size)
    values, gates = torch.randn(1, size, generator=draw), torch.rand(1, size, generator=draw)
    multiplier = torch.rand(1, generator=draw) if gated else None
    if kept is None:
        return Payload(values, None, gates if gated else None, None, multiplier)
    chosen = torch.zeros(1, size, dtype=torch.bool)
    chosen[0, torch.randperm(size, generator=draw)[:kept]] = True
    support, tail = chosen, torch.rand(1, generator=draw)
    spread = torch.where(support, gates, tail[:, None])
    return Payload(values * support, support, *((spread, tail, multiplier) if gated else (None,) * 3), implicit)


@given(st.integers(1, 300), st.integers(0, 300) | st.none(), st.booleans(), st.booleans())
def test_a_payload_comes_back_bit_for_bit(size: int, most: int | None, gated: bool, implicit: bool) -> None:
    kept = None if most is None else min(most, size)
    sent = payload(size, kept, gated, implicit and kept is not None)
    back = messages.decode(messages.encode(sent, size), size, sent.support)
    for part, other in zip(sent, back, strict=True):
        assert torch.equal(part, other) if isinstance(part, Tensor) else part == other


@pytest.mark.parametrize("kept", [None, 5])
@pytest.mark.parametrize("gated", [False, True])
def test_a_message_has_the_bytes_that_are_counted(kept: int | None, gated: bool) -> None:
    sent = payload(100, kept, gated)
    parts = {"gates": gated, "tail": sent.tail is not None, "multiplier": gated, "dense": kept is None}
    assert len(messages.encode(sent, 100)) == wire.encoded_size(100, sent.kept(100), **parts)


def test_a_message_for_another_model_is_refused() -> None:
    with pytest.raises(wire.WireError, match="100 weights, but the model has 90"):
        messages.decode(messages.encode(payload(100, 5, True), 100), 90)


def test_an_answer_on_another_support_is_refused() -> None:
    sent = payload(100, 5, False, implicit=True)
    other = payload(101, 5, False).support
    with pytest.raises(wire.WireError, match="another support"):
        messages.decode(messages.encode(sent, 100), 100, other)
