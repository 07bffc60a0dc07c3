"""Messages between server and clients: named vectors and scalars, for several runs at once, and their bytes.

A message holds exactly the values that the receiver gets, so encoding is lossless. The batched engine passes messages
unencoded, byte counts come from `sizes`, and Flower sends the bytes of `encode`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from eflops.errors import UserError
from eflops.training.numerics import wire
from eflops.training.numerics.selection import count_marked


class Part(NamedTuple):
    """A named vector of a message.

    Args:
        values: [runs, width] float32, as the receiver sees them.
        support: the mask [runs, width] of entries that are sent; None if all are.
        common: [runs] float32, the value of all entries outside the support; None if it is 0 and not sent.
    """

    values: Tensor
    support: Tensor | None = None
    common: Tensor | None = None


class FrameLayout(NamedTuple):
    """The layout of parts that travel on one support: their names, which have a common value, and the scalars."""

    parts: list[str]
    commons: list[str]
    scalars: list[str]


@dataclass(frozen=True, eq=False)
class Message:
    """What a server or a client sends in a round, for several runs at once.

    Args:
        parts: vectors by name; those whose `support` is the same tensor share its indices on the wire.
        scalars: numbers [runs] float32 by name, such as the multiplier.
        implicit: the receiver knows the supports, so they are not sent.
        ungated: the number of ungated parameters, the last entries of the first part, which are always sent.

    Example, the k largest entries of a difference, and a rate:

        support = cut.top(difference, k)
        Message({"theta": Part(difference * support, support)}, {"rate": rate})
    """

    parts: Mapping[str, Part]
    scalars: Mapping[str, Tensor] = field(default_factory=dict)
    implicit: bool = False
    ungated: int = 0

    def __getitem__(self, name: str) -> Tensor:
        """The values [runs, width] of a part, or a scalar [runs]."""
        if name in self.parts:
            return self.parts[name].values
        if name not in self.scalars:
            there = ", ".join(map(repr, [*self.parts, *self.scalars]))
            raise UserError(f"a message has no part or scalar {name!r}; it has {there}.")
        return self.scalars[name]

    @property
    def support(self) -> Tensor | None:
        """The support of the first part."""
        return next(iter(self.parts.values())).support

    @property
    def frames(self) -> list[FrameLayout]:
        """How parts are grouped on the wire: those with one support together; scalars go with the first group.

        Gates that weights share are fewer than the weights, so they are apart.
        """
        groups: dict[tuple[int, bool], FrameLayout] = {}
        widest = next(iter(self.parts.values())).values.shape[1]
        for name, part in self.parts.items():
            # By identity: parts share indices if the method made them on one support, and dense parts are all on None.
            key = id(part.support), part.values.shape[1] < widest - self.ungated
            frame = groups.setdefault(key, FrameLayout([], [], [] if groups else list(self.scalars)))
            frame.parts.append(name)
            if part.common is not None:
                frame.commons.append(name)
        return list(groups.values())

    def sizes(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """The bytes of each run's message for a model of `size` parameters, [runs]: encoded, and by the formula."""
        encoded, values = (np.zeros(len(self), np.int64) for _ in range(2))
        for number, frame in enumerate(self.frames):
            ungated, support = (0 if number else self.ungated), self.parts[frame.parts[0]].support
            width = min(size - self.ungated, self[frame.parts[0]].shape[1])
            kept = width if support is None else count_marked(support.numpy()) - (support.shape[1] - width)
            vectors, numbers = len(frame.parts), len(frame.commons) + len(frame.scalars)
            shape = vectors, numbers, support is None, self.implicit, ungated
            # Bytes are linear in the entries, so two frames give the size for any number of runs at once.
            empty, one = (_frame_bytes(width, count, *shape) for count in (0, 1))
            encoded += empty + (one - empty) * kept
            values += vectors * kept + ungated
        return encoded, wire.paper_bytes(1) * values

    def split(self, index: Tensor, sizes: list[int]) -> Iterator["Message"]:
        """Copies of the runs `index`, the first `sizes[0]` of them in one message, the next `sizes[1]` in another."""
        bounds = list(accumulate(sizes, initial=0))
        taken = {
            id(values): values.index_select(0, index)
            for values in (*(each for part in self.parts.values() for each in part), *self.scalars.values())
            if values is not None
        }
        for start, stop in pairwise(bounds):
            # Parts that share a support go on sharing it.
            rows = {key: values[start:stop] for key, values in taken.items()}
            parts = {
                name: Part(*(None if each is None else rows[id(each)] for each in part))  # type: ignore[arg-type]
                for name, part in self.parts.items()
            }
            scalars = {name: rows[id(values)] for name, values in self.scalars.items()}
            yield Message(parts, scalars, self.implicit, self.ungated)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(next(iter(self.parts.values())).values)


