"""The client side of the Flower app: from the server's message to the node's answer.

A node reports only the class of an error to the server: the error's text may contain private data and stays in the
node's log.
"""

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import torch
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.app.error import Error
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode
from flwr.supercore.utils import get_flwr_home

from eflops import code, trust
from eflops.errors import UserError
from eflops.flower.assignment import ASSIGNMENT, FORGET, LOST, RECORD, Assignment, Request, code_hashes, other_code
from eflops.flower.memory import ClientState, NodeMemory
from eflops.flower.rows import NodeConfig, load_rows
from eflops.training import messages
from eflops.training.engines import batched
from eflops.training.methods.base import Rounds, State, Task, answer, check_message
from eflops.training.methods.dense import SupportFinetuning
from eflops.training.models.base import Rows
from eflops.training.train import make_method, make_task

app = ClientApp()
# Where a node keeps clients' memory, below Flower's own folder (FLWR_HOME).
MEMORY = "eflops-memory"


@app.query()
def introduce(message: Message, context: Context) -> Message:
    """The node's introduction: its client number and the number of its rows, never their content."""
    return _guarded(message, context, _introduction)


@app.train()
def respond(message: Message, context: Context) -> Message:
    """The answer to a request."""
    return _guarded(message, context, _answer)


def _guarded(message: Message, context: Context, act: Callable[[Message, NodeConfig], dict[str, Any]]) -> Message:
    try:
        node = NodeConfig.of(context.node_config)
        with trust.session():
            # A simulation is the user's; over a network only eflops and what the node's owner names runs.
            if node.nodes:
                trust.allow_all()
            for name in node.trusted:
                trust.allow("method", name)
                trust.allow("model", name)
            done = act(message, node)
        return Message(RecordDict({RECORD: ConfigRecord(done)}), reply_to=message)
    except Exception as error:
        if isinstance(error, UserError):
            print(f"eflops: {error}", file=sys.stderr, flush=True)
        else:
            traceback.print_exc()
        return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, type(error).__name__), reply_to=message)


def _introduction(message: Message, node: NodeConfig) -> dict[str, Any]:
    """The node's introduction; a node with other code only reports that, and reads no rows."""
    known: dict[str, Any] = {"client": node.client, "nodes": node.nodes, "rows": 0, "code": ""}
    if FORGET in message.content.config_records:
        over: Any = message.content.config_records[FORGET]
        # The size of the model does not matter for deleting, and the key is checked before it names a file.
        NodeMemory(_memory_folder(), over["key"], over["client"], 0).forget()
    if ASSIGNMENT not in message.content.config_records:
        return known
    packed: Any = message.content.config_records[ASSIGNMENT][ASSIGNMENT]
    assignment = Assignment.read(packed)
    known["code"] = _node_code(assignment.spec.method, assignment.spec.model)
    if known["code"] != assignment.code:
        print(f"eflops: {other_code(assignment.code, 'this node', known['code'])}", file=sys.stderr, flush=True)
    else:
        _, _, rows = _worker(packed, node)
        known["rows"] = len(rows)
    return known


def _answer(message: Message, node: NodeConfig) -> dict[str, Any]:
    """The client's wire message in answer to the server's."""
    # For each message: simulated clients live in processes of Ray, which nobody has prepared.
    batched.prepare()
    received: Mapping[str, Any] = message.content.config_records[RECORD]
    request = Request(**json.loads(received["request"]))
    packed: Any = message.content.config_records[ASSIGNMENT][ASSIGNMENT]
    task, method, rows = _worker(packed, node)
    sent = zip(received["messages"], received["layouts"], strict=True)
    received_messages = [messages.decode(data, layout, task.size) for data, layout in sent]
    kept = NodeMemory(_memory_folder(), request.key, request.client, task.size)
    if request.phase != "training":
        support = received_messages[-1].support
        assert support is not None
        method = SupportFinetuning(task, support)
    if not hasattr(method, "start_memory"):
        result, _ = _train(method, received_messages[-1], rows, request, {})
    else:
        state = _state(method, kept, request, received_messages)
        if state is None:
            return {LOST: True}
        before, current = state
        result, memory = _train(method, current.view or received_messages[-1], rows, request, current.memory)
        # Before the answer leaves: an answer that the server uses has its state on disk.
        kept.keep(before, replace(current, memory=memory))
    return {"message": messages.encode(result, task.size), "layout": messages.layout(result)}


def _memory_folder() -> Path:
    return get_flwr_home() / MEMORY


def _train(
    method: Rounds, received: messages.Message, rows: Rows, request: Request, memory: State
) -> tuple[messages.Message, State]:
    """The client's answer and its new memory. A method may change its input, so it gets copies."""
    check_message(method, received, 1, "the server's message")
    (copy,) = received.split(torch.tensor([0]), [1])
    memory = {name: values.clone() for name, values in memory.items()}
    steps: Any = request.steps
    return answer(
        method, copy, rows, [request.seed], request.round, request.client, steps, request.batch_size, memory=memory
    )


def _state(
    method: Any, kept: NodeMemory, request: Request, received: list[messages.Message]
) -> tuple[ClientState | None, ClientState] | None:
    """The client's state after its last used answer, updated with this request's messages; None if it is lost.

    A client that never answered, or whose lost state is sent again, starts with an empty memory.
    """
    seeds, has_view = [request.seed], hasattr(method, "start_view")
    # There is no state before: if this answer is lost too, the server sends the whole view again.
    if request.resync:
        return None, ClientState(request.round, method.start_memory(seeds), received[-1] if has_view else None)
    if request.last_used < 0:
        before = None
        # A client's first view follows from the seed, so it is never sent.
        state = ClientState(-1, method.start_memory(seeds), method.start_view(seeds) if has_view else None)
    else:
        before = kept.after(request.last_used)
        if before is None:
            return None
        state = before
    view = state.view
    if view is not None:
        view = reduce(method.receive, received, view)
    return before, replace(state, round=request.round, view=view)


@lru_cache(maxsize=8)
def _node_code(method: str, model: str) -> str:
    return code.combined(code_hashes(method, model))


@lru_cache(maxsize=64)
def _worker(packed: bytes, node: NodeConfig) -> tuple[Task, Rounds, Rows]:
    """The method and the client's rows, cached because a simulated node is called repeatedly in one process."""
    # The packed bytes are the cache's key; they are equal for all requests of a run (sorted keys).
    assignment = Assignment.read(packed)
    federation = load_rows(node, assignment)
    (settings,) = assignment.spec.variants.values()
    (block,) = federation.clients
    # A node has no test rows: its own give the model its shape.
    task, _ = make_task(assignment.spec, [settings], replace(federation, test=block))
    if task.size != assignment.size:
        right = "use rows with the features and classes of the server's test rows"
        raise UserError(
            f"{node.data}: these rows need a model of {task.size} weights, but the server's has {assignment.size};"
            f" {right}."
        )
    return task, make_method(assignment.spec, task), task.model.rows(block.x, block.y)
