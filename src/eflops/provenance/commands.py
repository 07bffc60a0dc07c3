"""The commands of provenance. Each imports what it needs when it runs."""

import argparse
import json
from pathlib import Path
from typing import Any

RESULTS = Path("results")


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    study = commands.add_parser("study", help="write down the config and the code of a run (a job of the workflow)")
    study.add_argument("--config", type=json.loads, required=True)
    study.add_argument("--out", type=Path, required=True)
    study.set_defaults(run=_study)

    publish = commands.add_parser("publish", help="copy what is tracked of a results folder")
    publish.add_argument("results", type=Path, nargs="?", default=RESULTS)
    publish.add_argument("--out", type=Path, default=RESULTS / "published")
    publish.set_defaults(run=_publish)

    audit = commands.add_parser("audit", help="check every record, data file, table and figure of a results folder")
    audit.add_argument("results", type=Path, nargs="?", default=RESULTS)
    audit.add_argument("--config", type=Path, nargs="+", default=[], help="config files instead of the recorded study")
    audit.add_argument("--pictures", action="store_true", help="also draw every figure again and compare its bytes")
    audit.add_argument("--allow-stale", action="store_true", help="do not fail over records that older code made")
    audit.set_defaults(run=_audit)


def _study(parsed: argparse.Namespace) -> None:
    from eflops.provenance.study import write

    write(parsed.config, parsed.out)


def _publish(parsed: argparse.Namespace) -> None:
    from eflops.provenance.publish import publish

    count = publish(parsed.results, parsed.out)
    print(f"Published {count} records with their tables and figures in {parsed.out}.")


def _audit(parsed: argparse.Namespace) -> int:
    from eflops.provenance.audit import audit

    report = audit(parsed.results, tuple(parsed.config), parsed.pictures)
    print(report)
    return int(bool(report.counted(parsed.allow_stale)))
