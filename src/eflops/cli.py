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
from typer.core import TyperArgument

from eflops import trust
from eflops.errors import UserError


class _Argument(TyperArgument):
    """An argument with its help, which click 8.5 resets after typer 0.20 has set it; Flower needs that typer."""

    def __init__(self, *, help: str | None = None, **rest: Any) -> None:
        super().__init__(help=help, **rest)
        self.help = help


typer.main.TyperArgument = _Argument  # type: ignore[misc]
app = typer.Typer(
    help="Reproduce, explain and verify the E-FLoPS experiments.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

STUDYING, TRACING, SHARING = "Before and during a run", "After a run", "Share results and models"
FEDERATING = "On a Flower federation"


def _allow_all(given: bool) -> bool:
    if given:
        trust.allow_all()
    return given


Results = Annotated[Path, typer.Argument(help="a results folder")]
Configs = Annotated[
    list[Path] | None,
    typer.Option(
        "--config", help="config file (default: config.yaml); repeat to merge several, later files take precedence"
    ),
]
StudyConfigs = Annotated[
    list[Path] | None,
    typer.Option("--config", help="config file to use instead of the recorded study; repeat to merge several"),
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]
File = Annotated[Path, typer.Argument(help="a table, a figure or the scorecard")]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        *("--row", "--series", "--x"),
        help="value that selects the row (in a figure, the series or x), or key=value; repeatable",
    ),
]
Column = Annotated[str | None, typer.Option(help="column of the number, or a method")]
Line = Annotated[str | None, typer.Option(help="id of a scorecard line")]
Seed = Annotated[int | None, typer.Option("--seed", help="seed of the random sample (default: a new one each time)")]
Named = Annotated[Path | None, typer.Option("--results", help="results folder, if it does not contain the file")]

Trusted = Annotated[
    bool,
    typer.Option(
        "--trust", help="run code that the folder names although it is not part of eflops", callback=_allow_all
    ),
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
    """Validate a config: list every error, and every search result that it overrides."""
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
    """Print the settings in effect, each with its file and key."""
    from eflops.config.effective import settings_text
    from eflops.config.load import read

    files = config or [CONFIG]
    say(settings_text(read(*files), files, experiment, method))


@app.command(rich_help_panel=STUDYING)
def status(
    results: Annotated[
        Path | None, typer.Argument(help="results folder (default: the one that the config names)")
    ] = None,
    config: Configs = None,
) -> int:
    """Count the complete, missing and stale runs, say why they are stale, and show how long jobs took."""
    from eflops.config.load import read
    from eflops.provenance.status import as_text, status_of

    study = read(*(config or [CONFIG]))
    if results and not results.is_dir():
        raise UserError(f"{results}: there is no such folder; name a results folder, or none for that of the config.")
    compared = status_of(study, results or Path(study.results))
    say(as_text(compared))
    return int(not compared.complete)


@app.command(rich_help_panel=STUDYING)
def fetch(
    source: Annotated[str, typer.Argument(help="mnist or fashion_mnist")],
    out: Annotated[Path | None, typer.Option(help="output folder (default: resources/SOURCE)")] = None,
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
    """Rank the trials of searches from records that any version of the code made."""
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
    chosen: Annotated[list[Path], typer.Argument(help="a ranked search, results/search/*.json")],
    into: Annotated[Path, typer.Option(help="file of chosen settings")] = Path("config/chosen.yaml"),
    keep: Annotated[Path, typer.Option(help="folder where the trials are kept")] = Path("resources/search"),
) -> None:
    """Copy the settings that searches chose into the file of chosen settings."""
    from eflops.analysis.search import adopt as adopt_choice

    for path in chosen:
        adopt_choice(into, path, keep)
        say(f"{into}: adopted the choice of {path}")


@app.command(rich_help_panel=TRACING)
def times(
    results: Results = RESULTS,
    cores: Annotated[
        list[int] | None, typer.Option(min=1, help="number of cores (default: 2 and 12); repeatable")
    ] = None,
) -> None:
    """Estimate the duration of a full run from the times of its jobs."""
    from eflops.provenance.times import CORES, whole_run

    estimate = whole_run(results, cores or CORES)
    if not estimate:
        raise UserError(f"{results}: no job of a full run was timed there; make one with: snakemake --cores 2 all")
    say(estimate)


@app.command(rich_help_panel=TRACING)
def summary(results: Results = RESULTS) -> None:
    """Print the main findings of a run, and where to read all of them."""
    from eflops.analysis.summary.write import closing

    say(closing(results))


@app.command(rich_help_panel=TRACING)
def scorecard(results: Results = RESULTS) -> None:
    """Print the verdict on every number and claim of the paper."""
    from eflops.results.paths import SCORECARD_TEXT

    path = results / SCORECARD_TEXT
    if not path.exists():
        raise UserError(f"{path}: there is no such scorecard; make it with: snakemake --cores 2 scorecard")
    say(path.read_bytes().decode(errors="replace"))


@app.command(rich_help_panel=TRACING)
def show(record: Annotated[Path, typer.Argument(help="a record, such as results/runs/.../draw0-seed0.json")]) -> None:
    """Print a run record: result, settings, origin."""
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
    config: StudyConfigs = None,
    as_json: AsJson = False,
    trusted: Trusted = False,
) -> None:
    """Show where a number comes from: formula, runs, data and code."""
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
        Path | None, typer.Argument(help="a table, a figure, the scorecard or a record (default: all records)")
    ] = None,
    keys: Keys = None,
    column: Column = None,
    line: Line = None,
    results: Named = None,
    config: StudyConfigs = None,
    runs: Annotated[int, typer.Option(min=1, help="number of runs to retrain")] = 3,
    every: Annotated[bool, typer.Option("--all", help="retrain all runs")] = False,
    weights: Annotated[
        bool, typer.Option("--weights", help="evaluate the recorded weights instead of training")
    ] = False,
    seed: Seed = None,
    trusted: Trusted = False,
) -> int:
    """Retrain the runs behind a number, the run of a record, or runs of a whole folder, and compare the results."""
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
        raise UserError(f"{file or store.folder}: no run behind this can be {how} again.")
    return int(not passed(explained, verified))


