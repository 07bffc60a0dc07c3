"""What the server does about clients that fail, on a grid whose nodes answer as each test sets."""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import torch
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.app.error import Error
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

from eflops.config.cell import CellSpec
from eflops.config.settings import TrainingSettings
from eflops.errors import UserError
from eflops.flower.assignment import RECORD, Assignment
from eflops.flower.grid import FaultPolicy, GridTransport, Node, meet, numbered, renormalised
from eflops.training import messages
from eflops.training.messages import Part
from eflops.training.methods import fedavg
from eflops.training.methods.base import Task, Upload
from eflops.training.methods.dense import SupportFinetuning
from eflops.training.methods.settings import RunSettings
from eflops.training.models.linear import Linear
from eflops.training.numerics import wire
from eflops.training.rounds import ClientSelection, Phase

SIZE = 4
SPEC = CellSpec.model_validate({
    "experiment": "e", "dataset": "d", "ratio": "all", "model": "linear", "density": 0.5, "name": "fedavg",
    "client_fraction": 1.0, "method": "fedavg", "options": {}, "pooled": False, "engine": "flower",
    "evaluate_every": 1, "variants": {"base": {}},
})  # fmt: skip
ASSIGNMENT = Assignment(SPEC, "a1b2", SIZE)
PHASE = Phase("training", None, 0, 3, 2, None)  # type: ignore[arg-type]
Behaviour = Callable[[Message], Message | None]


@pytest.fixture(autouse=True)
def _a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flower makes messages only for an app that runs."""
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


class Nodes(Grid):
    """Nodes 100, 101, ... that live in this process; a behaviour that gives None never answers."""

    def __init__(self, behaviours: list[list[Behaviour]]) -> None:
        self.behaviours = dict(enumerate(behaviours, start=100))
        self.answers: dict[str, Message] = {}
        self.asked: list[int] = []
        self.slow: set[int] = set()

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        for message in messages:
            number, node = str(len(self.asked)), message.metadata.dst_node_id
            self.asked.append(node)
            message.metadata.__dict__["_message_id"] = number
            behaviours = self.behaviours[node]
            answer = (behaviours.pop(0) if len(behaviours) > 1 else behaviours[0])(message)
            if answer is not None:
                self.answers[number] = answer
            yield number

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        """What has come by now: the answers of slow nodes come when nobody else's are left."""
        there = [number for number in message_ids if number in self.answers]
        quick = [number for number in there if self.asked[int(number)] not in self.slow]
        return [self.answers.pop(number) for number in quick or there]

    def get_node_ids(self) -> Iterable[int]:
        return set(self.behaviours)

    def _unused(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("not called")

    run = property(_unused)
    set_run = create_message = send_and_receive = _unused


def content(request: Message, /, **values: Any) -> Message:
    return Message(RecordDict({RECORD: ConfigRecord(values)}), reply_to=request)


def answered(request: Message, sent: messages.Message) -> Message:
    return content(request, message=messages.encode(sent, SIZE), layout=messages.layout(sent))


def plain(theta: torch.Tensor) -> messages.Message:
    return messages.Message({"theta": Part(theta)})


def honest(value: float) -> Behaviour:
    return lambda message: answered(message, plain(torch.full((1, SIZE), value)))


def garbage(message: Message) -> Message:
    return content(message, message=b"no message at all", layout="[]")


def silent(message: Message) -> None:
    return None


def raising(message: Message) -> Message:
    return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, "ValueError"), reply_to=message)


def talkative(message: Message) -> Message:
    return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, "row 3 is 1.5, 2.5"), reply_to=message)


def gone(message: Message) -> Message:
    return Message(Error(ErrorCode.NODE_UNAVAILABLE, "the node is offline"), reply_to=message)


def gated(message: Message) -> Message:
    ones = torch.ones(1, SIZE)
    sent = messages.Message({"theta": Part(ones), "gates": Part(ones)}, {"multiplier": torch.ones(1)})
    return answered(message, sent)


def transport(*behaviours: list[Behaviour], **fault_policy: Any) -> GridTransport:
    nodes = {client: 100 + client for client in range(len(behaviours))}
    return GridTransport(Nodes(list(behaviours)), nodes, ASSIGNMENT, FaultPolicy(**{"seconds": 0.05, **fault_policy}))


