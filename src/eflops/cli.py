"""The command line. Every command imports what it needs when it runs, so that only training pays for torch."""

import argparse
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from eflops.errors import UserError

# Each adds its own commands; they import what they need when a command runs.
COMMAND_MODULES = ("eflops.analysis.commands", "eflops.provenance.commands", "eflops.deploy.commands")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; a user's mistake is printed as a sentence, without a traceback."""
    parsed = _parser().parse_args(arguments)
    try:
        return int(parsed.run(parsed) or 0)
    except UserError as error:
        print(f"eflops: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="eflops", description="Reproduce, explain and verify the E-FLoPS experiments."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    show = commands.add_parser("show", help="print a run record for people")
    show.add_argument("record", type=Path)
    show.set_defaults(run=_show)

    check = commands.add_parser("check", help="check a config file and say every mistake")
    check.add_argument("config", type=Path, nargs="*", default=[Path("config.yaml")])
    check.set_defaults(run=_check)

    schema = commands.add_parser("schema", help="write the config's JSON schema from its models")
    schema.add_argument("--out", type=Path, default=Path("workflow/schemas/config.schema.json"))
    schema.set_defaults(run=_schema)

    fetch = commands.add_parser("fetch", help="bring a public data set's files")
    fetch.add_argument("source")
    fetch.add_argument("--out", type=Path, required=True)
    fetch.add_argument("--folder", help="a folder that already holds the files")
    fetch.set_defaults(run=_fetch)

    data = commands.add_parser("data", help="make one data draw (a job of the workflow)")
    data.add_argument("--settings", type=json.loads, required=True)
    data.add_argument("--ratio", required=True)
    data.add_argument("--draw", type=int, required=True)
    data.add_argument("--raw", type=Path)
    data.add_argument("--out", type=Path, required=True)
    data.set_defaults(run=_data)

    train = commands.add_parser("train", help="train the runs of one cell (a job of the workflow)")
    train.add_argument("--job", type=json.loads, required=True)
    train.add_argument("--data", type=Path, required=True)
    train.add_argument("--folder", type=Path, required=True)
    train.add_argument("--block-size", type=int, default=32)
    train.add_argument("records", nargs="+")
    train.set_defaults(run=_train)

    gather = commands.add_parser("gather", help="gather an experiment's records into tables (a job of the workflow)")
    gather.add_argument("--plan", type=json.loads, required=True)
    gather.add_argument("--runs", type=Path, required=True)
    gather.add_argument("--out", type=Path, required=True)
    gather.add_argument("--curves", type=Path, required=True)
    gather.set_defaults(run=_gather)

    for kind in ("table", "figure"):
        product = commands.add_parser(kind, help=f"make one {kind} from gathered records (a job of the workflow)")
        product.add_argument("name")
        product.add_argument("--results", type=Path, required=True)
        product.add_argument("--context", type=json.loads, default={})
        product.add_argument("--out", type=Path, nargs="+", required=True)
        product.set_defaults(run=_product)

    report = commands.add_parser("report", help="write Snakemake's report (a job of the workflow)")
    report.add_argument("target")
    report.add_argument("--config", type=json.loads, required=True)
    report.add_argument("--out", type=Path, required=True)
    report.set_defaults(run=_report)

    for module in COMMAND_MODULES:
        if importlib.util.find_spec(module):
            importlib.import_module(module).add(commands)
    return parser


def _show(parsed: argparse.Namespace) -> None:
    from eflops.provenance.show import describe
    from eflops.record import read

    print(describe(read(parsed.record)))


def _check(parsed: argparse.Namespace) -> None:
    from eflops.config.load import read

    config = read(*parsed.config)
    print(f"The config is sound: {len(config.experiments)} experiments, {len(config.searches)} searches.")


def _schema(parsed: argparse.Namespace) -> None:
    from eflops.config.models import Config
    from eflops.files import write_text

    write_text(parsed.out, json.dumps(Config.model_json_schema(), indent=1) + "\n")


def _fetch(parsed: argparse.Namespace) -> None:
    from eflops.data.idx import fetch

    fetch(parsed.out, parsed.source, parsed.folder)


def _data(parsed: argparse.Namespace) -> None:
    from eflops.config.cells import ratio_value
    from eflops.data import build
    from eflops.data.federation import save

    federation = build(parsed.settings, ratio_value(parsed.ratio), parsed.draw, parsed.raw)
    save(federation, parsed.out, {**parsed.settings, "ratio": parsed.ratio, "draw": parsed.draw})


def _train(parsed: argparse.Namespace) -> None:
    from eflops.progress import progress
    from eflops.train import Job, runs_of, train

    job = Job(parsed.job, parsed.data, parsed.folder, runs_of(parsed.records), parsed.block_size)
    trained = train(job, progress)
    print(f"trained {trained} of {len(job.runs)} runs; the others were up to date")


def _gather(parsed: argparse.Namespace) -> None:
    from eflops.analysis.gather import gather

    gather(parsed.plan, parsed.runs, parsed.out, parsed.curves)


def _product(parsed: argparse.Namespace) -> None:
    from eflops.analysis.products import make

    make(parsed.name, parsed.results, parsed.context, parsed.out)


def _report(parsed: argparse.Namespace) -> int:
    from eflops.report import make

    return make(parsed.target, parsed.config, parsed.out)
