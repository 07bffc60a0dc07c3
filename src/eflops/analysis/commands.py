"""Commands of the analysis, besides gathering, tables and figures."""

import argparse
import json
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

    supports = commands.add_parser("gather-supports", help="gather the weights each run kept (a job of the workflow)")
    supports.add_argument("--plan", type=json.loads, required=True)
    supports.add_argument("--runs", type=Path, required=True)
    supports.add_argument("--out", type=Path, required=True)
    supports.set_defaults(run=_gather_supports)

    tuning = commands.add_parser("rank", help="rank a search's trials and choose (a job of the workflow)")
    tuning.add_argument("runs", type=Path)
    tuning.add_argument("--metric", required=True)
    tuning.add_argument("--searched", type=json.loads, required=True)
    tuning.add_argument("--out", type=Path, required=True)
    tuning.add_argument("--chosen", type=Path, required=True)
    tuning.set_defaults(run=_rank)

    adopting = commands.add_parser("adopt", help="write the settings that a search chose into the config file")
    adopting.add_argument("chosen", type=Path, nargs="+", help="results/tuning/<data set>.json")
    adopting.add_argument("--config", type=Path, default=Path("config.yaml"))
    adopting.add_argument("--keep", type=Path, default=Path("resources/tuning"), help="where the trials are kept")
    adopting.set_defaults(run=_adopt)

    scorecard.add(commands)

    conclude = commands.add_parser("conclude", help="write the closing summary (a job of the workflow)")
    conclude.add_argument("sources", nargs="+", help="what counts, as paths below the results")
    conclude.add_argument("--results", type=Path, required=True)
    conclude.add_argument("--out", type=Path, required=True)
    conclude.set_defaults(run=_conclude)

    summary = commands.add_parser("summary", help="say what a run found, and where its results are")
    summary.add_argument("results", type=Path, nargs="?", default=Path("results"))
    summary.set_defaults(run=_summary)


def _references(parsed: argparse.Namespace) -> None:
    from eflops.analysis.references import make

    make(parsed.data, parsed.out)


def _gather_references(parsed: argparse.Namespace) -> None:
    from eflops.analysis.references import gather

    gather(parsed.references, parsed.out)


def _gather_supports(parsed: argparse.Namespace) -> None:
    from eflops.analysis.supports import gather

    gather(parsed.plan, parsed.runs, parsed.out)


def _rank(parsed: argparse.Namespace) -> None:
    from eflops.analysis.tuning import write

    write(parsed.runs, parsed.metric, parsed.searched, parsed.out, parsed.chosen)


def _adopt(parsed: argparse.Namespace) -> None:
    from eflops.analysis.tuning import adopt
    from eflops.files import read_json, write_bytes

    for path in parsed.chosen:
        adopt(parsed.config, path.stem, read_json(path))
        for kept in (path, path.with_suffix(".csv")):
            write_bytes(parsed.keep / kept.name, kept.read_bytes())
        print(f"{parsed.config}: took over the choice of {path}")


def _conclude(parsed: argparse.Namespace) -> None:
    from eflops.analysis.closing import write

    write(parsed.results, frozenset(parsed.sources), parsed.out)


def _summary(parsed: argparse.Namespace) -> None:
    from eflops.analysis.whereabouts import told

    print(told(parsed.results))
