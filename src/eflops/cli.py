"""The command line: every command that a person types. Each imports what it needs when it runs.

A user's mistake is one sentence and exit code 2; exit code 1 means that audit, verify or status reports a problem.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

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
    typer.Option("--config", help="instead of config.yaml or the recorded study; may be repeated, later ones on top"),
]
AsJson = Annotated[bool, typer.Option("--json", help="as JSON")]
File = Annotated[Path, typer.Argument(help="a table, a figure or the scorecard; for verify also a record")]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        *("--row", "--series", "--x"),
        help="a value of the row, or of a point's series or x; or key=value; may be repeated",
    ),
]
Column = Annotated[str | None, typer.Option(help="a column, or the method of a column")]
Line = Annotated[str | None, typer.Option(help="a line of the scorecard, by its id")]
Seed = Annotated[int | None, typer.Option("--seed", help="which are chosen; a new one each time if not given")]
Named = Annotated[Path | None, typer.Option("--results", help="the results folder, where the file does not lie in one")]

Trusted = Annotated[
    bool,
    typer.Option("--trust", help="run code that the folder names and eflops does not have", callback=_allow_all),
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
OWN_CONFIGS = (CONFIG, Path("config/config.yaml"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    # Custom methods and data sets lie beside the Snakefile, where commands are typed; what is installed has
    # precedence, so that no file of a folder shadows a library.
    sys.path.append(str(Path.cwd()))
    try:
        with trust.session(*OWN_CONFIGS):
            return int(app(args=None if arguments is None else list(arguments), standalone_mode=False) or 0)
    except UserError as error:
        print(f"eflops: {error}", file=sys.stderr)
        return 2
    except click.ClickException as error:
        print(f"eflops: {error.format_message()}", file=sys.stderr)
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            return 0
        print(f"eflops: {error.filename or 'a file'}: {error.strerror or error}.", file=sys.stderr)
        return 2
    except Exception as error:
        # What lies in a results folder can be anything; whoever suspects an error of ours gets the traceback.
        if {*(sys.argv[1:2] if arguments is None else arguments[:1])}.isdisjoint(READING) or os.environ.get(DEBUG):
            raise
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        right = f"eflops audit says which, and {DEBUG}=1 shows where it was read"
        print(f"eflops: a file of the results is damaged ({reason}); {right}.", file=sys.stderr)
        return 2


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
        print(note)
    if faults:
        raise UserError("\n".join(faults))
    print(f"The config is valid: {len(checked.experiments)} experiments, {len(checked.searches)} searches.")
    for line in overridden_choices(checked):
        print(line)


@app.command(rich_help_panel=STUDYING)
def settings(
    experiment: Annotated[str, typer.Argument(help="an experiment or a search")],
    method: Annotated[str | None, typer.Argument(help="one of its methods; all if not given")] = None,
    config: Configs = None,
) -> None:
    """Print every setting in effect, with the file and the key that it comes from."""
    from eflops.config.effective import settings_text
    from eflops.config.load import read

    files = config or [CONFIG]
    print(settings_text(read(*files), files, experiment, method))


@app.command(rich_help_panel=STUDYING)
def status(
    results: Annotated[Path | None, typer.Argument(help="a results folder; that of the config if not given")] = None,
    config: Configs = None,
) -> int:
    """List which planned runs are complete, missing or stale, with the reasons, and how long such jobs took."""
    from eflops.config.load import read
    from eflops.provenance.status import as_text, compare

    study = read(*(config or [CONFIG]))
    if results and not results.is_dir():
        raise UserError(f"{results}: there is no such folder; name a results folder, or none for that of the config.")
    compared = compare(study, results or Path(study.results))
    print(as_text(compared))
    return int(not compared.complete)


@app.command(rich_help_panel=STUDYING)
def fetch(
    source: Annotated[str, typer.Argument(help="mnist or fashion_mnist")],
    out: Annotated[Path | None, typer.Option(help="where to put the files; resources/<source> if not given")] = None,
    folder: Annotated[str | None, typer.Option(help="a folder that already holds the files")] = None,
) -> None:
    """Download the files of a public data set."""
    from eflops.data.idx import fetch as bring

    bring(out or Path("resources") / source, source, folder)


@app.command(rich_help_panel=STUDYING)
def rank(
    results: Annotated[Path, typer.Argument(help="a results folder with the records of searches")],
    search: Annotated[list[str], typer.Argument(help="searches of the config")],
    out: Annotated[Path, typer.Option(help="where the outcome goes, for: eflops adopt")] = Path("results/search"),
    config: Configs = None,
) -> None:
    """Rank the trials of searches from their records, whatever version of the code made them."""
    from eflops.analysis.needs import TARGETS
    from eflops.analysis.search import rank_records
    from eflops.config.load import read
    from eflops.files import PROJECT

    study = read(*(config or [CONFIG]))
    for name in search:
        if name not in study.searches:
            raise UserError(f"The config has no search {name}; it has {', '.join(study.searches)}.")
        rank_records(study, name, results, PROJECT / TARGETS, out)
        print(f"{out / study.searches[name].entry}.json: ranked the trials of {name}")


@app.command(rich_help_panel=STUDYING)
def adopt(
    chosen: Annotated[list[Path], typer.Argument(help="results/search/<data set>.json")],
    into: Annotated[Path, typer.Option(help="the file of chosen settings")] = Path("config/chosen.yaml"),
    keep: Annotated[Path, typer.Option(help="where the trials are kept")] = Path("resources/search"),
) -> None:
    """Adopt the settings that searches chose."""
    from eflops.analysis.search import adopt as adopt_choice

    for path in chosen:
        adopt_choice(into, path, keep)
        print(f"{into}: adopted the choice of {path}")


@app.command(rich_help_panel=TRACING)
def times(
    results: Results = RESULTS,
    cores: Annotated[list[int] | None, typer.Option(min=1, help="may be repeated; 2 and 12 if not given")] = None,
) -> None:
    """Estimate how long a full run takes, from the times of its jobs."""
    from eflops.provenance.times import CORES, whole_run

    estimate = whole_run(results, cores or CORES)
    if not estimate:
        raise UserError(f"{results}: no job of a whole run was timed there; make one with: snakemake --cores 2 all")
    print(estimate)


@app.command(rich_help_panel=TRACING)
def summary(results: Results = RESULTS) -> None:
    """Print the summary of a run, and where its results are."""
    from eflops.analysis.summary.write import closing

    print(closing(results))


@app.command(rich_help_panel=TRACING)
def scorecard(results: Results = RESULTS) -> None:
    """Print every number and claim of the paper beside ours, with the verdicts of the run."""
    path = results / "scorecard.md"
    if not path.exists():
        raise UserError(f"{path}: there is no such scorecard; make it with: snakemake --cores 2 scorecard")
    print(path.read_bytes().decode(errors="replace"))


@app.command(rich_help_panel=TRACING)
def show(record: Annotated[Path, typer.Argument(help="a record, results/runs/.../draw0-seed0.json")]) -> None:
    """Print a run record in readable form."""
    from eflops.provenance.explain.show import describe
    from eflops.results.store import RUNS, read_record

    entry = read_record(record)
    folder = next((up.parent for up in record.parents if up.name == RUNS), RESULTS)
    print(describe(entry, str(folder)))


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
    print(json.dumps(in_full(explained, str(folder)), indent=1) if as_json else as_text(explained, str(folder)))


@app.command(rich_help_panel=TRACING)
def verify(
    file: Annotated[Path | None, typer.Argument(help="a table, a figure or the scorecard; all records if none")] = None,
    keys: Keys = None,
    column: Column = None,
    line: Line = None,
    results: Named = None,
    config: Configs = None,
    runs: Annotated[int, typer.Option(min=1, help="how many of the runs to train again")] = 3,
    every: Annotated[bool, typer.Option("--all", help="train all of them again")] = False,
    weights: Annotated[bool, typer.Option("--weights", help="evaluate the kept weights instead of training")] = False,
    seed: Seed = None,
    trusted: Trusted = False,
) -> int:
    """Train runs behind a number, or the one run of a record, again and compare; without a file, of a whole folder."""
    from eflops.provenance.audit.sample import new_seed, sample
    from eflops.provenance.explain.address import Address, results_of
    from eflops.provenance.explain.explanation import explain as explained_at
    from eflops.provenance.explain.text import headline, rebuilt
    from eflops.provenance.verify import all_runs, passed, record_in
    from eflops.provenance.verify import verify as train_again
    from eflops.results.store import opened

    seed = new_seed() if seed is None else seed
    with opened(results_of(file, results) if file else results or RESULTS) as store:
        if file and (run := record_in(store, file)):
            (alone,) = train_again(store, [run], print, weights)
            return VERIFIED[alone.outcome]
        address = Address(file or store.folder, tuple(keys or ()), column)
        explained = explained_at(store, tuple(config or ()), address, line) if file else None
        behind = explained.runs if explained else all_runs(store)
        print(headline(explained) if explained else f"{store.folder}: {len(behind)} records")
        chosen = sample(behind, None if every else runs, seed)
        repeat = "" if len(chosen) == len(behind) else f" (--seed {seed} chooses the same)"
        how = "evaluated" if weights else "trained"
        print(f"{len(chosen)} of the {len(behind)} runs behind it, {how} again{repeat}:", flush=True)
        verified = train_again(store, chosen, lambda each: print(f"  {each}", flush=True), weights)
    if explained:
        print(f"The number rebuilt from the records: {rebuilt(explained)}")
    if not any(each.outcome != "not checked" for each in verified):
        raise UserError(f"{file or store.folder}: no run is behind this that could be {how} again; nothing was.")
    return int(not passed(explained, verified))


@app.command(rich_help_panel=TRACING)
def audit(
    results: Results = RESULTS,
    config: Configs = None,
    crate: Annotated[bool, typer.Option("--crate", help="the folder is a crate")] = False,
    pictures: Annotated[bool, typer.Option(help="also draw every figure again")] = True,
    allow_stale: Annotated[bool, typer.Option("--allow-stale", help="do not fail over records of older code")] = False,
    weights: Annotated[
        int | None, typer.Option(min=0, help="records whose metrics are computed from weights; else 20 s of them")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="compute the metrics of all records again")] = False,
    signer: Annotated[str, typer.Option(help="fingerprint of the key that must have signed it, SHA256:...")] = "",
    seed: Seed = None,
    cores: Annotated[int | None, typer.Option(min=1, help="processes side by side; all cores if not given")] = None,
    trusted: Trusted = False,
) -> int:
    """Check every record, data file, table and figure of a results folder."""
    from eflops.explorer.make import page_of
    from eflops.provenance.audit.audit import Options, audit_crate
    from eflops.provenance.audit.audit import audit as audit_results

    given: dict[str, Any] = {k: v for k, v in (("seed", seed), ("cores", cores)) if v is not None}
    options = Options(tuple(config or ()), pictures, weights, every, signer=signer, page=page_of, **given)
    report = audit_crate(results, options) if crate else audit_results(results, options)
    print(report)
    return int(bool(report.failures(allow_stale)))


@app.command(rich_help_panel=TRACING)
def diff(
    before: Annotated[str, typer.Argument(help="a results folder, or a commit that tracks published results")],
    after: Annotated[str, typer.Argument(help="the same")],
    limit: Annotated[int, typer.Option(min=1, help="lines of a kind that are printed")] = 20,
    as_json: AsJson = False,
) -> None:
    """List what changed between two results folders or two commits."""
    from dataclasses import asdict

    from eflops.provenance.diff import as_text, side
    from eflops.provenance.diff import diff as compare

    with side(before) as one, side(after) as other:
        difference = compare(one, other)
    print(json.dumps(asdict(difference), indent=1) if as_json else as_text(difference, limit))


@app.command(rich_help_panel=TRACING)
def explorer(
    results: Annotated[list[str] | None, typer.Argument(help="a folder or commit; of two, what moved as well")] = None,
    out: Annotated[Path | None, typer.Option(help="the page; explorer.html in the folder if not given")] = None,
    trusted: Trusted = False,
) -> None:
    """Build the results explorer, one HTML page in which every number leads to its runs."""
    from eflops.explorer.make import explored

    print(f"Wrote {explored(results or [str(RESULTS)], out)}; it opens in any browser, without a network.")


@app.command(rich_help_panel=SHARING)
def model(
    experiment: Annotated[str, typer.Argument(help="an experiment on a table, on expression data or on images")],
    out: Annotated[Path, typer.Option(help="the file that is written: CSV, and of the CNN a torch program, .pt2")],
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
    rows: Annotated[Literal["samples", "genes"], typer.Option(help="of expression data, what a row is")] = "samples",
    out: Annotated[Path | None, typer.Option(help="a CSV file to write; printed if not given")] = None,
) -> None:
    """Apply a model to new rows: a number in its unit, or the likeliest class."""
    from eflops.files import write_text
    from eflops.provenance.predict import read_model

    text = read_model(model).predict(file, rows).to_csv(index=False)
    if out:
        write_text(out, text)
    else:
        print(text, end="")


@app.command(rich_help_panel=SHARING)
def publish(
    results: Results = RESULTS,
    out: Annotated[Path, typer.Option(help="the folder that is written, and replaced")] = PUBLISHED,
    sign: Annotated[Path | None, typer.Option(help="an ssh key to sign the list of hashes with")] = None,
) -> None:
    """Copy a results folder to results/published, in the form that git tracks."""
    from eflops.provenance.publish import publish as copy

    count = copy(results, out, key=sign)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"Published {count} records with their tables and figures in {out} ({size / 1e6:.1f} MB).")


@app.command(rich_help_panel=SHARING)
def attest(
    results: Results = RESULTS,
    published: Annotated[Path, typer.Option(help="the results that the run is compared with")] = PUBLISHED,
    out: Annotated[Path, typer.Option(help="the table of reproductions")] = Path("reproductions.csv"),
    cores: Annotated[int, typer.Option(min=1, help="the cores that the run had")] = os.cpu_count() or 1,
    minutes: Annotated[float | None, typer.Option(min=0, help="how long it took; by its jobs if not given")] = None,
) -> None:
    """Compare a full run with the published results, and append a row to the table of reproductions."""
    from eflops.provenance.attest import attest as append

    row = append(results, published, out, cores, minutes)
    print(f"{out}: added {', '.join(f'{name} {value}' for name, value in row.items())}")


@app.command(rich_help_panel=SHARING)
def crate(
    out: Annotated[Path, typer.Argument(help="a new folder")],
    results: Annotated[Path, typer.Option(help="a results folder")] = RESULTS,
) -> None:
    """Pack the results as a Workflow Run RO-Crate."""
    from eflops.provenance.crate import make_crate

    count = make_crate(results, out)
    print(f"Wrote {count} files to {out}; check them anywhere with: eflops audit --crate {out}")


@app.command(rich_help_panel=SHARING)
def deploy(
    run_config: Annotated[str, typer.Option(help="as of flwr run: what is trained, such as 'clients=3 seed=1'")] = "",
    address: Annotated[list[str] | None, typer.Option(help="the server's name or IP; may be repeated")] = None,
    port: Annotated[int, typer.Option(help="the server's port; that of client k is port + 1 + k")] = 8000,
    config: Configs = None,
    folder: Annotated[Path, typer.Option(help="where the hosts' folders go")] = Path("deployment"),
    listen: Annotated[
        str | None, typer.Option(help="address that the SuperLink binds; default: the first --address")
    ] = None,
    start: Annotated[bool, typer.Option("--start", help="start all of it on this machine, to see it work")] = False,
) -> None:
    """Write the folders and commands of a real federation's hosts, for Flower."""
    from eflops.flower.deploy import prepare

    prepare(run_config, address or ["127.0.0.1"], port, config or [CONFIG], folder, start, listen)


@app.command(rich_help_panel=SHARING)
def stop_superlink() -> None:
    """Stop the SuperLink that an earlier `flwr run .` left running in the background, and its simulation."""
    from eflops.flower.simulation import stop_superlink

    print(f"stopped {stop_superlink()} processes")
