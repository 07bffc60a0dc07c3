"""Federated averaging whose client 1 fails in round 1, each class in its own way. Only for tests."""

import os
import threading
from pathlib import Path

import psutil

from eflops.training import messages
from eflops.training.messages import Message
from eflops.training.methods import fedavg
from eflops.training.methods.base import Work

FOLDER = "FAULTY_FOLDER"
SECRET = "row 17 reads 2.5"


class Faultless(fedavg.Method):
    """Never fails."""


class Faulty(fedavg.Method):
    """Fails once, where a subclass says how."""

    def update(self, received: Message, work: Work) -> Message:
        if (work.client, work.round) == (1, 1) and self._first_time():
            self.fail()
        return super().update(received, work)

    def fail(self) -> None:
        raise NotImplementedError

    def _first_time(self) -> bool:
        """Whether this has not happened before, in whatever process."""
        try:
            (Path(os.environ[FOLDER]) / type(self).__name__).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class Raises(Faulty):
    """An exception whose text holds what the server must not know."""

    def fail(self) -> None:
        raise ValueError(SECRET)


class Garbles(Faulty):
    """An answer that is no message."""

    def fail(self) -> None:
        encode = messages.encode

        def garble(message: Message, size: int) -> bytes:
            messages.encode = encode
            return bytes(1000)

        messages.encode = garble


class Dawdles(Faulty):
    """An answer long after anybody waits for it."""

    def fail(self) -> None:
        threading.Event().wait(float(os.environ["FAULTY_SECONDS"]))


class Dies(Faulty):
    """The node's process and all that it started are killed in the middle of a round."""

    def fail(self) -> None:
        this_process = psutil.Process()
        node = next(process for process in this_process.parents() if "flower-supernode" in " ".join(process.cmdline()))
        for process in (node, *node.children(recursive=True)):
            process.kill()
