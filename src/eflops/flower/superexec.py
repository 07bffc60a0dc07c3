"""A SuperExec that imports everything before the first message.

Flower starts a process per message, and each imports Flower, torch and the compiled functions again, which takes
seconds. This is Flower's SuperExec with one change: a ClientApp's process is a fork of this one. It takes the arguments
of `flower-superexec` and belongs to a SuperNode that was started with `--isolation process`.

    python -m eflops.flower.superexec --insecure --runtime-api-address 127.0.0.1:9094
"""

import os
import signal
import sys
import traceback
from typing import NoReturn

import numpy as np
from flwr.supercore.cli.flower_superexec import flower_superexec
from flwr.supercore.constant import TaskType
from flwr.supercore.exit.exit_handler import registered_exit_handlers
from flwr.supercore.superexec import run_superexec
from flwr.supercore.superexec.executor.subprocess_executor import SubprocessExecutor
from flwr.supercore.superexec.executor.types import ExecutionSpec, LaunchResult
from flwr.supercore.tls import validate_and_resolve_root_certificates
from flwr.supernode.runtime.run_clientapp import run_clientapp

from eflops.config.settings import GatedSettings
from eflops.data.federation import Block, Federation
from eflops.flower import client  # noqa: F401
from eflops.results.labels import WHOLE
from eflops.results.record import Cell
from eflops.training.engines import batched
from eflops.training.rounds import Server
from eflops.training.train import make_method, make_task


class Forking(SubprocessExecutor):
    """Run a ClientApp in a fork of this process, and anything else as Flower does."""

    def launch(self, spec: ExecutionSpec) -> LaunchResult:
        """Start the process of a task."""
        if spec.task_type != TaskType.CLIENT_APP:
            return super().launch(spec)
        if os.fork() == 0:
            _live(spec)
        return LaunchResult.accepted()

    def reconcile(self) -> None:
        """Forget the processes that ended."""
        try:
            # A fork that ended stays in the process table until its parent asks for it.
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def _live(spec: ExecutionSpec) -> NoReturn:
    """The body of a fork: it skips the parent's exit handlers and never returns to the parent's code."""
    ended = 1
    try:
        # The parent's handlers end its own servers, which a task must not do.
        registered_exit_handlers.clear()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        certificates = validate_and_resolve_root_certificates(spec.root_certificates_path, spec.insecure)
        run_clientapp(spec.runtime_api_address, spec.token, spec.insecure, certificates, spec.parent_pid)
    except SystemExit as leaving:
        ended = int(leaving.code or 0)
    except Exception:
        traceback.print_exc()
    finally:
        # os._exit writes no buffer.
        sys.stdout.flush()
        sys.stderr.flush()
        # Not sys.exit: it would unwind into the parent's loop and run its exit handlers.
        os._exit(ended)


def warm() -> None:
    """Train a toy problem, which loads the compiled functions; all imports are done by then."""
    batched.prepare()
    rows = Block(np.eye(4, dtype=np.float32), np.arange(4, dtype=np.float32))
    toy = Federation((rows,), rows, meta={"task": "regression"})
    cell = Cell(
        experiment="toy", dataset="toy", model="linear", density=0.5, client_fraction=1.0, ratio=WHOLE, name="eflops",
        method="eflops", options={}, pooled=False, engine="flower", evaluate_every=1,
    )  # fmt: skip
    settings = GatedSettings(rounds=2, finetune_rounds=1, batch_size=2)
    task, bench = make_task(cell, [settings], toy)
    # All phases once: forks inherit the machine code that this process has loaded.
    server = Server(task, bench, batched.transport(task, toy), 1, lambda *_: None)
    server.run(make_method(cell, task), [0])


def main() -> None:
    """Warm up, then serve."""
    warm()
    run_superexec.get_executor = lambda *_, **__: Forking()
    flower_superexec()


if __name__ == "__main__":
    main()
