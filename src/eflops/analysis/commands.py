"""Commands of the analysis, besides gathering, tables and figures."""

import argparse
from pathlib import Path
from typing import Any

from eflops.analysis.scorecard import command as scorecard


def add(commands: Any) -> None:
    """Add the commands to the command line."""
    references = commands.add_parser("references", help="best subset and lasso on pooled rows (a job of the workflow)")
    references.add_argument("data", type=Path, help="the folder of a data draw")
    references.add_argument("--out", type=Path, nargs="+", required=True)
    references.set_defaults(run=_references)

    gathering = commands.add_parser("gather-references", help="gather references into a table (a job of the workflow)")
    gathering.add_argument("references", type=Path, nargs="+")
    gathering.add_argument("--out", type=Path, required=True)
    gathering.set_defaults(run=_gather_references)

    scorecard.add(commands)


def _references(parsed: argparse.Namespace) -> None:
    from eflops.analysis.references import make

    make(parsed.data, parsed.out)


def _gather_references(parsed: argparse.Namespace) -> None:
    from eflops.analysis.references import gather

    gather(parsed.references, parsed.out)
