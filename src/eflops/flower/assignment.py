"""Messages from the server to a node: the assignment, and the request of a round. Nothing here imports torch."""

import json
import zlib
from dataclasses import asdict, dataclass

from flwr.app import ConfigRecord

from eflops import code
from eflops.config.cell import CellSpec
from eflops.config.data import DataSettings
from eflops.files import inflate

RECORD = "eflops"
ASSIGNMENT = "assignment"
# A client answers this if it does not have the state that a request continues from.
LOST = "lost"
# The server has no more use for what a node keeps of a run.
FORGET = "forget"


@dataclass(frozen=True)
class Agreement:
    """What nodes with their own rows must agree on: the genes and their order, the classes, and the scaling of
    arrays."""

    genes: list[str]
    classes: list[str]
    scaling: DataSettings


@dataclass(frozen=True)
class Assignment:
    """What the server tells the clients about a run.

    spec: the cell with one of its variants. code: the hash of the server's code. size: the number of weights of the
    model. data: the draw's folder, which only simulated nodes can read.
    """

    spec: CellSpec
    code: str
    size: int
    data: str = ""
    agreement: Agreement | None = None

    def record(self) -> ConfigRecord:
        """The assignment as a Flower record."""
        parts = {
            "spec": self.spec.model_dump(mode="json"),
            "code": self.code,
            "size": self.size,
            "data": self.data,
            "agreement": asdict(self.agreement) if self.agreement else None,
        }
        # Sorted, so that equal assignments have equal bytes: these name the nodes' memory and are the key of their
        # cache.
        return ConfigRecord({ASSIGNMENT: zlib.compress(json.dumps(parts, sort_keys=True).encode())})

    @staticmethod
    def read(packed: bytes) -> "Assignment":
        """The assignment in a Flower record."""
        parts = json.loads(inflate(packed))
        agreed, spec = parts.pop("agreement"), CellSpec.model_validate(parts.pop("spec"))
        return Assignment(spec, **parts, agreement=Agreement(**agreed) if agreed else None)


@dataclass(frozen=True)
class Request:
    """What a client should do with a message: the client, phase, round and run, and the number of steps.

    key: identifies the run in a node's stored memory. last_used: the last round in which the server used this
    client's answer, -1 before the first. resync: the message is the whole view, because the client lost its state.
    """

    client: int
    phase: str
    round: int
    seed: int
    steps: int | str
    batch_size: int | None
    key: str = ""
    last_used: int = -1
    resync: bool = False

    def record(self, messages: list[tuple[bytes, str]]) -> ConfigRecord:
        """The request with its wire messages and their layouts, starting with those that the client missed."""
        encoded, layouts = map(list, zip(*messages, strict=True))
        return ConfigRecord({"request": json.dumps(asdict(self)), "messages": encoded, "layouts": layouts})


def code_hashes(method: str, model: str) -> dict[str, str]:
    """The hash of every module that a run of this cell can reach, on the server or on a node."""
    roots = code.training_roots(method, model, "flower")
    return code.code_hashes(*roots, "eflops.flower.server", "eflops.flower.client")


def other_code(server: str, node: str, node_code: str) -> str:
    """The sentence for a named node whose code differs from the server's."""
    right = "install the same version of eflops on both"
    return (
        f"the server runs the code {server} and {node} the code {node_code}, which may give different numbers; {right}."
    )