def exchange(transport: GridTransport, weights: list[float], round_: int = 0) -> list[Upload]:
    selection = ClientSelection([7], torch.tensor([weights]))
    return transport.exchange(PHASE, plain(torch.zeros(1, SIZE)), selection, round_)


def test_answers_come_in_the_order_of_the_clients_with_their_weights_untouched() -> None:
    uploads = exchange(transport([honest(1.0)], [honest(2.0)], [honest(3.0)]), [0.3, 0.0, 0.7])
    assert [upload.message["theta"][0, 0].item() for upload in uploads] == [1.0, 3.0]
    assert torch.equal(torch.cat([upload.weights for upload in uploads]), torch.tensor([0.3, 0.7]))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (garbage, "answered with bytes that are not a message"),
        (silent, "did not answer in time"),
        (raising, "failed (ValueError)"),
        (talkative, "failed"),
        (gone, "is gone"),
        (gated, "answered with a message of another method: its gates do not match the request"),
        (lambda message: content(message, message="text"), "answered with bytes that are not a message"),
        (lambda message: content(message, other=1), "answered with bytes that are not a message"),
    ],
)
def test_the_round_goes_on_with_those_that_answered(fault: Behaviour, said: str) -> None:
    grid = transport([honest(1.0)], [fault], [honest(3.0)], on_fault="continue")
    uploads = exchange(grid, [0.25, 0.5, 0.25])
    assert [upload.message["theta"][0, 0].item() for upload in uploads] == [1.0, 3.0]
    assert [upload.weights.item() for upload in uploads] == [0.5, 0.5]
    assert grid.faults == [f"training round 1: client 1 {said}"]


def test_a_repeated_round_asks_only_those_that_failed_and_ends_as_if_nothing_had_happened() -> None:
    grid = transport([honest(1.0)], [garbage, raising, honest(2.0)], on_fault="repeat", repeats=2)
    uploads = exchange(grid, [0.4, 0.6])
    assert [upload.message["theta"][0, 0].item() for upload in uploads] == [1.0, 2.0]
    assert torch.equal(torch.cat([upload.weights for upload in uploads]), torch.tensor([0.4, 0.6]))
    assert grid.grid.asked == [100, 101, 101, 101]  # type: ignore[attr-defined]
    assert grid.faults == []


def test_every_fault_is_said_in_flowers_log_also_one_that_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("eflops.flower.grid.log", lambda level, text: said.append(text))
    exchange(transport([honest(1.0)], [garbage, honest(2.0)], on_fault="repeat"), [0.4, 0.6])
    assert said == ["training round 1: client 1 answered with bytes that are not a message"]


def test_a_round_is_not_repeated_for_ever() -> None:
    grid = transport([honest(1.0)], [garbage], on_fault="repeat", repeats=3)
    assert len(exchange(grid, [0.4, 0.6])) == 1
    assert grid.grid.asked == [100, 101, 101, 101, 101]  # type: ignore[attr-defined]
    assert grid.faults == ["training round 1: client 1 answered with bytes that are not a message"]


def test_nobody_waits_again_for_a_client_that_failed() -> None:
    grid = transport([honest(1.0)], [silent], on_fault="continue", seconds=0.2)
    exchange(grid, [0.5, 0.5])
    patient = transport([honest(1.0)], [silent], on_fault="continue", seconds=1e9)
    patient._away = grid._away
    exchange(patient, [0.5, 0.5], round_=1)
    assert patient.faults == ["training round 2: client 1 did not answer in time"]


def test_a_client_that_answered_nonsense_is_there_and_waited_for_in_the_next_round() -> None:
    grid = transport([honest(1.0)], [garbage, honest(2.0)], on_fault="continue", seconds=1e9)
    grid.grid.slow.add(101)  # type: ignore[attr-defined]
    assert len(exchange(grid, [0.5, 0.5])) == 1
    assert len(exchange(grid, [0.5, 0.5], round_=1)) == 2
    assert grid.faults == ["training round 1: client 1 answered with bytes that are not a message"]


def test_a_client_that_is_back_counts_again() -> None:
    grid = transport([honest(1.0)], [garbage, honest(2.0)], on_fault="continue")
    assert len(exchange(grid, [0.5, 0.5])) == 1
    assert len(exchange(grid, [0.5, 0.5], round_=1)) == 2


def test_a_run_stops_at_the_first_fault_if_it_is_told_to() -> None:
    with pytest.raises(UserError, match="training round 3: client 1 is gone"):
        exchange(transport([honest(1.0)], [gone], on_fault="stop"), [0.5, 0.5], round_=2)


