"""The state of a run on a federation: the clients' answers in each finished round, one file per round.

The server's part of a round follows from these answers. So an interrupted run continues after its last finished round,
with the same bits, when it is started again. Files are written atomically.
"""

import shutil
from base64 import b64decode, b64encode
from pathlib import Path

import torch

from eflops.files import read_json, write_json
from eflops.flower.grid import GridTransport
from eflops.training import messages
from eflops.training.methods.base import Upload
from eflops.training.rounds import ClientSelection, Phase

# Nodes look for messages every three seconds, and Flower drops those of a run that is over.
FORGET_SECONDS = 10.0


class Journal:
    """A transport that stores each finished round, and replays the rounds that an earlier attempt stored.

    transport: asks the clients. folder: used by this run only. size: the number of weights of the model.
    """

    def __init__(self, transport: GridTransport, folder: Path, size: int) -> None:
        self.transport, self.folder, self.size = transport, folder, size
        # The transport goes on counting where an earlier attempt ended.
        self.faults, self.channel = transport.faults, transport.channel
        self.recalled = 0

    def exchange(
        self, phase: Phase, download: messages.Message, selection: ClientSelection, round_: int
    ) -> list[Upload]:
        """The answers of a round: the stored ones, or else the clients'."""
        path = self.folder / f"round{round_ + 1:05d}.json"
        # The transport must still learn of the round: clients that missed it get its message later.
        if path.exists():
            self.transport.remember(phase, download, selection)
            return self._recall(path, download)
        uploads = self.transport.exchange(phase, download, selection, round_)
        answers = [
            {
                # Not recomputed on replay: it depends on who answered.
                "weight": upload.weights.item(),
                "message": b64encode(messages.encode(upload.message, self.size)).decode(),
                "layout": messages.layout(upload.message),
            }
            for upload in uploads
        ]
        # Only answers are stored: the server's state is recomputed from them, so it cannot disagree with them.
        kept = {"answers": answers, "faults": self.faults, "channel": self.channel}
        write_json(path, {**kept, "last_used": list(self.transport.last_used.items())})
        return uploads

    def forget(self) -> None:
        """Delete the state of a finished run. Without finetuning, nodes still have clients' memory."""
        self.transport.forget(FORGET_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _recall(self, path: Path, download: messages.Message) -> list[Upload]:
        kept = read_json(path)
        self.recalled += 1
        # In place, because the list is the transport's own.
        self.faults[:] = kept["faults"]
        self.channel.update(kept["channel"])
        # Nodes still keep the state of these answers, and continue from it when the run does.
        self.transport.last_used.update(map(tuple, kept["last_used"]))
        return [
            Upload(
                torch.tensor([0]),
                torch.tensor([answer["weight"]]),
                messages.decode(b64decode(answer["message"]), answer["layout"], self.size, download),
            )
            for answer in kept["answers"]
        ]
