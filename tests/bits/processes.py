"""`tiny_runs.py` in a process of its own, on the processor at hand or on an emulated one."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TINY_RUNS = Path(__file__).parent / "tiny_runs.py"
OWN_PYTHON = (sys.executable,)


def start(python: Sequence[str] = OWN_PYTHON, **environment: str) -> "subprocess.Popen[str]":
    """The process; `python` is the command that starts the interpreter, with its emulator if it has one."""
    own = {"PYTHONPATH": os.pathsep.join([str(TINY_RUNS.parents[1]), *filter(None, sys.path)]), **environment}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*python, str(TINY_RUNS)], env={**os.environ, **own}, text=True, **pipes)  # type: ignore


def hashes(process: "subprocess.Popen[str]") -> dict[str, str]:
    """What it prints."""
    told, errors = process.communicate()
    assert process.returncode == 0, errors[-3000:]
    found: dict[str, str] = json.loads(told.splitlines()[-1])
    return found
