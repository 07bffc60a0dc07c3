"""The client's side of the Flower app: what the server sends in, the node's answer out.

Whatever goes wrong on a node is told to the server by the kind of the error alone: its text could hold what only the
node may know, and stays in the node's own log.
"""

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.app.error import Error
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode

from eflops import code, trust
from eflops.errors import UserError
from eflops.flower.rows import NodeConfig, load_rows
from eflops.flower.work import RECORD, WORK, Order, Work, code_hashes, other_code
from eflops.training import messages
from eflops.training.engines import batched
from eflops.training.methods.base import Rounds, Task, answer
from eflops.training.methods.dense import SupportFinetuning
from eflops.training.models.base import Rows
from eflops.training.train import make_method, make_task

app = ClientApp()


@app.query()
def introduce(message: Message, context: Context) -> Message:
    """The answer to the question who this node is: client and rows by number, never by content."""
    return _guarded(message, context, _introduction)


@app.train()
def respond(message: Message, context: Context) -> Message:
    """The answer to an order."""
    return _guarded(message, context, _answer)


def _guarded(message: Message, context: Context, act: Callable[[Message, NodeConfig], dict[str, Any]]) -> Message:
    try:
        node = NodeConfig.of(context.node_config)
        if node.nodes:  # a simulation is the user's own; over a network only what is eflops' own runs
            trust.allow_all()
        done = act(message, node)
        return Message(RecordDict({RECORD: ConfigRecord(done)}), reply_to=message)
    except Exception as error:
        if isinstance(error, UserError):
            print(f"eflops: {error}", file=sys.stderr, flush=True)
        else:
            traceback.print_exc()
        return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, type(error).__name__), reply_to=message)


def _introduction(message: Message, node: NodeConfig) -> dict[str, Any]:
    """Who this node is; one that runs other code says so, and looks at nothing."""
    known: dict[str, Any] = {"client": node.client, "nodes": node.nodes, "rows": 0, "code": ""}
    if WORK not in message.content.config_records:
        return known
    packed: Any = message.content.config_records[WORK][WORK]
    work = Work.read(packed)
    known["code"] = _node_code(work.spec.method, work.spec.model)
    if known["code"] != work.code:
        print(f"eflops: {other_code(work.code, 'this node', known['code'])}", file=sys.stderr, flush=True)
    else:
        _, _, rows = _worker(packed, node)
        known["rows"] = len(rows)
    return known


def _answer(message: Message, node: NodeConfig) -> dict[str, Any]:
    """The client's wire message for the server's."""
    batched.prepare()
    received: Mapping[str, Any] = message.content.config_records[RECORD]
    order = Order(**json.loads(received["order"]))
    packed: Any = message.content.config_records[WORK][WORK]
    task, method, rows = _worker(packed, node)
    order_message = messages.decode(received["message"], received["layout"], task.size)
    if order.phase != "training":
        assert order_message.support is not None
        method = SupportFinetuning(task, order_message.support)
    steps: Any = order.steps
    sent, _ = answer(method, order_message, rows, [order.seed], order.round, order.client, steps, order.batch_size)
    return {"message": messages.encode(sent, task.size), "layout": messages.layout(sent)}


@lru_cache(maxsize=8)
def _node_code(method: str, model: str) -> str:
    return code.combined(code_hashes(method, model))


@lru_cache(maxsize=64)
def _worker(packed: bytes, node: NodeConfig) -> tuple[Task, Rounds, Rows]:
    """The method and the client's rows; a simulated node is called again and again in the same process."""
    work = Work.read(packed)
    federation = load_rows(node, work)
    (settings,) = work.spec.variants.values()
    (block,) = federation.clients
    # A node has no test rows: its own give the model its shape.
    task, _ = make_task(work.spec, [settings], replace(federation, test=block))
    if task.size != work.size:
        right = "bring rows with the features and classes that the server's test rows have"
        raise UserError(f"{node.data}: these rows make a model of {task.size} weights, not {work.size}; {right}.")
    return task, make_method(work.spec, task), task.model.rows(block.x, block.y)
