"""A grid whose nodes are Flower's apps in this process: the server and its clients without Flower's processes."""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from flwr.app import Message
from flwr.serverapp import Grid

from eflops.flower.client import introduce, respond


def node_context(config: Mapping[str, Any]) -> Any:
    """What a ClientApp knows of its node, as far as ours looks at it."""
    return SimpleNamespace(node_config=config)


class InProcess(Grid):
    """A node for each node config; node k has the number 100 + k."""

    def __init__(self, nodes: list[Mapping[str, Any]]) -> None:
        self.nodes = {100 + number: node_context(config) for number, config in enumerate(nodes)}
        self.answers: dict[str, Message] = {}
        self.sent = 0

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        for message in messages:
            self.sent += 1
            message.metadata.__dict__["_message_id"] = str(self.sent)
            act = introduce if message.metadata.message_type == "query" else respond
            self.answers[str(self.sent)] = act(message, self.nodes[message.metadata.dst_node_id])
            yield str(self.sent)

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        return [self.answers.pop(number) for number in list(message_ids) if number in self.answers]

    def get_node_ids(self) -> Iterable[int]:
        return set(self.nodes)

    def _unused(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("not called")

    run = property(_unused)
    set_run = create_message = send_and_receive = _unused
