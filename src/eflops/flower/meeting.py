"""Meeting the nodes: the server asks each who it is, until all clients are there and run the same code."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from logging import INFO
from typing import Any

from flwr.app import Message, RecordDict
from flwr.common.logger import log
from flwr.serverapp import Grid

from eflops.errors import UserError
from eflops.flower.client import other_code
from eflops.flower.grid import kind_of, send
from eflops.flower.work import RECORD, WORK, Work

POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Node:
    """What the server learns of a node: its number at Flower, the client it says it is or -1, and how many rows."""

    number: int
    client: int
    rows: int
    simulated: bool = False


def meet(grid: Grid, clients: int, work: Work | None, seconds: float) -> dict[int, Node]:
    """The node of each client, by client. Flower numbers nodes at random, so each is asked as soon as it is there.

    work: what is to be done, which a node may refuse; None asks simulated nodes for their numbers alone.
    """
    question = RecordDict({WORK: work.record()} if work else {})
    found: list[Node] = []
    waiting: dict[str, int] = {}
    deadline = time.monotonic() + seconds
    while len(found) < clients:
        if time.monotonic() > deadline:
            raise UserError(f"only {len(found)} of {clients} clients were there after {seconds:g} seconds")
        for number in set(grid.get_node_ids()) - {*(node.number for node in found), *waiting.values()}:
            waiting[send(grid, question, number, "query", seconds)] = number
        for reply in grid.pull_messages(waiting) if waiting else ():
            number = waiting.pop(reply.metadata.reply_to_message_id)
            node = _introduced(reply, number, clients, work)
            if node is not None:
                found.append(node)
                log(INFO, "node %s is there: client %s, %s rows", number, node.client, node.rows)
        time.sleep(POLL_SECONDS if len(found) < clients else 0)
    return numbered(found)


def _introduced(reply: Message, number: int, clients: int, work: Work | None) -> Node | None:
    """What a node says of itself; None where it was not there after all."""
    if reply.has_error():
        if reply.error.reason and kind_of(reply):
            raise UserError(f"node {number} refused the run{kind_of(reply)}; its own log says why.")
        return None
    try:
        said: Mapping[str, Any] = reply.content.config_records[RECORD]
        client, rows, nodes, code = int(said["client"]), int(said["rows"]), int(said["nodes"]), str(said["code"])
    except (KeyError, TypeError, ValueError):
        raise UserError(f"node {number} answered with something that is no introduction.") from None
    if nodes and nodes != clients:
        right = f"--federation-config num-supernodes={clients}"
        raise UserError(f"the data have {clients} clients and Flower simulates {nodes} nodes; add: {right}")
    if work and code != work.code:
        raise UserError(other_code("the server", work.code, f"node {number}", code))
    return Node(number, client, rows, bool(nodes))


def numbered(found: list[Node]) -> dict[int, Node]:
    """The nodes by client: those that say which they are, and the others, in the order of their numbers, in between."""
    named: dict[int, Node] = {}
    for node in found:
        if node.client >= 0 and (node.client in named or node.client >= len(found)):
            raise UserError(
                f"node {node.number} says it is client {node.client}, which it cannot be of {len(found)} clients"
            )
        if node.client >= 0:
            named[node.client] = node
    free = iter(client for client in range(len(found)) if client not in named)
    rest = sorted((node for node in found if node.client < 0), key=lambda node: node.number)
    return dict(sorted({**named, **{next(free): node for node in rest}}.items()))
