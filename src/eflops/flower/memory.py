"""The state that a node keeps between a client's answers: the method's memory and the client's view.

A request names the last round whose answer the server used. An answer may be lost, come too late, or be requested
twice. So a node keeps the states before and after its last answer, and continues from the one that the request names.
Both are in one file, written atomically, under a key of our run, because Flower's run ids change when a run is resumed.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor

from eflops.errors import UserError
from eflops.files import read_npz, write_npz
from eflops.training import messages
from eflops.training.numerics.wire import WireError

# A key from the network becomes the name of a file.
KEY = re.compile(r"[0-9a-f]{16}-[0-9]{1,20}")


@dataclass(frozen=True)
class ClientState:
    """A client's state after its answer in a round: its memory by name, [1, ...], and its view if the method has
    one."""

    round: int
    memory: dict[str, Tensor]
    view: messages.Message | None


class NodeMemory:
    """The states of one client in one run, as a file below `folder`. size: the number of weights of the model."""

    def __init__(self, folder: Path, key: str, client: int, size: int) -> None:
        if not KEY.fullmatch(key):
            raise UserError("the server's request has a key that is not a valid file name.")
        self.path, self.size = folder / f"{key}-client{int(client)}.npz", size

    def after(self, round_: int) -> ClientState | None:
        """The state after the answer in a round; None if it is lost."""
        try:
            arrays = read_npz(self.path)
            states = [self._state(arrays, slot) for slot in ("before", "last") if f"{slot}/round" in arrays]
        # A damaged file is a lost state, which the protocol repairs; it must not end the run.
        except (OSError, ValueError, KeyError, BadZipFile, WireError):
            return None
        # "before" serves a repeated request: the server never used the last answer.
        return next((state for state in states if state.round == round_), None)

    def keep(self, before: ClientState | None, last: ClientState) -> None:
        """Store the states before and after the last answer; there is no state before a client's first answer."""
        # Both in one file: a crash between two files could leave states of different answers.
        arrays: dict[str, np.ndarray] = {}
        for slot, state in (("before", before), ("last", last)):
            if state is not None:
                arrays |= {f"{slot}/{name}": array for name, array in self._arrays(state).items()}
        write_npz(self.path, arrays)

    def forget(self) -> None:
        """Delete the file after training."""
        self.path.unlink(missing_ok=True)

    def _arrays(self, state: ClientState) -> dict[str, np.ndarray]:
        arrays = {f"memory/{name}": values.numpy() for name, values in state.memory.items()}
        if state.view is not None:
            layout = messages.layout(state.view).encode()
            arrays["view"] = np.frombuffer(messages.encode(state.view, self.size), np.uint8)
            arrays["layout"] = np.frombuffer(layout, np.uint8)
        return {"round": np.array(state.round), **arrays}

    def _state(self, arrays: dict[str, np.ndarray], slot: str) -> ClientState:
        prefix = f"{slot}/memory/"
        memory = {
            name.removeprefix(prefix): torch.from_numpy(array.copy())
            for name, array in arrays.items()
            if name.startswith(prefix)
        }
        view = None
        if f"{slot}/view" in arrays:
            data, layout = (arrays[f"{slot}/{name}"].tobytes() for name in ("view", "layout"))
            view = messages.decode(data, layout.decode(), self.size)
        return ClientState(int(arrays[f"{slot}/round"]), memory, view)
