"""The server's side of Flower's grid: nodes, requests, answers, and clients that fail."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from logging import INFO, WARNING
from typing import Any, Literal

import torch
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.common.constant import ErrorCode
from flwr.common.logger import log
from flwr.serverapp import Grid
from torch import Tensor

from eflops.errors import UserError
from eflops.files import sha256_bytes
from eflops.flower.assignment import ASSIGNMENT, FORGET, LOST, RECORD, Assignment, Request, other_code
from eflops.training import messages
from eflops.training.methods.base import Upload
from eflops.training.methods.dense import SupportFinetuning
from eflops.training.numerics import wire
from eflops.training.rounds import ClientSelection, Phase

LATE, GONE = "did not answer in time", "is gone"
# Beyond this a count of rows cannot be meant, and its share of the average would drown the other clients'.
MOST_ROWS = 10**9
METHODS = "eflops.training.methods."
NO_MESSAGE = "answered with bytes that are not a message"
NOT_KNOWN = "has lost its memory and view"
# Sums of larger values would overflow. A client that trains soundly sends nothing near this.
LARGEST_VALUE = 1e30
REASONS = {
    ErrorCode.NODE_UNAVAILABLE: GONE,
    ErrorCode.MESSAGE_UNAVAILABLE: LATE,
    ErrorCode.REPLY_MESSAGE_UNAVAILABLE: LATE,
}


@dataclass(frozen=True)
class FaultPolicy:
    """How long to wait for clients, and what to do if one fails.

    stop      the run ends with an error.
    continue  the round continues with the clients that answered. A client that was late or gone is asked again in later
    rounds,
              but nobody waits for it alone.
    repeat    failed clients are asked for the same round again, up to `repeats` times; then the round continues.
    """

    on_fault: Literal["stop", "continue", "repeat"] = "stop"
    seconds: float = 600.0
    repeats: int = 2
    poll_seconds: float = 0.01


@dataclass(frozen=True)
class Node:
    """What the server knows about a node: its Flower id, its client number (-1 if unset), and its number of rows."""

    number: int
    client: int
    rows: int
    simulated: bool = False


def meet(grid: Grid, clients: int, assignment: Assignment | None, seconds: float) -> dict[int, Node]:
    """The node of each client, by client. Flower's ids are random, so each node is asked as soon as it connects.

    assignment: sent to the nodes, which may refuse it; None asks simulated nodes only for their numbers.
    """
    question = RecordDict({ASSIGNMENT: assignment.record()} if assignment else {})
    nodes: list[Node] = []
    waiting: dict[str, int] = {}
    deadline = time.monotonic() + seconds
    while True:
        # Nodes connect at different times, so the list is read again in every turn.
        for number in set(grid.get_node_ids()) - {*(node.number for node in nodes), *waiting.values()}:
            waiting[_send(grid, question, number, "query", seconds)] = number
        for reply in grid.pull_messages(waiting) if waiting else ():
            number = waiting.pop(reply.metadata.reply_to_message_id)
            # None if the node went away before it answered; if it comes back, it is listed and asked again.
            node = _introduced(reply, number, clients, assignment)
            if node is not None:
                nodes.append(node)
                log(INFO, "node %s is connected: client %s, %s rows", number, node.client, node.rows)
        if len(nodes) >= clients:
            return numbered(nodes)
        if time.monotonic() > deadline:
            raise UserError(f"only {len(nodes)} of {clients} clients were connected after {seconds:g} seconds")
        time.sleep(0.1)


def _introduced(reply: Message, number: int, clients: int, assignment: Assignment | None) -> Node | None:
    """The introduction of a node; None if it has disconnected."""
    if reply.has_error():
        if _kind(reply):
            raise UserError(f"node {number} refused the run{_kind(reply)}; see its log for the reason.")
        return None
    try:
        said: Mapping[str, Any] = reply.content.config_records[RECORD]
        client, rows, nodes, code = int(said["client"]), int(said["rows"]), int(said["nodes"]), str(said["code"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise UserError(f"node {number} answered the server's first request with an invalid message.") from None
    if nodes and nodes != clients:
        right = f"--federation-config num-supernodes={clients}"
        raise UserError(f"the data have {clients} clients and Flower simulates {nodes} nodes; add: {right}")
    if assignment and code != assignment.code:
        raise UserError(other_code(assignment.code, f"node {number}", code))
    if assignment and not 1 <= rows <= MOST_ROWS:
        raise UserError(f"node {number} reports {rows} rows; a client has between 1 and {MOST_ROWS}.")
    return Node(number, client, rows, bool(nodes))


def numbered(nodes: list[Node]) -> dict[int, Node]:
    """The nodes by client: those with a client number, and the others in the order of their Flower ids in the gaps."""
    named: dict[int, Node] = {}
    for node in (node for node in nodes if node.client >= 0):
        if node.client in named or node.client >= len(nodes):
            cannot = f"but there are {len(nodes)} clients"
            raise UserError(f"node {node.number} says it is client {node.client}, {cannot}")
        named[node.client] = node
    # Flower's ids persist as long as the keys are registered, so a resumed run numbers the nodes as before.
    rest = iter(sorted((node for node in nodes if node.client < 0), key=lambda node: node.number))
    return {client: named[client] if client in named else next(rest) for client in range(len(nodes))}


class GridTransport:
    """Exchanges one run's messages with the selected clients, in the order of the clients.

    nodes: the Flower id of each client's node. assignment: sent with every request. faults: the clients missing
    from each round; a client that answered a repeated request is only in the log. channel: bytes as Flower
    serialises them, and among them those of whole views sent again (`resync`).
    """

    def __init__(self, grid: Grid, nodes: Mapping[int, int], assignment: Assignment, fault_policy: FaultPolicy) -> None:
        self.grid, self.nodes, self.size, self.fault_policy = grid, nodes, assignment.size, fault_policy
        self.faults: list[str] = []
        self.channel = {"down": 0, "up": 0, "messages": 0, "resync": 0}
        self._assignment = assignment.record()
        # From what the run is, because Flower's run ids change when a run is resumed.
        self._run_key = sha256_bytes(self._assignment[ASSIGNMENT])[:16]  # type: ignore[arg-type]
        self._key = ""
        self._away: set[int] = set()
        # Of the present phase: the last round whose answer counts, by client; all messages so far, encoded, with their
        # layouts; what clients know.
        self.last_used: dict[int, int] = {}
        self._phase: Phase | None = None
        self._sent: list[tuple[bytes, str]] = []
        self._view: messages.Message | None = None

    def exchange(
        self, phase: Phase, download: messages.Message, selection: ClientSelection, round_: int
    ) -> list[Upload]:
        """The answers of the clients that the run selects; the weights of the clients that answered sum to one."""
        self.remember(phase, download, selection)
        clients = selection.weights[0].nonzero()[:, 0].tolist()
        seed = selection.seeds[0]
        requests = {client: self._request(client, seed, round_) for client in clients}
        answers: dict[int, messages.Message] = {}
        faults: list[str] = []
        # A repeated request changes no bit: its numbers are addressed by seed, round and client, and a node answers it
        # from the state before the lost answer.
        for _ in range(1 + self.fault_policy.repeats * (self.fault_policy.on_fault == "repeat")):
            missing = {client: request for client, request in requests.items() if client not in answers}
            outcomes = self._ask(missing, download)
            lost = [client for client, outcome in outcomes.items() if outcome == NOT_KNOWN]
            # A node without its state cannot continue from changes, so it gets the whole view within the same round.
            if lost:
                self.faults += self._say(f"{phase.name} round {round_ + 1}", dict.fromkeys(lost, NOT_KNOWN))
                again = {client: self._request(client, seed, round_, True) for client in lost}
                outcomes |= self._ask(again, download)
            answers |= {client: outcome for client, outcome in outcomes.items() if not isinstance(outcome, str)}
            faults = self._note(outcomes, f"{phase.name} round {round_ + 1}")
            if not faults:
                break
        self.faults += faults
        if not answers:
            raise UserError(f"no client answered: {self.faults[-1]}")
        # A client that failed keeps its former round: its node continues from the state of that answer.
        self.last_used |= dict.fromkeys(answers, round_)
        weights = renormalised(selection.weights[0], sorted(answers))
        # By client, not by arrival: sums of floats depend on their order, and the batched engine adds in this one.
        return [Upload(torch.tensor([0]), weights[client].view(1), answers[client]) for client in sorted(answers)]

    def remember(self, phase: Phase, download: messages.Message, selection: ClientSelection) -> None:
        """Store a round's message, which other clients get later, and the view after it."""
        method: Any = phase.method
        if self._phase is not phase:
            # Without waiting: the nodes read it while finetuning goes on.
            self.forget()
            self._phase, self._sent, self.last_used = phase, [], {}
            self._key = f"{self._run_key}-{selection.seeds[0]}"
            self._view = method.start_view(selection.seeds) if hasattr(method, "start_view") else None
        self._sent.append(_encoded(download, self.size))
        # Moved as clients move theirs, so that it can be sent to one that lost its own.
        if self._view is not None:
            self._view = method.receive(self._view, download)

    def forget(self, seconds: float = 0.0) -> None:
        """Make all nodes delete the clients' state of a finished phase, and wait at most `seconds`.

        All nodes, because even an answer that came too late left state on its node.
        """
        if self._phase is None or not hasattr(self._phase.method, "start_memory"):
            return
        waiting = set()
        for client, node in self.nodes.items():
            content = RecordDict({FORGET: ConfigRecord({"key": self._key, "client": client})})
            waiting |= {*self.grid.push_messages([Message(content, node, "query", ttl=self.fault_policy.seconds)])}
        deadline = time.monotonic() + seconds
        while waiting and time.monotonic() < deadline:
            waiting -= {reply.metadata.reply_to_message_id for reply in self.grid.pull_messages(waiting)}
            time.sleep(self.fault_policy.poll_seconds)

    def _request(self, client: int, seed: int, round_: int, resync: bool = False) -> ConfigRecord:
        """A client's request, including missed messages if the method has a view, or the whole view if the state is
        lost."""
        assert self._phase is not None
        # Without a view a message stands by itself, so the last one is enough.
        phase, last_round, sent = self._phase, self.last_used.get(client, -1), self._sent[-1:]
        if self._view is not None and resync:
            sent = [_encoded(self._view, self.size)]
            self.channel["resync"] += len(sent[0][0])
        elif self._view is not None:
            # Everything since the client's last used answer; `_sent` starts again in each phase, rounds do not.
            sent = self._sent[max(0, last_round + 1 - phase.first_round) :]
        request = Request(
            client, phase.name, round_, seed, phase.steps, phase.batch_size, self._key, last_round, resync
        )
        return request.record(sent)

    def _ask(
        self, requests: Mapping[int, ConfigRecord], download: messages.Message
    ) -> dict[int, messages.Message | str]:
        """The answer of each client if it is in time and valid, else the fault."""
        waiting: dict[str, int] = {}
        for client, request in requests.items():
            content = RecordDict({RECORD: request, ASSIGNMENT: self._assignment})
            self._count("down", content)
            waiting[_send(self.grid, content, self.nodes[client], "train", self.fault_policy.seconds)] = client
        # Whoever has not answered by the deadline is late; answers overwrite this.
        outcomes: dict[int, messages.Message | str] = dict.fromkeys(requests, LATE)
        deadline = time.monotonic() + self.fault_policy.seconds
        while waiting and time.monotonic() < deadline and not self._only_away(waiting.values(), len(requests)):
            # Only this round's ids are asked for, so an answer to an earlier round can never be taken for one to this.
            for reply in self.grid.pull_messages(waiting):
                client = waiting.pop(reply.metadata.reply_to_message_id)
                outcomes[client] = self._read(reply, download)
            time.sleep(self.fault_policy.poll_seconds if waiting else 0)
        return outcomes

    def _only_away(self, waiting: Iterable[int], selected: int) -> bool:
        """Whether only clients that failed before are missing, and others have answered."""
        missing = set(waiting)
        return self.fault_policy.on_fault == "continue" and missing <= self._away and len(missing) < selected

    def _note(self, outcomes: Mapping[int, messages.Message | str], when: str) -> list[str]:
        """Log which clients failed, remember the absent ones, and return the sentences."""
        # An answer, even an invalid one, shows that the client is there again.
        failed = {client: outcome for client, outcome in outcomes.items() if isinstance(outcome, str)}
        self._away -= set(outcomes)
        # An invalid answer is not here: whoever sent it is present, and the next round waits for it as for any other.
        self._away |= {client for client, fault in failed.items() if fault.startswith((LATE, GONE))}
        faults = self._say(when, failed)
        if faults and self.fault_policy.on_fault == "stop":
            raise UserError(faults[-1])
        return faults

    def _say(self, when: str, failed: Mapping[int, str]) -> list[str]:
        """Sentences about clients, also written to Flower's log."""
        faults = [f"{when}: client {client} {fault}" for client, fault in failed.items()]
        for fault in faults:
            log(WARNING, fault)
        return faults

    def _read(self, reply: Message, download: messages.Message) -> messages.Message | str:
        """The message in a client's answer, or its fault."""
        if reply.has_error():
            return REASONS.get(reply.error.code, "failed") + _kind(reply)
        self._count("up", reply.content)
        try:
            sent = reply.content.config_records[RECORD]
            if sent.get(LOST):
                return NOT_KNOWN
            data, layout = sent["message"], sent["layout"]
            if not isinstance(data, bytes) or not isinstance(layout, str):
                return NO_MESSAGE
            # A dense message of as many parts, with indices, is longer than any that a client may send.
            most = 1000 + 8 * self.size * len(download.parts)
            if len(data) > most or len(layout) > most:
                return f"answered with {len(data)} bytes; a message has at most {most}"
            answer = messages.decode(data, layout, self.size, download)
        except (KeyError, wire.WireError):
            return NO_MESSAGE
        # A client is not trusted: everything that aggregation relies on is checked before it is used.
        for actual, expected in ((answer.parts, download.parts), (answer.scalars, download.scalars)):
            if odd := sorted({*actual} ^ {*expected}):
                return f"answered with a message of another method: its {odd[0]} do not match the request"
        if answer.ungated != download.ungated:
            return f"answered with {answer.ungated} ungated values; the request has {download.ungated}"
        for name, part in download.parts.items():
            if (width := answer[name].shape[1]) != (right := part.values.shape[1]):
                return f"answered with {width} values of {name}; the request has {right}"
        return self._wrong_support(answer, download) or _wrong_values(answer) or answer

    def _wrong_support(self, answer: messages.Message, download: messages.Message) -> str:
        """The fault in the entries of an answer; for custom methods only the layout can be checked."""
        assert self._phase is not None
        method: Any = self._phase.method
        # In finetuning the support is the server's, so another one is a fault and not a choice.
        if isinstance(method, SupportFinetuning):
            same = answer.support is not None and torch.equal(answer.support, download.support)  # type: ignore[arg-type]
            return "" if same else "answered with a support that differs from the request"
        if not type(method).__module__.startswith(METHODS) or not hasattr(method, "upload_entries"):
            return ""
        expected = method.upload_entries(self._phase.first_round + len(self._sent) - 1)
        for name, part in answer.parts.items():
            entries = None if part.support is None else int(part.support[:, : self.size - answer.ungated].sum())
            if entries != expected:
                said, right = ("all" if number is None else number for number in (entries, expected))
                return f"answered with {said} entries of {name}, and this round's method sends {right}"
        return ""

    def _count(self, way: str, content: RecordDict) -> None:
        """Add a message's payload as Flower serialises it."""
        # A record dict deflates to the names of its records alone, so they are counted one by one.
        self.channel[way] += sum(len(part.deflate()) for part in (content, *content.values()))
        self.channel["messages"] += 1


