"""The server's side on Flower: orders to nodes over its grid, answers back, and what to do about clients that fail."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid
from torch import Tensor

from eflops import wire
from eflops.engines import messages
from eflops.engines.flower.client import RECORD, Order
from eflops.engines.rounds import Asked, Phase
from eflops.errors import UserError
from eflops.methods.base import Payload, Upload

LATE = "did not answer in time"
REASONS = {
    ErrorCode.NODE_UNAVAILABLE: "is gone",
    ErrorCode.MESSAGE_UNAVAILABLE: LATE,
    ErrorCode.REPLY_MESSAGE_UNAVAILABLE: LATE,
}


@dataclass(frozen=True)
class Patience:
    """How long to wait for clients, and what follows when one fails.

    stop      the run ends with an error.
    continue  the round goes on with those that answered; a client that failed is asked again in later rounds, but
              nobody waits for it alone.
    repeat    those that failed are asked for the same round again, `repeats` times; then the round goes on.
    """

    on_fault: Literal["stop", "continue", "repeat"] = "stop"
    seconds: float = 600.0
    repeats: int = 2
    poll_seconds: float = 0.01


class GridTransport:
    """Brings one run's messages to the clients that are asked and their answers back, in the order of the clients.

    nodes: the node of each client. extra: records that go with every order.
    """

    def __init__(
        self,
        grid: Grid,
        nodes: dict[int, int],
        size: int,
        patience: Patience,
        extra: dict[str, ConfigRecord] | None = None,
    ) -> None:
        self.grid, self.nodes, self.size, self.patience, self.extra = grid, nodes, size, patience, extra or {}
        self.faults: list[str] = []
        self.channel = {"down": 0, "up": 0, "messages": 0}
        self._away: set[int] = set()

    def exchange(self, phase: Phase, download: Payload, asked: Asked, round_: int) -> list[Upload]:
        """The answers of the clients that the run asks; the weights of those that answered sum to one."""
        (seed,) = asked.seeds
        order = Order(phase.name, round_, seed, phase.steps, phase.batch_size)
        record = order.record(messages.encode(download, self.size))
        clients = asked.weights[0].nonzero()[:, 0].tolist()
        answers: dict[int, Payload] = {}
        attempts = 1 + self.patience.repeats * (self.patience.on_fault == "repeat")
        while attempts and len(answers) < len(clients):
            missing = [client for client in clients if client not in answers]
            answers |= self._ask(missing, record, download, f"{phase.name} round {round_ + 1}")
            attempts -= 1
        if not answers:
            raise UserError(f"no client answered: {self.faults[-1]}")
        weights = renormalised(asked.weights[0], sorted(answers))
        return [Upload(torch.tensor([0]), weights[client].view(1), answers[client]) for client in sorted(answers)]

    def _ask(self, clients: list[int], record: ConfigRecord, download: Payload, when: str) -> dict[int, Payload]:
        """The answers that came in time and make sense; every other client is a fault."""
        waiting = {self._send(client, record): client for client in clients}
        outcomes: dict[int, Payload | str] = dict.fromkeys(clients, LATE)
        deadline = time.monotonic() + self.patience.seconds
        while waiting and time.monotonic() < deadline and not self._all_away(waiting.values(), clients):
            for reply in self.grid.pull_messages(waiting):
                client = waiting.pop(reply.metadata.reply_to_message_id)
                outcomes[client] = self._read(reply, download)
            time.sleep(self.patience.poll_seconds if waiting else 0)
        faults = {client: outcome for client, outcome in outcomes.items() if isinstance(outcome, str)}
        self.faults += [f"{when}: client {client} {fault}" for client, fault in faults.items()]
        self._away = (self._away - set(clients)) | set(faults)
        if faults and self.patience.on_fault == "stop":
            raise UserError(self.faults[-1])
        return {client: outcome for client, outcome in outcomes.items() if not isinstance(outcome, str)}

    def _send(self, client: int, record: ConfigRecord) -> str:
        content = RecordDict({RECORD: record, **self.extra})
        self._count("down", content)
        return send(self.grid, content, self.nodes[client], "train", self.patience.seconds)

    def _all_away(self, waiting: Iterable[int], clients: list[int]) -> bool:
        """Whether all that is still missing are clients that failed before, while others have answered."""
        missing = set(waiting)
        return self.patience.on_fault == "continue" and missing <= self._away and len(missing) < len(clients)

    def _read(self, reply: Message, download: Payload) -> Payload | str:
        """The payload of a client's answer, or what is wrong with it."""
        if reply.has_error():
            return REASONS.get(reply.error.code, "failed") + _kind(reply.error.reason or "")
        self._count("up", reply.content)
        try:
            data = reply.content.config_records[RECORD]["message"]
            if not isinstance(data, bytes):
                return "answered with something that is no message"
            payload = messages.decode(data, self.size, download.support)
        except (KeyError, wire.WireError):
            return "answered with something that is no message"
        for part in ("gates", "multiplier"):
            if (getattr(payload, part) is None) != (getattr(download, part) is None):
                return f"answered with a message of another method: its {part} do not match the order's"
        return payload

    def _count(self, way: str, content: RecordDict) -> None:
        """Add a message's payload as Flower serialises it."""
        self.channel[way] += sum(len(part.deflate()) for part in (content, *content.values()))
        self.channel["messages"] += 1


def find_nodes(grid: Grid, clients: int, patience: Patience) -> dict[int, int]:
    """The node of each client. Flower numbers nodes at random, so each is asked, as soon as it is there."""
    found: dict[int, int] = {}
    waiting: dict[str, int] = {}
    deadline = time.monotonic() + patience.seconds
    while len(found) < clients:
        if time.monotonic() > deadline:
            raise UserError(f"only {len(found)} of {clients} clients were there after {patience.seconds:g} seconds")
        for node in set(grid.get_node_ids()) - {*found.values(), *waiting.values()}:
            waiting[send(grid, RecordDict(), node, "query", patience.seconds)] = node
        for reply in grid.pull_messages(waiting) if waiting else ():
            node = waiting.pop(reply.metadata.reply_to_message_id)
            if reply.has_content():
                client = int(str(reply.content.config_records[RECORD]["client"]))
                if client in found or client >= clients:
                    raise UserError(f"node {node} says it is client {client}, which it cannot be of {clients} clients")
                found[client] = node
        time.sleep(patience.poll_seconds)
    return found


def send(grid: Grid, content: RecordDict, node: int, kind: str, seconds: float) -> str:
    """Send a message and give its number; Flower forgets it after some seconds."""
    (number,) = grid.push_messages([Message(content, node, kind, ttl=seconds)])
    return number


def renormalised(weights: Tensor, answered: list[int]) -> Tensor:
    """`weights` [clients], zero but for those that answered; untouched, to the last bit, if all that were asked did."""
    kept = torch.zeros_like(weights)
    kept[answered] = weights[answered]
    return kept if torch.equal(kept, weights) else kept / kept.sum()


def _kind(reason: str) -> str:
    """The kind of a client's error; any longer text could hold what only the client may know."""
    return f" ({reason})" if reason.isidentifier() else ""