@pytest.mark.parametrize("on_fault", ["continue", "repeat"])
def test_a_run_ends_with_an_error_when_nobody_answers(on_fault: str) -> None:
    with pytest.raises(UserError, match="no client answered"):
        exchange(transport([silent], [silent], on_fault=on_fault), [0.5, 0.5])


def test_the_channel_carries_each_wire_message_and_what_flower_wraps_it_in() -> None:
    grid = transport([honest(1.0)], [honest(2.0)])
    exchange(grid, [0.5, 0.5])
    message = len(messages.encode(plain(torch.zeros(1, SIZE)), SIZE))
    assert grid.channel["messages"] == 4
    assert 2 * message < grid.channel["up"] < grid.channel["down"] < 2 * message + 2000


def node(client: int, rows: int = 5, code: str = "a1b2", nodes: int = 0) -> list[Behaviour]:
    return [lambda message: content(message, client=client, rows=rows, code=code, nodes=nodes)]


def test_clients_are_found_whatever_numbers_their_nodes_have() -> None:
    nodes = meet(Nodes([node(2), node(0, rows=9), node(1)]), 3, ASSIGNMENT, 5)
    assert nodes == {0: Node(101, 0, 9), 1: Node(102, 1, 5), 2: Node(100, 2, 5)}


def test_nodes_that_name_no_client_get_the_numbers_that_are_left_in_their_own_order() -> None:
    nodes = [Node(30, -1, 5), Node(10, 1, 5), Node(20, -1, 5)]
    assert {client: node.number for client, node in numbered(nodes).items()} == {0: 20, 1: 10, 2: 30}


def test_a_federation_that_is_not_complete_is_not_waited_for_for_ever() -> None:
    with pytest.raises(UserError, match=r"only 1 of 2 clients were connected after 0\.05 seconds"):
        meet(Nodes([node(0), [silent]]), 2, ASSIGNMENT, 0.05)


def test_two_nodes_cannot_be_the_same_client() -> None:
    with pytest.raises(UserError, match="says it is client 0, but there are"):
        meet(Nodes([node(0), node(0)]), 2, ASSIGNMENT, 5)


def test_a_node_that_runs_other_code_is_not_mixed_with_the_rest() -> None:
    with pytest.raises(UserError, match="the server runs the code a1b2 and node 100 the code c3d4"):
        meet(Nodes([node(0, code="c3d4")]), 1, ASSIGNMENT, 5)


def test_a_simulation_with_another_number_of_nodes_is_said_with_the_option_that_mends_it() -> None:
    with pytest.raises(UserError, match="Flower simulates 2 nodes; add: --federation-config num-supernodes=5"):
        meet(Nodes([node(0, nodes=2), node(1, nodes=2)]), 5, ASSIGNMENT, 5)


def answering(theta: Part) -> Behaviour:
    sent = messages.Message({"theta": theta})
    data, layout = messages.encode(sent, SIZE), messages.layout(sent)
    return lambda message: content(message, message=data, layout=layout)


def with_one(value: float) -> Part:
    return Part(torch.tensor([[0.0, value, 0.0, 0.0]]))


def small_fedavg() -> fedavg.Method:
    return fedavg.Method(Task(Linear(SIZE), 1, RunSettings([TrainingSettings()])))


GATES_FIRST = '[[["gates", "theta"], [], ["multiplier"]]]'
FIRST = torch.tensor([[True, False, False, False]])


@pytest.mark.parametrize("on_fault", ["stop", "continue", "repeat"])
@pytest.mark.parametrize(
    ("poison", "said"),
    [
        (with_one(float("nan")), "answered with values of theta that are not finite"),
        (with_one(float("inf")), "answered with values of theta that are not finite"),
        (with_one(1e38), "answered with values of theta beyond 1e+30"),
        (
            Part(torch.ones(1, SIZE) * FIRST, FIRST),
            "answered with 1 entries of theta, and this round's method sends all",
        ),
    ],
)
def test_a_poisoned_answer_is_a_fault_of_its_client(on_fault: str, poison: Part, said: str) -> None:
    grid = transport([honest(1.0)], [answering(poison)], on_fault=on_fault)
    phase = Phase("training", small_fedavg(), 0, 3, 2, None)
    selection = ClientSelection([7], torch.tensor([[0.5, 0.5]]))
    if on_fault == "stop":
        with pytest.raises(UserError, match=re.escape(f"client 1 {said}")):
            grid.exchange(phase, plain(torch.zeros(1, SIZE)), selection, 0)
        return
    assert len(grid.exchange(phase, plain(torch.zeros(1, SIZE)), selection, 0)) == 1
    assert grid.faults == [f"training round 1: client 1 {said}"]


