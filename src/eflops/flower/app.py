"""The Flower app that `flwr run` starts: `server` runs where the SuperLink is, `client` on every node.

Both run the eflops that is installed there; the app's bundle holds the config and no code. What a run is stands in the
run's config, which `flwr run` sends; where a node's rows lie, in the config of the node, which never leaves it.
"""

import sys

from flwr.app import Context
from flwr.common.config import get_project_dir
from flwr.serverapp import Grid, ServerApp

from eflops.errors import UserError

server = ServerApp()


@server.main()
def _serve(grid: Grid, context: Context) -> None:
    from eflops.flower.server import serve

    try:
        serve(grid, context.run_config, get_project_dir(grid.run.fab_id, grid.run.fab_version, grid.run.fab_hash))
    except UserError:
        # Flower logs what its apps raise: of a user's mistake the sentence, without the traceback.
        sys.tracebacklimit = 0
        raise
