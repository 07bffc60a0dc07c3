"""The state of a run on a federation: what clients answered in each finished round, a file per round.

The server's part of a round follows from these answers. So a run that was cut short goes on from its last finished
round, with the same bits, when it is started again. A file is written whole or not at all.
"""

import shutil
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from eflops.files import read_json, write_json
from eflops.training import messages
from eflops.training.methods.base import Payload, Upload
from eflops.training.rounds import Asked, Phase, Transport


class Journal:
    """A transport that keeps each finished round, and gives back those that an earlier attempt kept.

    transport: asks the clients. folder: of this run alone. size: how many weights the model has.
    """

    def __init__(self, transport: Transport, folder: Path, size: int) -> None:
        self.transport, self.folder, self.size = transport, folder, size
        self.recalled = 0
        self._faults: list[str] = []
        self._channel: dict[str, int] = {}

    @property
    def faults(self) -> list[str]:
        """Which clients failed and when, in all attempts."""
        return [*self._faults, *self.transport.faults]

    @property
    def channel(self) -> Mapping[str, int]:
        """The bytes that the channel carried, in all attempts."""
        return _sum(self._channel, self.transport.channel)

    def exchange(self, phase: Phase, download: Payload, asked: Asked, round_: int) -> list[Upload]:
        """The answers of a round: those that were kept, or else the clients'."""
        path = self.folder / f"round{round_ + 1:05d}.json"
        if path.exists():
            return self._recall(read_json(path), download)
        faults, channel = len(self.transport.faults), dict(self.transport.channel)
        uploads = self.transport.exchange(phase, download, asked, round_)
        kept = {
            "answers": [{"weight": upload.weights.item(), "message": self._text(upload.payload)} for upload in uploads],
            "faults": list(self.transport.faults[faults:]),
            "channel": _sum(self.transport.channel, channel, -1),
        }
        write_json(path, kept)
        return uploads

    def forget(self) -> None:
        """The run is finished: its state is of no more use."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _recall(self, kept: dict[str, Any], download: Payload) -> list[Upload]:
        self.recalled += 1
        self._faults += kept["faults"]
        self._channel = _sum(self._channel, kept["channel"])
        return [
            Upload(torch.tensor([0]), torch.tensor([answer["weight"]]), self._payload(answer["message"], download))
            for answer in kept["answers"]
        ]

    def _text(self, payload: Payload) -> str:
        return b64encode(messages.encode(payload, self.size)).decode()

    def _payload(self, text: str, download: Payload) -> Payload:
        return messages.decode(b64decode(text), self.size, download.support)


def _sum(one: Mapping[str, int], other: Mapping[str, int], sign: int = 1) -> dict[str, int]:
    return {name: one.get(name, 0) + sign * other.get(name, 0) for name in {**one, **other}}
