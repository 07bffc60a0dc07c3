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
    variables = {"PYTHONPATH": os.pathsep.join([str(TINY_RUNS.parents[1]), *filter(None, sys.path)]), **environment}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*python, str(TINY_RUNS)], env={**os.environ, **variables}, text=True, **pipes)  # type: ignore


def hashes(process: "subprocess.Popen[str]") -> dict[str, str]:
    """What it prints."""
    output, errors = process.communicate()
    assert process.returncode == 0, errors[-3000:]
    result_hashes: dict[str, str] = json.loads(output.splitlines()[-1])
    return result_hashes


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """The names of the results that are not the same, or that one of them lacks."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
