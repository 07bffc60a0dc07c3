"""Clients' memory on Flower: error feedback has the batched bits, whatever happens to answers, nodes and server."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from flwr.app import Message
from flwr.supercore.task_identity import TaskIdentity
from in_process import InProcess
from small_app import STATEFUL, in_batch, write_config

from eflops import trust
from eflops.errors import UserError
from eflops.flower import client as client_app
from eflops.flower.memory import ClientState, NodeMemory
from eflops.flower.server import serve
from eflops.results import record
from eflops.training import messages
from eflops.training.numerics import wire

CLIENTS, ROUNDS = 3, 6
KEYS: dict[str, Any] = {
    "experiment": "small", "method": "eflops", "fraction": 0.7,
    "settings": f"feedback=0.1 rounds={ROUNDS} finetune_rounds=1 local_steps=2",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _a_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Flower makes messages only for an app that runs; nodes keep memory in a folder of this test; methods are ours."""
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)
    monkeypatch.setenv("FLWR_HOME", str(tmp_path / "flower"))
    with trust.session():
        trust.allow_all()
        yield


class Nodes(InProcess):
    """Simulated nodes; `before` is called with the number of each message to train on, and False loses the answer."""

    def __init__(self, before: Callable[[int], bool] = lambda _: True) -> None:
        super().__init__([{"partition-id": client, "num-partitions": CLIENTS} for client in range(CLIENTS)])
        self.before, self.trained = before, 0

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        for message in messages:
            (number,) = super().push_messages([message])
            if message.metadata.message_type == "train":
                self.trained += 1
                if not self.before(self.trained):
                    del self.answers[number]
            yield number


def trained(folder: Path, nodes: Nodes, **keys: Any) -> record.Record:
    write_config(folder, STATEFUL)
    values = {**KEYS, "results": str(folder / "results"), "timeout": 0.2, **keys}
    return record.read(serve(nodes, values, folder))


def memory_files(folder: Path) -> list[Path]:
    return sorted((folder / "flower" / client_app.MEMORY).glob("*.npz"))


@pytest.mark.parametrize("method", ["eflops", "fedavg", "counting", "shifting"])
@pytest.mark.parametrize("finetune_rounds", [0, 1])
def test_a_method_with_memory_has_the_batched_bits_on_flower_and_leaves_none_behind(
    tmp_path: Path, method: str, finetune_rounds: int
) -> None:
    feedback = "feedback=0.1" if method in ("eflops", "fedavg") else ""
    settings = f"{feedback} rounds={ROUNDS} finetune_rounds={finetune_rounds} local_steps=2"
    keys = {**KEYS, "method": method, "settings": settings}
    entry = trained(tmp_path, Nodes(), **keys)
    assert entry.result_sha256 == in_batch(tmp_path / "batched", keys, STATEFUL).result_sha256
    assert memory_files(tmp_path) == []


@pytest.mark.parametrize("method", ["eflops", "fedavg"])
def test_the_bytes_counted_are_those_sent_with_all_messages_that_a_client_missed(tmp_path: Path, method: str) -> None:
    sent = {"down": 0, "up": 0}
    most = []

    class Weighing(Nodes):
        def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
            for message in messages:
                (number,) = super().push_messages([message])
                if message.metadata.message_type == "train":
                    encoded: Any = message.content.config_records["eflops"]["messages"]
                    answer: Any = self.answers[number].content.config_records["eflops"]["message"]
                    most.append(len(encoded))
                    sent["down"] += sum(map(len, encoded))
                    sent["up"] += len(answer)
                yield number

    traffic = trained(tmp_path, Weighing(), method=method).result.traffic.values()
    assert {way: sum(phase[way] for phase in traffic) for way in sent} == sent
    assert max(most) > 1, "no client missed a message, so that this test shows nothing"


def test_a_client_that_is_asked_twice_answers_the_same(tmp_path: Path) -> None:
    entry = trained(tmp_path, Nodes(lambda number: number != 4), faults="repeat")
    assert entry.result_sha256 == in_batch(tmp_path / "batched", KEYS).result_sha256
    assert entry.result.faults == []


