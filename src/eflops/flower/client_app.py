"""The client's side of the Flower app, apart from the server's: a simulated run reaches this and no config."""

from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from eflops.flower.client import introduce, respond

client = ClientApp()


@client.query()
def _introduce(message: Message, context: Context) -> Message:
    return introduce(message, context.node_config)


@client.train()
def _respond(message: Message, context: Context) -> Message:
    return respond(message, context.node_config)
