"""The command that makes the scorecard; it loads pandas only when it runs."""

import argparse
import json
from pathlib import Path
from typing import Any

TARGETS = Path("resources/paper/targets.yaml")


def add(commands: Any) -> None:
    """Add the command to the command line."""
    scorecard = commands.add_parser("scorecard", help="judge every number and claim of the paper by our runs")
    scorecard.add_argument("--results", type=Path, default=Path("results"))
    scorecard.add_argument("--targets", type=Path, default=TARGETS, help="the paper's numbers and claims")
    scorecard.add_argument(
        "--context", type=json.loads, default={}, help="the methods' labels, as the workflow has them"
    )
    scorecard.add_argument("--experiments", nargs="*", help="those that count; all that were gathered if not given")
    scorecard.add_argument("--tables", nargs="*", help="those that count; all that were made if not given")
    scorecard.add_argument("--out", type=Path, nargs="+", help="files to write (.md, .json, .html); else it is printed")
    scorecard.set_defaults(run=_scorecard)


def _scorecard(parsed: argparse.Namespace) -> None:
    from eflops.analysis.scorecard import make
    from eflops.analysis.scorecard.markdown import markdown

    experiments = make.gathered(parsed.results) if parsed.experiments is None else parsed.experiments
    tables = make.made(parsed.results) if parsed.tables is None else parsed.tables
    card = make.scorecard(parsed.results, parsed.targets, parsed.context, experiments, tables)
    if not parsed.out:
        print(markdown(card))
    for path in parsed.out or ():
        make.write(card, path)
