"""E-FLoPS, reproduced: training, analysis and provenance behind the Snakemake workflow.

`eflops.load("results")` opens a results folder in a notebook or script; `eflops.api` describes the returned object.
"""

from importlib import import_module
from typing import Any

# By name and not by an import statement: what this file imports is reached by every job's code.
_API = ("load", "Results")


def __getattr__(name: str) -> Any:
    if name in _API:
        return getattr(import_module("eflops.api"), name)
    raise AttributeError(f"module 'eflops' has no attribute {name!r}")
