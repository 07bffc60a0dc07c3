"""Payloads of one run as wire messages, both ways.

A payload is already as lossy as the wire, so the way there and back changes nothing.
"""

import numpy as np
import torch
from torch import Tensor

from eflops.training.methods.base import Payload
from eflops.training.numerics import wire


def encode(payload: Payload, size: int) -> bytes:
    """The message of a payload that holds one run of a model with `size` parameters."""
    gated = size - payload.ungated
    indices = None if payload.support is None else np.flatnonzero(payload.support[0, :gated].numpy())
    return wire.encode(
        wire.Message(
            size=gated,
            indices=indices,
            values=_sent(payload.values[:, :gated], indices),
            gates=None if payload.gates is None else _sent(payload.gates, indices),
            tail=None if payload.tail is None else payload.tail.item(),
            multiplier=None if payload.multiplier is None else payload.multiplier.item(),
            implicit=payload.implicit,
            ungated=payload.values[0, gated:].numpy() if payload.ungated else None,
        )
    )


def decode(data: bytes, size: int, known: Tensor | None = None) -> Payload:
    """The payload of one run in `data`; `known` [1, size] is the support that an implicit message leaves out."""
    gated, ungated = wire.parameter_counts(data)
    if gated + ungated != size:
        raise wire.WireError(f"the message is for {gated + ungated} weights, but the model has {size}")
    message = wire.decode(data, None if known is None else np.flatnonzero(known[0, :gated].numpy()))
    tail = None if message.tail is None else torch.tensor([message.tail])
    values = _spread(message.values, message.indices, gated, 0.0)
    return Payload(
        values=values if message.ungated is None else torch.cat([values, torch.from_numpy(message.ungated)[None]], 1),
        support=None if message.indices is None else _mask(message.indices, gated, size),
        gates=None if message.gates is None else _spread(message.gates, message.indices, gated, message.tail or 0.0),
        tail=tail,
        multiplier=None if message.multiplier is None else torch.tensor([message.multiplier]),
        implicit=message.implicit,
        ungated=ungated,
    )


def _sent(part: Tensor, indices: np.ndarray | None) -> np.ndarray:
    row = part[0].numpy()
    return row if indices is None else row[indices]


def _spread(sent: np.ndarray, indices: np.ndarray | None, size: int, elsewhere: float) -> Tensor:
    row = torch.full((1, size), elsewhere)
    row[0, slice(size) if indices is None else torch.from_numpy(indices)] = torch.from_numpy(sent)
    return row


def _mask(indices: np.ndarray, gated: int, size: int) -> Tensor:
    """The mask [1, size] of these indices and of all parameters that are not gated."""
    mask = torch.zeros(1, size, dtype=torch.bool)
    mask[0, torch.from_numpy(indices)] = True
    mask[0, gated:] = True
    return mask
