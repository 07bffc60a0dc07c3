"""The commands of provenance. Each imports what it needs when it runs."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eflops.provenance.address import Address

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

    explain = commands.add_parser("explain", help="say where a number comes from: formula, runs, data, code")
    _add_address(explain)
    form = explain.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--prov", action="store_true", help="as W3C PROV-JSON")
    explain.set_defaults(run=_explain)

    verify = commands.add_parser("verify", help="train runs behind a number again and compare")
    _add_address(verify)
    count = verify.add_mutually_exclusive_group()
    count.add_argument("--runs", type=int, default=1, help="how many of the runs to train again")
    count.add_argument("--all", action="store_true", help="train all of them again")
    verify.add_argument("--seed", type=int, default=0, help="which runs are chosen")
    verify.set_defaults(run=_verify)

    audit = commands.add_parser("audit", help="check every record, data file, table and figure of a results folder")
    audit.add_argument("results", type=Path, nargs="?", default=RESULTS)
    audit.add_argument("--crate", action="store_true", help="the folder is a crate")
    audit.add_argument("--config", type=Path, nargs="+", default=[], help="config files instead of the recorded study")
    audit.add_argument("--pictures", action="store_true", help="also draw every figure again and compare its bytes")
    audit.add_argument("--allow-stale", action="store_true", help="do not fail over records that older code made")
    audit.set_defaults(run=_audit)

    diff = commands.add_parser("diff", help="say what moved between two results folders or two commits")
    diff.add_argument("before", help="a results folder, or a commit that tracks published results")
    diff.add_argument("after", help="the same")
    diff.add_argument("--alpha", type=float, default=0.05, help="level of the conclusions of paired tests")
    diff.add_argument("--limit", type=int, default=20, help="lines of a kind that are printed")
    diff.add_argument("--json", action="store_true", help="as JSON")
    diff.add_argument("--figure", type=Path, help="also draw the moves (.svg, .pdf or .png)")
    diff.set_defaults(run=_diff)

    forecast = commands.add_parser("forecast", help="say what a run would do, why, and how long it would take")
    forecast.add_argument("targets", nargs="*", help="targets or files, as for snakemake")
    forecast.add_argument("--configfile", nargs="+", default=[], help="config files, as for snakemake")
    forecast.add_argument("--cores", type=int, help="cores of the run; all of this machine if not given")
    forecast.add_argument("--json", action="store_true", help="as JSON")
    forecast.add_argument(
        "--anew", type=Path, metavar="RESULTS", help="the whole study from nothing, by past jobs there"
    )
    forecast.add_argument("--seeds", type=int, help="with --anew: of the experiments that have the most")
    forecast.add_argument("--features", type=int, help="with --anew: of synthetic data")
    forecast.add_argument("--seeds-per-job", type=int, help="with --anew: as in the config")
    forecast.set_defaults(run=_forecast)

    requests = commands.add_parser("requests", help="note what past jobs took, for what jobs ask a cluster for")
    requests.add_argument("results", type=Path, nargs="?", default=RESULTS)
    requests.add_argument("--out", type=Path, default=Path("workflow/resources.csv"))
    requests.set_defaults(run=_requests)

    times = commands.add_parser("times", help="say how long a whole run takes, by the benchmarks of one that was made")
    times.add_argument("results", type=Path, nargs="?", default=RESULTS)
    times.add_argument("--cores", type=int, nargs="+", default=[2, 12])
    times.set_defaults(run=_times)

    crate = commands.add_parser("crate", help="pack the results as a Workflow Run RO-Crate")
    crate.add_argument("out", type=Path, help="a new folder")
    crate.add_argument("--results", type=Path, default=RESULTS)
    crate.set_defaults(run=_crate)


def _add_address(parser: argparse.ArgumentParser) -> None:
    """Arguments that name a number."""
    parser.add_argument("file", type=Path, help="a table, a figure or the scorecard")
    parser.add_argument("--row", action="append", default=[], help="value of a key, or key=value; may be repeated")
    parser.add_argument("--column", help="a column, or the method of a column")
    parser.add_argument("--series", action="append", default=[], help="the series of a figure, such as the method")
    parser.add_argument("--x", action="append", default=[], help="where on the x axis")
    parser.add_argument("--line", help="a line of the scorecard, by its id")
    parser.add_argument("--results", type=Path, help="the results folder, where the file does not lie in one")
    parser.add_argument("--config", type=Path, nargs="+", default=[], help="config files instead of the recorded study")


def _address(parsed: argparse.Namespace) -> "Address":
    from eflops.provenance.address import Address

    return Address(parsed.file, (*parsed.row, *parsed.series, *parsed.x), parsed.column)


def _explain(parsed: argparse.Namespace) -> None:
    from eflops.provenance.explain import as_json, as_text
    from eflops.provenance.prov import as_prov
    from eflops.provenance.resolve import gather_evidence, results_of
    from eflops.provenance.store import opened

    folder = results_of(parsed.file, parsed.results)
    with opened(folder) as store:
        evidence = gather_evidence(store, tuple(parsed.config), _address(parsed), parsed.line)
    if parsed.prov:
        print(json.dumps(as_prov(evidence), indent=1))
    elif parsed.json:
        print(json.dumps(as_json(evidence, str(folder)), indent=1))
    else:
        print(as_text(evidence, str(folder)))


def _verify(parsed: argparse.Namespace) -> int:
    from eflops.provenance.explain import headline, remade
    from eflops.provenance.resolve import gather_evidence, results_of
    from eflops.provenance.store import opened
    from eflops.provenance.verify import passed, sample, verify

    with opened(results_of(parsed.file, parsed.results)) as store:
        evidence = gather_evidence(store, tuple(parsed.config), _address(parsed), parsed.line)
        print(headline(evidence))
        chosen = sample(evidence.runs, None if parsed.all else parsed.runs, parsed.seed)
        print(f"{len(chosen)} of the {len(evidence.runs)} runs behind it, trained again:", flush=True)
        verified = verify(store, chosen, lambda each: print(f"  {each}", flush=True))
    print(f"The number made again from the records: {remade(evidence)}")
    return int(not passed(evidence, verified))


def _study(parsed: argparse.Namespace) -> None:
    from eflops.provenance.study import write

    write(parsed.config, parsed.out)


def _publish(parsed: argparse.Namespace) -> None:
    from eflops.provenance.publish import publish

    count = publish(parsed.results, parsed.out)
    size = sum(path.stat().st_size for path in parsed.out.rglob("*") if path.is_file())
    print(f"Published {count} records with their tables and figures in {parsed.out} ({size / 1e6:.1f} MB).")


def _diff(parsed: argparse.Namespace) -> None:
    from eflops.provenance.diff import diff
    from eflops.provenance.diff_show import as_text, draw
    from eflops.provenance.sides import side

    with side(parsed.before) as before, side(parsed.after) as after:
        difference = diff(before, after, parsed.alpha)
    if parsed.figure:
        draw(difference, f"{parsed.before} to {parsed.after}").write(parsed.figure)
    print(json.dumps(difference.as_json(), indent=1) if parsed.json else as_text(difference, parsed.limit))


def _forecast(parsed: argparse.Namespace) -> None:
    if parsed.anew:
        _forecast_anew(parsed)
        return
    from eflops.provenance.forecast import forecast

    files = ["--configfile", *parsed.configfile] if parsed.configfile else []
    found = forecast([*files, "--", *parsed.targets], parsed.cores)
    print(json.dumps(found.as_json(), indent=1) if parsed.json else found)


def _forecast_anew(parsed: argparse.Namespace) -> None:
    import os

    from eflops.config.load import read
    from eflops.provenance.anew import cost, resized

    config = read(Path("config.yaml"), *map(Path, parsed.configfile))
    found = cost(
        resized(config, parsed.seeds, parsed.features, parsed.seeds_per_job),
        parsed.anew,
        parsed.cores or os.cpu_count() or 1,
    )
    print(json.dumps(found.as_json(), indent=1) if parsed.json else found)


def _requests(parsed: argparse.Namespace) -> None:
    from eflops.provenance.requests import measure

    count = measure(parsed.results, parsed.out)
    print(f"Noted what {count} kinds of jobs took at most in {parsed.out}.")


def _times(parsed: argparse.Namespace) -> None:
    from eflops.provenance.times import whole_run

    print(whole_run(parsed.results, parsed.cores))


def _crate(parsed: argparse.Namespace) -> None:
    from eflops.provenance.crate import make_crate

    count = make_crate(parsed.results, parsed.out)
    print(f"Wrote {count} files to {parsed.out}; check them anywhere with: eflops audit --crate {parsed.out}")


def _audit(parsed: argparse.Namespace) -> int:
    from eflops.provenance.audit import audit, audit_crate

    if parsed.crate:
        report = audit_crate(parsed.results, parsed.pictures)
    else:
        report = audit(parsed.results, tuple(parsed.config), parsed.pictures)
    print(report)
    return int(bool(report.counted(parsed.allow_stale)))
