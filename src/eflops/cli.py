"""The command line: every command that a person types. Each imports what it needs when it runs.

A user's mistake is one sentence and exit code 2; exit code 1 means that audit, verify or status reports a problem.
"""

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

import click
import typer

from eflops import trust
from eflops.errors import UserError

app = typer.Typer(
    help="Reproduce, explain and verify the E-FLoPS experiments.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

STUDYING, TRACING, SHARING = "Before and during a run", "After a run", "For others"


def _allow_all(given: bool) -> bool:
    if given:
        trust.allow_all()
    return given


Results = Annotated[Path, typer.Argument(help="a results folder")]
Configs = Annotated[
    list[Path] | None,
    typer.Option(
        "--config", help="config file instead of config.yaml or the recorded study; repeatable, later files override"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="as JSON")]
File = Annotated[Path, typer.Argument(help="a table, a figure or the scorecard")]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        *("--row", "--series", "--x"),
        help="value of a key of the row (of a figure: series or x), or key=value; repeatable",
    ),
]
Column = Annotated[str | None, typer.Option(help="column, or method of a column")]
Line = Annotated[str | None, typer.Option(help="id of a scorecard line")]
Seed = Annotated[int | None, typer.Option("--seed", help="seed of the random choice; default: a new one each time")]
Named = Annotated[Path | None, typer.Option("--results", help="results folder, if the file is not in one")]

Trusted = Annotated[
    bool,
    typer.Option("--trust", help="run code that the folder names but eflops does not include", callback=_allow_all),
]