@lru_cache(maxsize=256)
def _frame_bytes(width: int, kept: int, vectors: int, numbers: int, dense: bool, implicit: bool, ungated: int) -> int:
    """The bytes of a frame with this many entries; they are linear in the number of entries."""
    return wire.encoded_size(width, kept, vectors, numbers, dense=dense, implicit=implicit, ungated=ungated)


def layout(message: Message) -> str:
    """The names of parts and scalars by frame, which a receiver must know to decode the message."""
    return json.dumps(message.frames)


def encode(message: Message, size: int) -> bytes:
    """The bytes of a message that holds one run of a model with `size` parameters."""
    names, data = layout(message).encode(), []
    for number, frame in enumerate(message.frames):
        width = min(size - message.ungated, message[frame.parts[0]].shape[1])
        support = message.parts[frame.parts[0]].support
        indices = None if support is None else np.flatnonzero(support[0, :width].numpy())
        rows = [message[name][0, :width].numpy() for name in frame.parts]
        commons = [_item(message.parts[name].common) for name in frame.commons]
        data.append(
            wire.encode(
                wire.Frame(
                    width,
                    indices,
                    rows if indices is None else [row[indices] for row in rows],
                    commons + [message.scalars[name].item() for name in frame.scalars],
                    message.implicit,
                    message[frame.parts[0]][0, width:].numpy() if message.ungated and number == 0 else None,
                ),
                names,
            )
        )
    return b"".join(data)


def decode(data: bytes, layout: str, size: int, known: Message | None = None) -> Message:
    """The message of one run in `data`; `known` has the supports that an implicit message leaves out."""
    parts: dict[str, Part] = {}
    scalars: dict[str, Tensor] = {}
    implicit, ungated = False, 0
    for number, frame in enumerate(_frames(layout)):
        names = frame.parts[0]
        support = known.parts[names].support if known is not None and names in known.parts else None
        numbers = len(frame.commons) + len(frame.scalars)
        indices = None if support is None else np.flatnonzero(support[0, : size - known.ungated].numpy())  # type: ignore[union-attr]
        sent, length = wire.decode(data, len(frame.parts), numbers, layout.encode(), indices)
        data, implicit = data[length:], sent.implicit
        ungated = ungated if number else (0 if sent.ungated is None else sent.ungated.size)
        # Before anything is scattered by its indices: the sizes come from the network.
        if sent.size != size - ungated:
            raise wire.WireError(f"the message is for {sent.size + ungated} weights, but the model has {size}")
        mask = None if sent.indices is None else _mask(sent.indices, size - ungated, ungated if number == 0 else 0)
        values = dict(zip([*frame.commons, *frame.scalars], sent.numbers, strict=True))
        for position, name in enumerate(frame.parts):
            common = values.get(name) if name in frame.commons else None
            row = _spread(sent.vectors[position], sent.indices, sent.size, common or 0.0)
            if sent.ungated is not None and position == 0:
                row = torch.cat([row, torch.from_numpy(sent.ungated)[None]], 1)
            parts[name] = Part(row, mask, None if common is None else torch.tensor([common]))
        scalars |= {name: torch.tensor([values[name]]) for name in frame.scalars}
    if data:
        raise wire.WireError(f"{len(data)} bytes follow the message")
    return Message(parts, scalars, implicit, ungated)


def _frames(layout: str) -> list[FrameLayout]:
    try:
        frames = [FrameLayout(*frame) for frame in json.loads(layout)]
        names = [name for frame in frames for part in frame for name in part]
    except (ValueError, TypeError, RecursionError):
        raise wire.WireError("the layout of the message cannot be read") from None
    if not frames or not all(frame.parts for frame in frames) or not all(isinstance(name, str) for name in names):
        raise wire.WireError("the layout of the message has no parts")
    return frames


def _item(common: Tensor | None) -> float:
    return 0.0 if common is None else common.item()


def _spread(sent: np.ndarray, indices: np.ndarray | None, size: int, elsewhere: float) -> Tensor:
    row = torch.full((1, size), elsewhere)
    row[0, slice(size) if indices is None else torch.from_numpy(indices)] = torch.from_numpy(sent)
    return row


def _mask(indices: np.ndarray, gated: int, ungated: int) -> Tensor:
    """The mask [1, gated + ungated] of these indices and of all ungated parameters."""
    mask = torch.zeros(1, gated + ungated, dtype=torch.bool)
    mask[0, torch.from_numpy(indices)] = True
    mask[0, gated:] = True
    return mask