@app.command(rich_help_panel=TRACING)
def audit(
    results: Results = RESULTS,
    config: StudyConfigs = None,
    crate: Annotated[bool, typer.Option("--crate", help="RESULTS is a crate")] = False,
    pictures: Annotated[bool, typer.Option(help="redraw all figures and compare them")] = True,
    allow_stale: Annotated[
        bool, typer.Option("--allow-stale", help="accept records made by other code or from an older config")
    ] = False,
    weights: Annotated[
        int | None,
        typer.Option(min=0, help="records to re-evaluate from their weights (default: as many as 20 s allow)"),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="re-evaluate all records from their weights")] = False,
    signer: Annotated[str, typer.Option(help="require a signature by the key with this fingerprint (SHA256:...)")] = "",
    seed: Seed = None,
    cores: Annotated[int | None, typer.Option(min=1, help="number of parallel processes (default: all cores)")] = None,
    trusted: Trusted = False,
) -> int:
    """Check that every record, data file, table and figure of a results folder is consistent."""
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
    before: Annotated[str, typer.Argument(help="a results folder, or a commit with published results")],
    after: Annotated[str, typer.Argument(help="another one")],
    limit: Annotated[int, typer.Option(min=1, help="most lines to print of each kind")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the differences between two results folders or commits."""
    from dataclasses import asdict

    from eflops.provenance.diff import as_text, side
    from eflops.provenance.diff import diff as compare

    with side(before) as one, side(after) as other:
        difference = compare(one, other)
    say(json.dumps(asdict(difference), indent=1) if as_json else as_text(difference, limit))


@app.command(rich_help_panel=TRACING)
def explorer(
    results: Annotated[
        list[str] | None, typer.Argument(help="results folder or commit; name two to see what changed")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="output file (default: explorer.html in the folder)")] = None,
    trusted: Trusted = False,
) -> None:
    """Build the results explorer: one HTML page in which every number links to its runs."""
    from eflops.explorer.make import make

    say(f"Wrote {make(results or [str(RESULTS)], out)}; open it in any browser; it works offline.")


@app.command(rich_help_panel=SHARING)
def model(
    experiment: Annotated[str, typer.Argument(help="experiment on data of the kind table, expression or mnist")],
    out: Annotated[Path, typer.Option(help="output file: .csv, or .pt2 for the CNN")],
    method: Annotated[str, typer.Option(help="method of the run")] = "eflops",
    draw: Annotated[int, typer.Option(min=0, help="data draw or split of the run")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="seed of the run")] = 0,
    results: Annotated[Path, typer.Option(help="a results folder")] = RESULTS,
) -> None:
    """Export the sparse model of a run: as CSV, or the CNN as a torch program without its dead units."""
    from eflops.provenance.predict import write_model
    from eflops.results.store import opened

    with opened(results) as store:
        write_model(store, experiment, method, draw, seed, out)


@app.command(rich_help_panel=SHARING)
def predict(
    model: Annotated[Path, typer.Argument(help="a CSV file that `eflops model` wrote")],
    file: Annotated[str, typer.Argument(help="new rows as CSV, TSV or npz")],
    rows: Annotated[Literal["samples", "genes"], typer.Option(help="what a row of expression data is")] = "samples",
    out: Annotated[Path | None, typer.Option(help="output CSV file (default: print the predictions)")] = None,
) -> None:
    """Predict numbers, or classes with their probabilities, for new rows with an exported model."""
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
    out: Annotated[Path, typer.Option(help="output folder, which is replaced")] = PUBLISHED,
    sign: Annotated[Path | None, typer.Option(help="ssh key to sign the list of hashes with")] = None,
) -> None:
    """Copy results to results/published, packed so that git can track them."""
    from eflops.provenance.publish import publish as copy

    count = copy(results, out, key=sign)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    say(f"Published {count} records with their tables and figures in {out} ({size / 1e6:.1f} MB).")


@app.command(rich_help_panel=SHARING)
def attest(
    results: Results = RESULTS,
    published: Annotated[Path, typer.Option(help="published results to compare with")] = PUBLISHED,
    out: Annotated[Path, typer.Option(help="table of reproductions")] = Path("reproductions.csv"),
    cores: Annotated[int, typer.Option(min=1, help="number of cores of the run")] = os.cpu_count() or 1,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="duration of the run (default: estimated from its jobs)")
    ] = None,
) -> None:
    """Compare a full run with the published results, and append a row to the table of reproductions."""
    from eflops.provenance.attest import attest as append

    row = append(results, published, out, cores, minutes)
    say(f"Added to {out}: {', '.join(f'{name} {value}' for name, value in row.items())}")


@app.command(rich_help_panel=SHARING)
def crate(
    out: Annotated[Path, typer.Argument(help="a new folder")],
    results: Annotated[Path, typer.Option(help="a results folder")] = RESULTS,
) -> None:
    """Pack results, workflow and code as a Workflow Run RO-Crate."""
    from eflops.provenance.crate import make_crate

    count = make_crate(results, out)
    say(f"Wrote {count} files to {out}; check them anywhere with: eflops audit --crate {out}")


@app.command(rich_help_panel=FEDERATING)
def deploy(
    run_config: Annotated[str, typer.Option(help="the run, as for flwr run, such as 'clients=3 seed=1'")] = "",
    address: Annotated[list[str] | None, typer.Option(help="host name or IP address of the server; repeatable")] = None,
    port: Annotated[int, typer.Option(help="port of the server; client k uses PORT + 1 + k")] = 8000,
    config: Configs = None,
    folder: Annotated[Path, typer.Option(help="output folder, with a folder for each host")] = Path("deployment"),
    listen: Annotated[
        str | None, typer.Option(help="address that the SuperLink binds to (default: the first --address)")
    ] = None,
    start: Annotated[bool, typer.Option("--start", help="start all hosts on this machine, as a test")] = False,
) -> None:
    """Prepare a Flower federation: a folder with data, keys and commands for each host."""
    from eflops.flower.deploy import prepare

    prepare(run_config, address or ["127.0.0.1"], port, config or [CONFIG], folder, start, listen)


@app.command(rich_help_panel=FEDERATING)
def stop_superlink() -> None:
    """Stop the SuperLink that `flwr run .` left running in the background, and its simulation."""
    from eflops.flower.simulation import stop_superlink

    say(f"Stopped {stop_superlink()} processes.")