RESULTS = Path("results")
PUBLISHED = RESULTS / "published"
CONFIG = Path("config.yaml")
# Commands that read a results folder, and the variable that makes them show where an error arose.
READING = {"status", "times", "summary", "scorecard", "show", "explain", "verify", "audit", "diff", "explorer"}
READING |= {"model", "predict", "publish", "attest", "crate", "adopt"}
DEBUG = "EFLOPS_DEBUG"
# Exit codes of verify for the one run of a record.
VERIFIED = {"identical": 0, "within tolerance": 0, "different": 1, "not checked": 2}
# Control characters but tabs and line ends, and those that turn the direction of text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
OWN_CONFIGS = (CONFIG, Path("config/config.yaml"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    try:
        # Custom methods and data sets lie beside the Snakefile, where commands are typed.
        with trust.session(*OWN_CONFIGS, folder=Path.cwd()):
            return int(app(args=None if arguments is None else list(arguments), standalone_mode=False) or 0)
    except UserError as error:
        say(f"eflops: {error}", file=sys.stderr)
        return 2
    except click.ClickException as error:
        say(f"eflops: {error.format_message()}", file=sys.stderr)
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            return 0
        say(f"eflops: {error.filename or 'a file'}: {error.strerror or error}.", file=sys.stderr)
        return 2
    except Exception as error:
        # What lies in a results folder can be anything; whoever suspects an error of ours gets the traceback.
        if {*(sys.argv[1:2] if arguments is None else arguments[:1])}.isdisjoint(READING) or os.environ.get(DEBUG):
            raise
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        right = f"eflops audit says which, and {DEBUG}=1 shows where it was read"
        say(f"eflops: a file of the results is damaged ({reason}); {right}.", file=sys.stderr)
        return 2


def say(text: object, flush: bool = False, end: str = "\n", file: TextIO | None = None) -> None:
    """Print with every control character escaped: names in a results folder must not control the terminal."""
    print(CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", str(text)), flush=flush, end=end, file=file)


@app.command(rich_help_panel=STUDYING)
def check(config: Configs = None) -> None:
    """Validate a config and list every error, and each choice of a search that the config overrides."""
    from eflops.config.effective import overridden_choices
    from eflops.config.load import read
    from eflops.config.models import names_custom_code
    from eflops.data.build import problems

    checked = read(*(config or [CONFIG]))
    faults, notes = problems(checked)
    if not faults and names_custom_code(checked):
        from eflops.training.check import problems as of_custom_code  # imports torch

        faults += of_custom_code(checked)
    for note in notes:
        say(note)
    if faults:
        raise UserError("\n".join(faults))
    say(f"The config is valid: {len(checked.experiments)} experiments, {len(checked.searches)} searches.")
    for line in overridden_choices(checked):
        say(line)


@app.command(rich_help_panel=STUDYING)
def settings(
    experiment: Annotated[str, typer.Argument(help="an experiment or a search")],
    method: Annotated[str | None, typer.Argument(help="one of its methods; default: all")] = None,
    config: Configs = None,
) -> None:
    """Print every setting in effect, with the file and the key that it comes from."""
    from eflops.config.effective import settings_text
    from eflops.config.load import read

    files = config or [CONFIG]
    say(settings_text(read(*files), files, experiment, method))


@app.command(rich_help_panel=STUDYING)
def status(
    results: Annotated[
        Path | None, typer.Argument(help="results folder; default: the one that the config names")
    ] = None,
    config: Configs = None,
) -> int:
    """List which planned runs are complete, missing or stale and why, and how long such jobs took."""
    from eflops.config.load import read
    from eflops.provenance.status import as_text, compare

    study = read(*(config or [CONFIG]))
    if results and not results.is_dir():
        raise UserError(f"{results}: there is no such folder; name a results folder, or none for that of the config.")
    compared = compare(study, results or Path(study.results))
    say(as_text(compared))
    return int(not compared.complete)


@app.command(rich_help_panel=STUDYING)
def fetch(
    source: Annotated[str, typer.Argument(help="mnist or fashion_mnist")],
    out: Annotated[Path | None, typer.Option(help="output folder; default: resources/<source>")] = None,
    folder: Annotated[
        str | None, typer.Option(help="copy the files from this folder instead of downloading them")
    ] = None,
) -> None:
    """Download the files of a public data set."""
    from eflops.data.idx import fetch as fetch_images

    fetch_images(out or Path("resources") / source, source, folder)


@app.command(rich_help_panel=STUDYING)
def rank(
    results: Annotated[Path, typer.Argument(help="results folder with the records of searches")],
    search: Annotated[list[str], typer.Argument(help="searches of the config")],
    out: Annotated[Path, typer.Option(help="output folder; eflops adopt reads it")] = Path("results/search"),
    config: Configs = None,
) -> None:
    """Rank the trials of searches from their records, made by any version of the code."""
    from eflops.analysis.needs import TARGETS
    from eflops.analysis.search import rank_records
    from eflops.config.load import read
    from eflops.files import PROJECT

    study = read(*(config or [CONFIG]))
    for name in search:
        if name not in study.searches:
            raise UserError(f"The config has no search {name}; it has {', '.join(study.searches)}.")
        rank_records(study, name, results, PROJECT / TARGETS, out)
        say(f"{out / study.searches[name].entry}.json: ranked the trials of {name}")


@app.command(rich_help_panel=STUDYING)
def adopt(
    chosen: Annotated[list[Path], typer.Argument(help="results/search/<data set>.json")],
    into: Annotated[Path, typer.Option(help="file of chosen settings")] = Path("config/chosen.yaml"),
    keep: Annotated[Path, typer.Option(help="folder for the trials")] = Path("resources/search"),
) -> None:
    """Write the settings that searches chose to the file of chosen settings."""
    from eflops.analysis.search import adopt as adopt_choice

    for path in chosen:
        adopt_choice(into, path, keep)
        say(f"{into}: adopted the choice of {path}")


@app.command(rich_help_panel=TRACING)
def times(
    results: Results = RESULTS,
    cores: Annotated[
        list[int] | None, typer.Option(min=1, help="number of cores, repeatable; default: 2 and 12")
    ] = None,
) -> None:
    """Estimate how long a full run takes, from the times of its jobs."""
    from eflops.provenance.times import CORES, whole_run

    estimate = whole_run(results, cores or CORES)
    if not estimate:
        raise UserError(f"{results}: no job of a whole run was timed there; make one with: snakemake --cores 2 all")
    say(estimate)


@app.command(rich_help_panel=TRACING)
def summary(results: Results = RESULTS) -> None:
    """Print the summary of a run and the paths of its results."""
    from eflops.analysis.summary.write import closing

    say(closing(results))


@app.command(rich_help_panel=TRACING)
def scorecard(results: Results = RESULTS) -> None:
    """Compare every number and claim of the paper with this run, and print the verdicts."""
    from eflops.results.paths import SCORECARD_TEXT

    path = results / SCORECARD_TEXT
    if not path.exists():
        raise UserError(f"{path}: there is no such scorecard; make it with: snakemake --cores 2 scorecard")
    say(path.read_bytes().decode(errors="replace"))


@app.command(rich_help_panel=TRACING)
def show(record: Annotated[Path, typer.Argument(help="a record, results/runs/.../draw0-seed0.json")]) -> None:
    """Print a run record in readable form."""
    from eflops.provenance.explain.show import describe
    from eflops.results.store import RUNS, read_record

    entry = read_record(record)
    folder = next((up.parent for up in record.parents if up.name == RUNS), RESULTS)
    say(describe(entry, str(folder)))


@app.command(rich_help_panel=TRACING)
def explain(
    file: File,
    keys: Keys = None,
    column: Column = None,
    line: Line = None,
    results: Named = None,
    config: Configs = None,
    as_json: AsJson = False,
    trusted: Trusted = False,
) -> None:
    """Explain where a number comes from: formula, runs, data, code."""
    from eflops.provenance.explain.address import Address, results_of
    from eflops.provenance.explain.explanation import explain as explained_at
    from eflops.provenance.explain.text import as_json as in_full
    from eflops.provenance.explain.text import as_text
    from eflops.results.store import opened

    folder = results_of(file, results)
    with opened(folder) as store:
        explained = explained_at(store, tuple(config or ()), Address(file, tuple(keys or ()), column), line)
    say(json.dumps(in_full(explained, str(folder)), indent=1) if as_json else as_text(explained, str(folder)))


@app.command(rich_help_panel=TRACING)
def verify(
    file: Annotated[
        Path | None, typer.Argument(help="a table, a figure, the scorecard or a record; default: all records")
    ] = None,
    keys: Keys = None,
    column: Column = None,
    line: Line = None,
    results: Named = None,
    config: Configs = None,
    runs: Annotated[int, typer.Option(min=1, help="number of runs to retrain")] = 3,
    every: Annotated[bool, typer.Option("--all", help="retrain all runs")] = False,
    weights: Annotated[
        bool, typer.Option("--weights", help="evaluate the recorded weights instead of training")
    ] = False,
    seed: Seed = None,
    trusted: Trusted = False,
) -> int:
    """Retrain runs behind a number, a record or (without FILE) a whole folder, and compare the results."""
    from eflops.config.load import read
    from eflops.provenance.audit.sample import new_seed, sample
    from eflops.provenance.explain.address import Address, results_of
    from eflops.provenance.explain.explanation import explain as explained_at
    from eflops.provenance.explain.text import headline, rebuilt
    from eflops.provenance.verify import all_runs, passed, record_in
    from eflops.provenance.verify import verify as train_again
    from eflops.results.store import opened

    seed = new_seed() if seed is None else seed
    if config:
        read(*config)  # what these files name is the user's, also for runs that no table leads to
    with opened(results_of(file, results) if file else results or RESULTS) as store:
        if file and (run := record_in(store, file)):
            (alone,) = train_again(store, [run], say, weights)
            return VERIFIED[alone.outcome]
        address = Address(file or store.folder, tuple(keys or ()), column)
        explained = explained_at(store, tuple(config or ()), address, line) if file else None
        behind = explained.runs if explained else all_runs(store)
        say(headline(explained) if explained else f"{store.folder}: {len(behind)} records")
        chosen = sample(behind, None if every else runs, seed)
        repeat = "" if len(chosen) == len(behind) else f" (repeat with --seed {seed})"
        how = "evaluated" if weights else "trained"
        say(f"{len(chosen)} of the {len(behind)} runs behind it, {how} again{repeat}:", flush=True)
        verified = train_again(store, chosen, lambda each: say(f"  {each}", flush=True), weights)
    if explained:
        say(f"The number rebuilt from the records: {rebuilt(explained)}")
    if not any(each.outcome != "not checked" for each in verified):
        raise UserError(f"{file or store.folder}: no run is behind this that could be {how} again; nothing was.")
    return int(not passed(explained, verified))


@app.command(rich_help_panel=TRACING)
def audit(
    results: Results = RESULTS,
    config: Configs = None,
    crate: Annotated[bool, typer.Option("--crate", help="RESULTS is a crate")] = False,
    pictures: Annotated[bool, typer.Option(help="redraw every figure and compare it")] = True,
    allow_stale: Annotated[
        bool, typer.Option("--allow-stale", help="accept records of other code or an older config")
    ] = False,
    weights: Annotated[
        int | None,
        typer.Option(min=0, help="number of records to re-evaluate from their weights; default: as many as 20 s allow"),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="re-evaluate all records from their weights")] = False,
    signer: Annotated[str, typer.Option(help="require a signature by the key with this fingerprint, SHA256:...")] = "",
    seed: Seed = None,
    cores: Annotated[int | None, typer.Option(min=1, help="number of parallel processes; default: all cores")] = None,
    trusted: Trusted = False,
) -> int:
    """Check every record, data file, table and figure of a results folder."""
    from eflops.explorer.make import page_of
    from eflops.provenance.audit.audit import Options, audit_crate
    from eflops.provenance.audit.audit import audit as audit_results

    given: dict[str, Any] = {k: v for k, v in (("seed", seed), ("cores", cores)) if v is not None}
    options = Options(tuple(config or ()), pictures, weights, every, signer=signer, page=page_of, **given)
    report = audit_crate(results, options) if crate else audit_results(results, options)
    say(report)
    return int(bool(report.failures(allow_stale)))


@app.command(rich_help_panel=TRACING)
def diff(
    before: Annotated[str, typer.Argument(help="a results folder, or a commit that tracks published results")],
    after: Annotated[str, typer.Argument(help="as BEFORE")],
    limit: Annotated[int, typer.Option(min=1, help="largest number of lines to print of each kind")] = 20,
    as_json: AsJson = False,
) -> None:
    """List what changed between two results folders or two commits."""
    from dataclasses import asdict

    from eflops.provenance.diff import as_text, side
    from eflops.provenance.diff import diff as compare

    with side(before) as one, side(after) as other:
        difference = compare(one, other)
    say(json.dumps(asdict(difference), indent=1) if as_json else as_text(difference, limit))


@app.command(rich_help_panel=TRACING)
def explorer(
    results: Annotated[
        list[str] | None, typer.Argument(help="results folder or commit; with two, also show what changed")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="output file; default: explorer.html in the folder")] = None,
    trusted: Trusted = False,
) -> None:
    """Build the results explorer, one HTML page in which every number leads to its runs."""
    from eflops.explorer.make import make

    say(f"Wrote {make(results or [str(RESULTS)], out)}; it opens in any browser, without a network.")


@app.command(rich_help_panel=SHARING)
def model(
    experiment: Annotated[str, typer.Argument(help="experiment on data of kind table, expression or mnist")],
    out: Annotated[Path, typer.Option(help="file to write: CSV; of the CNN a torch program, .pt2")],
    method: str = "eflops",
    draw: Annotated[int, typer.Option(min=0)] = 0,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    results: Annotated[Path, typer.Option(help="a results folder")] = RESULTS,
) -> None:
    """Write the sparse model of a run: as CSV, or of the CNN as a torch module without the units that are gone."""
    from eflops.provenance.predict import write_model
    from eflops.results.store import opened

    with opened(results) as store:
        write_model(store, experiment, method, draw, seed, out)


@app.command(rich_help_panel=SHARING)
def predict(
    model: Annotated[Path, typer.Argument(help="a CSV file that `eflops model` wrote")],
    file: Annotated[str, typer.Argument(help="new rows: CSV, TSV or npz")],
    rows: Annotated[Literal["samples", "genes"], typer.Option(help="for expression data: what a row is")] = "samples",
    out: Annotated[Path | None, typer.Option(help="CSV file to write; default: print")] = None,
) -> None:
    """Apply a model to new rows: predict a number in its unit, or the most likely class."""
    from eflops.files import write_text
    from eflops.provenance.predict import read_model

    text = read_model(model).predict(file, rows).to_csv(index=False)
    if out:
        write_text(out, text)
    else:
        say(text, end="")


@app.command(rich_help_panel=SHARING)
def publish(
    results: Results = RESULTS,
    out: Annotated[Path, typer.Option(help="folder to write; it is replaced")] = PUBLISHED,
    sign: Annotated[Path | None, typer.Option(help="ssh key that signs the list of hashes")] = None,
) -> None:
    """Copy a results folder to results/published, in the form that git tracks."""
    from eflops.provenance.publish import publish as copy

    count = copy(results, out, key=sign)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    say(f"Published {count} records with their tables and figures in {out} ({size / 1e6:.1f} MB).")


@app.command(rich_help_panel=SHARING)
def attest(
    results: Results = RESULTS,
    published: Annotated[Path, typer.Option(help="results to compare the run with")] = PUBLISHED,
    out: Annotated[Path, typer.Option(help="table of reproductions")] = Path("reproductions.csv"),
    cores: Annotated[int, typer.Option(min=1, help="number of cores of the run")] = os.cpu_count() or 1,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="duration of the run; default: estimated from its jobs")
    ] = None,
) -> None:
    """Compare a full run with the published results, and append a row to the table of reproductions."""
    from eflops.provenance.attest import attest as append

    row = append(results, published, out, cores, minutes)
    say(f"{out}: added {', '.join(f'{name} {value}' for name, value in row.items())}")


