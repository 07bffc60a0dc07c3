"""The client's side on Flower: an order of the server in, the client's answer out.

Whatever goes wrong on a client is told to the server by the kind of the error alone: its text could hold what only the
client may know, and stays in the client's own log.
"""

import json
import traceback
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.app.error import Error
from flwr.common.constant import ErrorCode

if TYPE_CHECKING:
    from eflops.data.federation import Federation
    from eflops.methods.base import Rounds, Task
    from eflops.models.base import Rows

RECORD = "eflops"


@dataclass(frozen=True)
class Order:
    """What a client is to do with a message: in which phase, round and run, in how many steps on how many rows."""

    phase: str
    round: int
    seed: int
    steps: int | str
    batch_size: int | None

    def record(self, message: bytes) -> ConfigRecord:
        """The order with its wire message as Flower carries them."""
        return ConfigRecord({"order": json.dumps(asdict(self)), "message": message})


@dataclass(frozen=True)
class Assignment:
    """What a client works on: what `work_of` says, the folder of its data and its number."""

    work: str
    data: str
    client: int


def work_of(slice_: dict[str, Any], variant: str) -> str:
    """What clients must know of a cell, as JSON: its slice of the config with the settings of one variant."""
    rest = {name: value for name, value in slice_.items() if name != "variants"}
    return json.dumps({**rest, "settings": slice_["variants"][variant]}, sort_keys=True)


def introduce(message: Message, client: int) -> Message:
    """The answer to the question which client lives on this node."""
    return Message(RecordDict({RECORD: ConfigRecord({"client": client})}), reply_to=message)


def respond(message: Message, assignment: Assignment) -> Message:
    """The answer to an order."""
    try:
        received = message.content.config_records[RECORD]
        answer = _answer(received["message"], Order(**json.loads(str(received["order"]))), assignment)
    except Exception as error:
        traceback.print_exc()
        return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, type(error).__name__), reply_to=message)
    return Message(RecordDict({RECORD: ConfigRecord({"message": answer})}), reply_to=message)


def _answer(data: Any, order: Order, assignment: Assignment) -> bytes:
    """The client's wire message for the server's. Only this needs torch, so that introductions are quick."""
    from eflops.engines import batched, messages
    from eflops.engines.client import answer
    from eflops.methods.tuning import SupportTuning

    batched.prepare()
    task, method, rows = _worker(assignment)
    received = messages.decode(data, task.size)
    if order.phase == "tuning":
        assert received.support is not None
        method = SupportTuning(task, received.support)
    steps: Any = order.steps
    sent = answer(method, received, rows, [order.seed], order.round, assignment.client, steps, order.batch_size)
    return messages.encode(sent, task.size)


@lru_cache(maxsize=64)
def _worker(assignment: Assignment) -> "tuple[Task, Rounds, Rows]":
    """The method and the client's rows; a simulated client is called again and again in the same process."""
    from eflops.config.settings import settings_class
    from eflops.train import make_method, make_task

    work = json.loads(assignment.work)
    federation = _federation(assignment.data, work["pooled"])
    task, _ = make_task(work, [settings_class(work["method"]).model_validate(work["settings"])], federation)
    block = federation.clients[federation.client_ids.index(assignment.client)]
    return task, make_method(work, task), task.model.rows(block.x, block.y)


@lru_cache(maxsize=1)
def _federation(folder: str, pooled: bool) -> "Federation":
    from eflops.data.federation import load

    federation = load(Path(folder))
    return federation.pooled() if pooled else federation