def test_a_message_that_is_too_long_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = messages.layout(plain(torch.zeros(1, SIZE)))
    huge: Behaviour = lambda message: content(message, message=bytes(10**6), layout=layout)  # noqa: E731
    monkeypatch.setattr(messages, "decode", lambda *_: pytest.fail("it was decoded"))
    grid = transport([huge], on_fault="stop")
    with pytest.raises(UserError, match="client 0 answered with 1000000 bytes; a message has at most 1032"):
        exchange(grid, [1.0])


def as_sent(data: bytes, layout: str) -> Behaviour:
    return lambda message: content(message, message=data, layout=layout)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((b"", "[" * 1000), "answered with bytes that are not a message"),
        # With two ungated parameters: the gates, and not theta, claim to have them.
        (
            (
                wire.encode(
                    wire.Frame(SIZE - 2, None, [np.ones(SIZE - 2, "f4")] * 2, [1.0], ungated=np.ones(2, "f4")),
                    GATES_FIRST.encode(),
                ),
                GATES_FIRST,
            ),
            f"answered with {SIZE - 2} values of theta; the request has {SIZE}",
        ),
    ],
)
def test_an_answer_that_would_be_read_beyond_its_end_is_a_fault_of_its_client(
    answer: tuple[bytes, str], said: str
) -> None:
    download = messages.Message(
        {"theta": Part(torch.ones(1, SIZE)), "gates": Part(torch.ones(1, SIZE - 2))}, {"multiplier": torch.ones(1)},
        ungated=2,
    )  # fmt: skip
    grid = transport([as_sent(*answer)], on_fault="stop")
    with pytest.raises(UserError, match=f"client 0 {said}"):
        grid.exchange(PHASE, download, ClientSelection([7], torch.ones(1, 1)), 0)


def test_a_value_for_the_rest_of_a_part_is_finite_too() -> None:
    layout = '[[["theta"], ["theta"], []]]'
    data = wire.encode(wire.Frame(SIZE, np.arange(SIZE), [np.ones(SIZE, "f4")], [math.nan]), layout.encode())
    grid = transport([as_sent(data, layout)], on_fault="stop")
    with pytest.raises(UserError, match="client 0 answered with values of the rest of theta that are not finite"):
        exchange(grid, [1.0])


def test_finetuning_answers_have_the_orders_support() -> None:
    support = torch.tensor([[False, True, False, False]])
    task = small_fedavg().task
    phase = Phase("finetuning", SupportFinetuning(task, support), 3, 1, 2, None)
    download = messages.Message({"theta": Part(torch.ones(1, SIZE) * support, support)})
    grid = transport([answering(Part(torch.ones(1, SIZE) * FIRST, FIRST))], on_fault="stop")
    with pytest.raises(UserError, match="client 0 answered with a support that differs from the request"):
        grid.exchange(phase, download, ClientSelection([7], torch.ones(1, 1)), 3)


@pytest.mark.parametrize("rows", [-5, 0, 4 * 10**18])
def test_a_node_whose_number_of_rows_cannot_be_is_refused(rows: int) -> None:
    with pytest.raises(UserError, match=f"node 100 reports {rows} rows; a client has between 1 and"):
        meet(Nodes([node(0, rows=rows)]), 1, ASSIGNMENT, 5)


def test_a_node_that_refuses_is_named_and_what_it_has_against_the_run_stays_there() -> None:
    def refusing(message: Message) -> Message:
        return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, "UserError"), reply_to=message)

    with pytest.raises(UserError, match=r"node 100 refused the run \(UserError\); see its log for the reason"):
        meet(Nodes([[refusing]]), 1, ASSIGNMENT, 5)


def test_weights_are_renormalised_over_those_that_answered() -> None:
    weights = torch.tensor([0.1, 0.2, 0.7])
    assert torch.equal(renormalised(weights, [0, 1, 2]), weights)
    assert torch.allclose(renormalised(weights, [0, 1]), torch.tensor([1 / 3, 2 / 3, 0.0]))