@app.command(rich_help_panel=SHARING)
def crate(
    out: Annotated[Path, typer.Argument(help="a new folder")],
    results: Annotated[Path, typer.Option(help="a results folder")] = RESULTS,
) -> None:
    """Pack the results as a Workflow Run RO-Crate."""
    from eflops.provenance.crate import make_crate

    count = make_crate(results, out)
    say(f"Wrote {count} files to {out}; check them anywhere with: eflops audit --crate {out}")


@app.command(rich_help_panel=SHARING)
def deploy(
    run_config: Annotated[str, typer.Option(help="what to train, as for flwr run, such as 'clients=3 seed=1'")] = "",
    address: Annotated[list[str] | None, typer.Option(help="name or IP address of the server; repeatable")] = None,
    port: Annotated[int, typer.Option(help="port of the server; client k uses port + 1 + k")] = 8000,
    config: Configs = None,
    folder: Annotated[Path, typer.Option(help="output folder, with one folder per host")] = Path("deployment"),
    listen: Annotated[
        str | None, typer.Option(help="address that the SuperLink binds to; default: the first --address")
    ] = None,
    start: Annotated[bool, typer.Option("--start", help="start everything on this machine, as a test")] = False,
) -> None:
    """Write a folder with data, keys and commands for each host of a Flower federation."""
    from eflops.flower.deploy import prepare

    prepare(run_config, address or ["127.0.0.1"], port, config or [CONFIG], folder, start, listen)


@app.command(rich_help_panel=SHARING)
def stop_superlink() -> None:
    """Stop the SuperLink that an earlier `flwr run .` left running in the background, and its simulation."""
    from eflops.flower.simulation import stop_superlink

    say(f"stopped {stop_superlink()} processes")
