"""Ending what a test started: a process with its group."""

import os
import signal
import subprocess
from contextlib import suppress


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a process that leads a group, and the group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