def test_an_answer_that_did_not_count_is_no_part_of_a_clients_memory(tmp_path: Path) -> None:
    """Two of three clients answer a round. The fifth answer is lost: its client goes on from the one before it."""
    requests = []

    class Watched(Nodes):
        def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
            for message in messages:
                if message.metadata.message_type == "train":
                    requests.append(client_app.json.loads(str(message.content.config_records["eflops"]["request"])))
                yield from super().push_messages([message])

    entry = trained(tmp_path, Watched(lambda number: number != 5), faults="continue")
    lost = requests[4]
    (later, *_) = [request for request in requests[5:] if request["client"] == lost["client"]]
    assert later["last_used"] == lost["last_used"] < lost["round"]
    assert len(entry.result.faults) == 1
    assert entry.result.status == "finished"


def test_a_node_that_is_restarted_goes_on_with_the_memory_that_it_kept(tmp_path: Path) -> None:
    def restart(number: int) -> bool:
        client_app._worker.cache_clear()
        return True

    entry = trained(tmp_path, Nodes(restart))
    assert entry.result_sha256 == in_batch(tmp_path / "batched", KEYS).result_sha256


def test_a_server_that_is_restarted_goes_on_with_the_clients_memory(tmp_path: Path) -> None:
    def stop(number: int) -> bool:
        if number == 7:
            raise UserError("the power failed")
        return True

    with pytest.raises(UserError, match="the power failed"):
        trained(tmp_path, Nodes(stop))
    second = Nodes()
    entry = trained(tmp_path, second)
    assert second.trained < 2 * (ROUNDS + 1)
    assert entry.result_sha256 == in_batch(tmp_path / "batched", KEYS).result_sha256


@pytest.mark.parametrize("damage", ["gone", "truncated"])
def test_a_client_that_lost_its_memory_says_so_and_gets_the_whole_view_again(tmp_path: Path, damage: str) -> None:
    def lose(number: int) -> bool:
        for path in memory_files(tmp_path) if number == 6 else ():
            if damage == "gone":
                path.unlink()
            else:
                path.write_bytes(path.read_bytes()[:100])
        return True

    whole, entry = trained(tmp_path / "whole", Nodes()), trained(tmp_path, Nodes(lose))
    assert entry.result.status == "finished"
    assert "lost its memory and view" in entry.result.faults[0]
    assert entry.circumstances.channel["down"] > whole.circumstances.channel["down"]
    size, lost = entry.result.parameters, sum("lost its memory" in fault for fault in entry.result.faults)
    assert entry.circumstances.channel["resync"] == lost * wire.encoded_size(size, size, 2, 1, dense=True)
    assert whole.circumstances.channel["resync"] == 0


def test_a_node_keeps_the_states_before_and_after_its_last_answer(tmp_path: Path) -> None:
    view = messages.Message({"theta": messages.Part(torch.arange(4.0)[None])}, {"lam": torch.tensor([0.5])})
    states = [ClientState(round_, {"theta": torch.full((1, 4), float(round_))}, view) for round_ in (3, 5)]
    kept = NodeMemory(tmp_path, "0123456789abcdef-7", 2, 4)
    assert kept.after(3) is None
    kept.keep(*states)
    for state in states:
        again = kept.after(state.round)
        assert again is not None
        assert again.view is not None
        assert torch.equal(again.memory["theta"], state.memory["theta"])
        assert torch.equal(again.view["theta"], view["theta"])
        assert torch.equal(again.view["lam"], view["lam"])
    assert kept.after(4) is None
    kept.forget()
    assert kept.after(5) is None


@pytest.mark.parametrize("key", ["../../etc/passwd", "", "key", "0123456789abcdef-7/x"])
def test_a_key_from_the_network_cannot_lead_out_of_the_folder(tmp_path: Path, key: str) -> None:
    with pytest.raises(UserError, match="a key that is not a valid file name"):
        NodeMemory(tmp_path, key, 0, 4)
