"""The server's side on Flower: orders to nodes over its grid, answers back, and what to do about clients that fail."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from logging import WARNING
from typing import Literal

import torch
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.common.constant import ErrorCode
from flwr.common.logger import log
from flwr.serverapp import Grid
from torch import Tensor

from eflops.errors import UserError
from eflops.flower.work import RECORD, WORK, Order, Work
from eflops.training import messages
from eflops.training.methods.base import Payload, Upload
from eflops.training.numerics import wire
from eflops.training.rounds import Asked, Phase

LATE = "did not answer in time"
NO_MESSAGE = "answered with something that is no message"
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

    nodes: the node of each client. work: what they work on, which goes with every order.
    faults: what clients were missing from a round; one that answered when it was asked again is in the log alone.
    """

    def __init__(self, grid: Grid, nodes: Mapping[int, int], work: Work, patience: Patience) -> None:
        self.grid, self.nodes, self.size, self.patience = grid, nodes, work.size, patience
        self.faults: list[str] = []
        self.channel = {"down": 0, "up": 0, "messages": 0}
        self._work = work.record()
        self._away: set[int] = set()

    def exchange(self, phase: Phase, download: Payload, asked: Asked, round_: int) -> list[Upload]:
        """The answers of the clients that the run asks; the weights of those that answered sum to one."""
        (seed,) = asked.seeds
        message = messages.encode(download, self.size)
        clients = asked.weights[0].nonzero()[:, 0].tolist()
        orders = {
            client: Order(client, phase.name, round_, seed, phase.steps, phase.batch_size).record(message)
            for client in clients
        }
        answers: dict[int, Payload] = {}
        faults: list[str] = []
        for _ in range(1 + self.patience.repeats * (self.patience.on_fault == "repeat")):
            missing = {client: orders[client] for client in clients if client not in answers}
            outcomes = self._ask(missing, download)
            answers |= {client: outcome for client, outcome in outcomes.items() if not isinstance(outcome, str)}
            faults = self._note(outcomes, f"{phase.name} round {round_ + 1}")
            if not faults:
                break
        self.faults += faults
        if not answers:
            raise UserError(f"no client answered: {self.faults[-1]}")
        weights = renormalised(asked.weights[0], sorted(answers))
        return [Upload(torch.tensor([0]), weights[client].view(1), answers[client]) for client in sorted(answers)]

    def _ask(self, orders: Mapping[int, ConfigRecord], download: Payload) -> dict[int, Payload | str]:
        """The answer of each client that came in time and makes sense, or what is wrong."""
        waiting = {self._send(client, record): client for client, record in orders.items()}
        outcomes: dict[int, Payload | str] = dict.fromkeys(orders, LATE)
        deadline = time.monotonic() + self.patience.seconds
        while waiting and time.monotonic() < deadline and not self._all_away(waiting.values(), len(orders)):
            for reply in self.grid.pull_messages(waiting):
                client = waiting.pop(reply.metadata.reply_to_message_id)
                outcomes[client] = self._read(reply, download)
            time.sleep(self.patience.poll_seconds if waiting else 0)
        return outcomes

    def _note(self, outcomes: Mapping[int, Payload | str], when: str) -> list[str]:
        """Say in Flower's log which clients failed, and remember them; the sentences."""
        failed = {client: outcome for client, outcome in outcomes.items() if isinstance(outcome, str)}
        self._away = (self._away - set(outcomes)) | set(failed)
        faults = [f"{when}: client {client} {fault}" for client, fault in failed.items()]
        for fault in faults:
            log(WARNING, fault)
        if faults and self.patience.on_fault == "stop":
            raise UserError(faults[-1])
        return faults

    def _send(self, client: int, record: ConfigRecord) -> str:
        content = RecordDict({RECORD: record, WORK: self._work})
        self._count("down", content)
        return send(self.grid, content, self.nodes[client], "train", self.patience.seconds)

    def _all_away(self, waiting: Iterable[int], asked: int) -> bool:
        """Whether all that is still missing are clients that failed before, while others have answered."""
        missing = set(waiting)
        return self.patience.on_fault == "continue" and missing <= self._away and len(missing) < asked

    def _read(self, reply: Message, download: Payload) -> Payload | str:
        """The payload of a client's answer, or what is wrong with it."""
        if reply.has_error():
            return REASONS.get(reply.error.code, "failed") + kind_of(reply)
        self._count("up", reply.content)
        try:
            data = reply.content.config_records[RECORD]["message"]
            if not isinstance(data, bytes):
                return NO_MESSAGE
            payload = messages.decode(data, self.size, download.support)
        except (KeyError, wire.WireError):
            return NO_MESSAGE
        for part in ("gates", "multiplier"):
            if (getattr(payload, part) is None) != (getattr(download, part) is None):
                return f"answered with a message of another method: its {part} do not match the order's"
        return payload

    def _count(self, way: str, content: RecordDict) -> None:
        """Add a message's payload as Flower serialises it."""
        self.channel[way] += sum(len(part.deflate()) for part in (content, *content.values()))
        self.channel["messages"] += 1


def send(grid: Grid, content: RecordDict, node: int, kind: str, seconds: float) -> str:
    """Send a message and give its number; Flower forgets it after some seconds."""
    (number,) = grid.push_messages([Message(content, node, kind, ttl=seconds)])
    return number


def renormalised(weights: Tensor, answered: list[int]) -> Tensor:
    """`weights` [clients], zero but for those that answered; untouched, to the last bit, if all that were asked did."""
    kept = torch.zeros_like(weights)
    kept[answered] = weights[answered]
    return kept if torch.equal(kept, weights) else kept / kept.sum()


def kind_of(reply: Message) -> str:
    """The kind of a node's error; any longer text could hold what only the node may know."""
    reason = reply.error.reason or ""
    return f" ({reason})" if reason.isidentifier() else ""
