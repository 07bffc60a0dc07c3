"""The rows of a node: from a simulated draw, from a folder written by `eflops deploy`, or from its own file.

Its own file is a matrix of samples by genes with a column of labels (`eflops.data.expression.node_rows`). Faults in it
are reported only on the node. A node scales each array separately and keeps the agreed genes, so it needs nothing
computed from others' rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from eflops.data.expression import node_rows
from eflops.data.federation import Facts, Federation, load
from eflops.data.scaling import scaling_of
from eflops.errors import UserError
from eflops.flower.assignment import Agreement, Assignment

OWN_KEYS = ("client", "data", "label", "trusted")
SIMULATED_KEYS = ("partition-id", "num-partitions")


@dataclass(frozen=True)
class NodeConfig:
    """The configuration of a node by its owner.

    client: -1 if the server should number it. nodes: the number of simulated nodes. trusted: custom methods and
    models, as module:name, that may run on this node; their code must have the server's hash.
    """

    data: str
    label: str
    client: int
    nodes: int
    trusted: tuple[str, ...] = ()

    @staticmethod
    def of(values: Mapping[str, bool | int | float | str]) -> "NodeConfig":
        """The checked config of a node."""
        unknown = sorted(set(values) - {*OWN_KEYS, *SIMULATED_KEYS})
        if unknown:
            raise UserError(f"--node-config: {unknown[0]!r} is not known; known here: {', '.join(OWN_KEYS)}.")
        simulated = int(values.get("num-partitions", 0))
        client = values.get("partition-id" if simulated else "client", -1)
        if not isinstance(client, int):
            raise UserError(
                f"--node-config: client={client!r} is wrong; it should be the client's number, 0 or greater."
            )
        return NodeConfig(
            str(values.get("data", "")),
            str(values.get("label", "")),
            client,
            simulated,
            tuple(str(values.get("trusted", "")).split()),
        )


def load_rows(node: NodeConfig, assignment: Assignment) -> Federation:
    """The federation of only this node's client, without test rows."""
    if not node.data:
        if not node.nodes:
            right = 'write data="rows.csv" label="class", or a folder that eflops deploy wrote'
            raise UserError(f"--node-config names no data; {right}.")
        if not assignment.data:
            raise UserError("simulated nodes have no rows of their own: leave data out of --run-config.")
        # Cut out of the whole draw, which only simulated nodes can read: they share a machine and a cache.
        return _draw(assignment.data, assignment.spec.pooled).subset([node.client], with_test=False)
    if Path(node.data).is_dir():
        return load(Path(node.data))
    if assignment.agreement is None:
        raise UserError(
            f"{node.data}: the server works on a data draw, so this node needs its folder from eflops deploy."
        )
    return file_rows(node.data, node.label, assignment.agreement)


def file_rows(path: str, label: str, agreed: Agreement) -> Federation:
    """The federation of one client that has the rows of a file."""
    if not label:
        raise UserError(f'{path}: name the column of classes, such as label="class".')
    # Only per array: each row is scaled by its own values, so that no statistics of other rows are needed.
    block = node_rows(str(Path(path).absolute()), agreed.genes, agreed.classes, scaling_of(agreed.scaling), label)
    meta = Facts(task="classification", classes=len(agreed.classes))
    return Federation((block,), block.take(slice(0, 0)), meta=meta)


@lru_cache(maxsize=1)
def _draw(folder: str, pooled: bool) -> Federation:
    federation = load(Path(folder))
    return federation.pooled() if pooled else federation
