"""The Flower app of a deployment: `server` runs where the SuperLink is, `client` on every node.

What they work on stands in the run's config, which `flwr run` sends; where a node's data lie and which client it is,
in the config of the node, which never leaves it.
"""

from pathlib import Path

from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from eflops.engines.flower.client import Assignment, introduce, respond

server = ServerApp()
client = ClientApp()


@server.main()
def _serve(grid: Grid, context: Context) -> None:
    from eflops.deploy.serve import serve

    serve(grid, Path(str(context.run_config["server"])))


@client.query()
def _introduce(message: Message, context: Context) -> Message:
    return introduce(message, int(context.node_config["client"]))


@client.train()
def _respond(message: Message, context: Context) -> Message:
    node = context.node_config
    return respond(message, Assignment(str(context.run_config["work"]), str(node["data"]), int(node["client"])))
