"""The client's side on Flower: what the server sends in, the node's answer out.

Whatever goes wrong on a node is told to the server by the kind of the error alone: its text could hold what only the
node may know, and stays in the node's own log.
"""

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.app.error import Error
from flwr.common.constant import ErrorCode

from eflops import code
from eflops.errors import UserError
from eflops.flower.rows import Place
from eflops.flower.work import RECORD, WORK, Order, Work, code_hashes

if TYPE_CHECKING:
    from eflops.training.methods.base import Rounds, Task
    from eflops.training.models.base import Rows


def introduce(message: Message, node: Mapping[str, Any]) -> Message:
    """The answer to the question who this node is: client and rows by number, never by content."""
    return _guarded(message, lambda: _introduction(message, Place.of(node)))


def respond(message: Message, node: Mapping[str, Any]) -> Message:
    """The answer to an order."""
    return _guarded(message, lambda: _answer(message, Place.of(node)))


def _guarded(message: Message, act: Callable[[], dict[str, Any]]) -> Message:
    try:
        return Message(RecordDict({RECORD: ConfigRecord(act())}), reply_to=message)
    except Exception as error:
        if isinstance(error, UserError):
            print(f"eflops: {error}", file=sys.stderr, flush=True)
        else:
            traceback.print_exc()
        return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, type(error).__name__), reply_to=message)


def _introduction(message: Message, place: Place) -> dict[str, Any]:
    """Who this node is; one that runs other code says so, and looks at nothing."""
    known: dict[str, Any] = {"client": place.client, "nodes": place.nodes, "rows": 0, "code": ""}
    if WORK not in message.content.config_records:
        return known
    work = Work.read(message.content.config_records[WORK])
    own = _own_code(json.dumps(work.slice, sort_keys=True))
    known["code"] = own
    if own != work.code:
        print(f"eflops: {other_code('the server', work.code, 'this node', own)}", file=sys.stderr, flush=True)
        return known
    _, _, rows = _worker(message.content.config_records[WORK][WORK], place)  # type: ignore[arg-type]
    return {**known, "rows": len(rows)}


def other_code(one: str, one_code: str, other: str, other_code: str) -> str:
    """The sentence for two parties that run different code."""
    right = "install the same version of eflops on both"
    return f"{one} runs the code {one_code} and {other} the code {other_code}, which may give other numbers; {right}."


def _answer(message: Message, place: Place) -> dict[str, Any]:
    """The client's wire message for the server's. Only this and the rows need torch."""
    from eflops.training import messages
    from eflops.training.engines import batched
    from eflops.training.methods.base import answer
    from eflops.training.methods.dense import SupportFinetuning

    batched.prepare()
    received = message.content.config_records[RECORD]
    order = Order(**json.loads(str(received["order"])))
    task, method, rows = _worker(message.content.config_records[WORK][WORK], place)  # type: ignore[arg-type]
    data: Any = received["message"]
    payload = messages.decode(data, task.size)
    if order.phase != "training":
        assert payload.support is not None
        method = SupportFinetuning(task, payload.support)
    steps: Any = order.steps
    sent = answer(method, payload, rows, [order.seed], order.round, order.client, steps, order.batch_size)
    return {"message": messages.encode(sent, task.size)}


@lru_cache(maxsize=8)
def _own_code(slice_: str) -> str:
    return code.combined(code_hashes(json.loads(slice_)))


@lru_cache(maxsize=64)
def _worker(packed: bytes, place: Place) -> "tuple[Task, Rounds, Rows]":
    """The method and the client's rows; a simulated node is called again and again in the same process."""
    from eflops.config.settings import settings_class
    from eflops.flower.rows import load_rows
    from eflops.training.train import make_method, make_task

    work = Work.read(ConfigRecord({WORK: packed}))
    federation = load_rows(place, work)
    settings = settings_class(work.slice["method"]).model_validate(work.slice["settings"])
    (block,) = federation.clients
    # A node has no test rows: its own give the model its shape.
    task, _ = make_task(work.slice, [settings], replace(federation, test=block))
    if task.size != work.size:
        right = "bring rows with the features and classes that the server's test rows have"
        raise UserError(f"{place.data}: these rows make a model of {task.size} weights, not {work.size}; {right}.")
    return task, make_method(work.slice, task), task.model.rows(block.x, block.y)