def _wrong_values(answer: messages.Message) -> str:
    """The fault in an answer's numbers: not finite, or so large that sums would overflow."""
    numbers = {name: part.values for name, part in answer.parts.items()} | dict(answer.scalars)
    numbers |= {f"the rest of {name}": part.common for name, part in answer.parts.items() if part.common is not None}
    for name, values in numbers.items():
        if not torch.isfinite(values).all():
            return f"answered with values of {name} that are not finite"
        if values.abs().max() > LARGEST_VALUE:
            return f"answered with values of {name} beyond {LARGEST_VALUE:g}"
    return ""


def renormalised(weights: Tensor, answered: list[int]) -> Tensor:
    """`weights` [clients], zero except for clients that answered; bitwise unchanged if all did."""
    kept = torch.zeros_like(weights)
    kept[answered] = weights[answered]
    # Dividing by a sum of nearly 1 would change the last bits of a round without faults.
    return kept if torch.equal(kept, weights) else kept / kept.sum()


def _encoded(message: messages.Message, size: int) -> tuple[bytes, str]:
    return messages.encode(message, size), messages.layout(message)


def _send(grid: Grid, content: RecordDict, node: int, kind: str, seconds: float) -> str:
    """Send a message and return its id; Flower deletes the message after some seconds."""
    (number,) = grid.push_messages([Message(content, node, kind, ttl=seconds)])
    return number


def _kind(reply: Message) -> str:
    """The class of a node's error; a longer text could contain private data."""
    reason = reply.error.reason or ""
    return f" ({reason})" if reason.isidentifier() else ""
