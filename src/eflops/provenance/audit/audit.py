"""The audit of a whole results folder: everything that can be checked without training and without torch."""

import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from eflops import trust
from eflops.config.models import Config
from eflops.config.products import Product, products
from eflops.config.study import Study, read_study
from eflops.errors import UserError
from eflops.provenance.audit.jobs import check_jobs
from eflops.provenance.audit.layout import check_data_files, check_layout
from eflops.provenance.audit.products import (
    check_explorer,
    check_gathered,
    check_product,
    check_scorecard,
    check_summary,
)
from eflops.provenance.audit.records import Code, Examined, examine
from eflops.provenance.audit.sample import check_draws, check_references, check_weights, new_seed, sample, shuffled
from eflops.provenance.audit.study import (
    check_benchmarks,
    check_data_settings,
    check_present,
    check_study,
    check_study_code,
    check_targets,
)
from eflops.provenance.explain.recompute import FromRecords, from_records, gathered_texts
from eflops.results import checksums
from eflops.results.findings import Finding, counts_by_kind
from eflops.results.paths import STUDY
from eflops.results.store import RECORDS, RUNS, Store, opened
from eflops.script import LINE_SECONDS

CRATE_RESULTS = "results"
# How long metrics are computed again from weights, if no number of records is given; and of how many draws the
# references are fitted again.
SECONDS = 20.0
REFERENCES = 5

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Options:
    """What to check.

    pictures: whether to redraw figures; weights: the number of records to re-evaluate from their weights, chosen by
    the seed (None: as many as `seconds` allow); every: whether to re-evaluate all. signer: the fingerprint of the
    key that must have signed the folder. page: builds the explorer's page of a folder under the given name.
    configs: config files instead of the recorded study; cores: parallel processes; present: whether to compare the
    results with the config of the working folder.
    """

    configs: tuple[Path, ...] = ()
    pictures: bool = True
    weights: int | None = None
    every: bool = False
    seconds: float = SECONDS
    signer: str = ""
    page: Callable[[Path, str], str] | None = None
    seed: int = field(default_factory=new_seed)
    cores: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    present: bool = True


@dataclass
class Report:
    """The counts of what was audited, and the findings."""

    folder: Path
    records: int = 0
    rebuilt: int = 0
    computed: str = ""
    signer: str = ""
    findings: list[Finding] = field(default_factory=list)

    def failures(self, allow_stale: bool) -> list[Finding]:
        """The findings that make an audit fail."""
        return [finding for finding in self.findings if not (allow_stale and finding.kind == "stale")]

    def __str__(self) -> str:
        done = f"{self.folder}: {self.records} records read, {self.rebuilt} tables and figures rebuilt from them"
        signed = f", signed by the key {self.signer}" if self.signer else ""
        outcome = counts_by_kind(self.findings) or "no problems found"
        return "\n".join([*map(str, self.findings), f"{done}{self.computed}{signed}: {outcome}."])


def audit(folder: Path, options: Options | None = None) -> Report:
    """Audit a results folder or a published one."""
    report, options = Report(folder, signer=checksums.signer(folder)), options or Options()
    if (folder / RECORDS).exists() or (folder / checksums.NAME).exists():
        report.findings += checksums.check(folder)
    if options.signer and report.signer != options.signer:
        by = f"signed by the key {report.signer}" if report.signer else "not signed"
        report.findings.append(Finding("damaged", checksums.SIGNATURE, f"the folder is {by}, not by {options.signer}"))
    try:
        with opened(folder) as store:
            _audit_store(store, read_study(store.folder, *options.configs), report, options)
    except UserError as error:
        # Where files are damaged, their findings explain why the rest cannot be read.
        if not report.findings:
            raise
        report.findings.append(Finding("damaged", str(folder), f"the other checks could not run ({error})"))
    return report


def audit_crate(folder: Path, options: Options | None = None) -> Report:
    """Audit a crate: all its files, and its results with the resources in the crate."""
    damaged = list(checksums.check(folder))
    trust.disown(folder)
    if not (folder / CRATE_RESULTS / STUDY).is_file():  # a config that the crate brings must not stand for its study
        raise UserError(f"{folder}: this is not a crate of results; make one with: eflops crate {folder}")
    # The project's config in a crate need not be the one that the results were made with, and is not the user's.
    with chdir(folder):
        report = audit(Path(CRATE_RESULTS), replace(options or Options(), present=False))
    return replace(report, folder=folder, findings=[*damaged, *report.findings])


def _audit_store(store: Store, study: Study, report: Report, options: Options) -> None:
    config, source = study.config, from_records(store, study.config)
    context = AuditContext(store, config, source, options)
    examined = _examine_all(context, report)
    whole = {name for name, each in examined.items() if each.whole}
    code = sum((each.code for each in examined.values()), Code())
    hashes = {path: digest for each in examined.values() for path, digest in each.hashes.items()}
    refitted = None if options.every else REFERENCES if options.weights is None else options.weights
    checks: dict[str, Callable[[], Iterable[Finding]]] = {
        "study.json": lambda: [*check_study(store, study), *check_study_code(study, code)],
        "config.yaml": lambda: check_present(store.folder, config) if options.present and not options.configs else [],
        "data": lambda: [*check_data_files(store), *check_data_settings(store, config)],
        "targets.yaml": lambda: check_targets(store),
        "benchmarks": lambda: check_benchmarks(store, config),
        "draws": lambda: check_draws(store, config, refitted, options.seed),
        "references": lambda: check_references(store, config, refitted, options.seed),
        "jobs": lambda: check_jobs(store, config, hashes),
        "files": lambda: check_layout(store, config),
        "summary.md": lambda: check_summary(store, config),
        "gathered": lambda: check_gathered(store, source),
        "scorecard.json": lambda: check_scorecard(store, source, config, whole),
        "weights": lambda: _check_weights(context, examined, report),
        "explorer.html": lambda: check_explorer(store, config, whole, options.page),
    }
    for name, check in checks.items():
        report.findings += guarded(name, check)
    report.findings += _check_products(context, whole, report)


def guarded(name: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """The findings of a check; an unexpected error becomes a finding, so the other checks continue."""
    findings: list[Finding] = []
    try:
        findings.extend(check())
    except Exception as error:  # nothing that lies in a results folder may stop the audit
        findings.append(Finding("damaged", name, f"it could not be checked ({type(error).__name__}: {error})"))
    return findings


@dataclass(frozen=True)
class AuditContext:
    """The data that parallel processes share."""

    store: Store
    config: Config
    source: FromRecords
    options: Options


def _examine_all(context: AuditContext, report: Report) -> dict[str, Examined]:
    """Check the records, experiment by experiment; gathered texts of complete experiments are kept for their
    products."""
    groups: dict[str, list[str]] = {name: [] for name in (*context.config.experiments, *context.config.searches)}
    for path in context.store.record_paths():
        groups.setdefault(path.partition("/")[0], []).append(path)
    # So that no process starts the largest experiment when the others are done.
    largest_first = sorted(((name, paths) for name, paths in groups.items() if paths), key=lambda group: -len(group[1]))
    examined = {}
    for (name, _), (each, texts) in zip(largest_first, side_by_side(_examine, largest_first, context), strict=True):
        examined[name] = each
        context.source.texts.update(texts)
    for name in groups:
        if name in examined:
            report.records += examined[name].records
            report.findings += examined[name].findings
    return examined


def _examine(context: AuditContext, group: tuple[str, Sequence[str]]) -> tuple[Examined, dict[str, str]]:
    name, paths = group
    try:
        each, records = examine(context.store, context.config, name, paths)
        return each, gathered_texts(context.config, name, records) if each.whole else {}
    except Exception as error:  # nor may what only one experiment's records hold
        what = f"its records could not be checked ({type(error).__name__}: {error})"
        return Examined(0, False, [Finding("damaged", f"{RUNS}/{name}", what)]), {}


def _check_products(context: AuditContext, whole: set[str], report: Report) -> Iterator[Finding]:
    """Rebuild and compare tables and figures; one with missing records is a finding."""
    planned = products(context.config)
    for product in planned:
        if lacking := sorted(set(product.experiments) - whole):
            yield _unmade(product, f"records of {', '.join(lacking)} are missing or damaged")
    possible = [product for product in planned if set(product.experiments) <= whole]
    for findings, made in side_by_side(_check_product, possible, context):
        report.rebuilt += made
        yield from findings


def _check_product(context: AuditContext, product: Product) -> tuple[list[Finding], bool]:
    try:
        findings = check_product(context.store, context.source, product, context.config, context.options.pictures)
        return list(findings), True
    except Exception as error:  # whatever a product stumbles over, the audit goes on with the next
        return [_unmade(product, f"{type(error).__name__}: {error}")], False


def _check_weights(context: AuditContext, examined: dict[str, Examined], report: Report) -> list[Finding]:
    """Re-evaluate a sample of the records that hold their weights; on all cores if the number of records is given."""
    data = {path: name for each in examined.values() for path, name in sorted(each.weighted.items())}
    options, findings = context.options, []
    if options.every or options.weights is not None:
        chosen = sample(list(data), None if options.every else options.weights, options.seed)
        groups: dict[str, list[str]] = {}
        for path in chosen:
            groups.setdefault(data[path], []).append(path)
        count, progress = 0, Progress(len(chosen), "records re-evaluated from their weights")
        for wrong, done in side_by_side(_weights_of, list(groups.values()), context):
            findings += wrong
            count += done
            progress(count)
    else:
        findings, count = check_weights(context.store, shuffled(list(data), options.seed), options.seconds)
    if count:
        again = "" if count == len(data) else f" (repeat with --weights {count} --seed {options.seed})"
        report.computed = f", metrics of {count} of {len(data)} records re-evaluated from their weights{again}"
    return findings


def _weights_of(context: AuditContext, paths: Sequence[str]) -> tuple[list[Finding], int]:
    return check_weights(context.store, paths)


@dataclass
class Progress:
    """Progress lines on standard error, every few seconds."""

    total: int
    what: str
    last: float = field(default_factory=time.monotonic)

    def __call__(self, done: int) -> None:
        if time.monotonic() - self.last > LINE_SECONDS:
            self.last = time.monotonic()
            print(f"{done} of {self.total} {self.what}", file=sys.stderr, flush=True)


def _unmade(product: Product, why: str) -> Finding:
    return Finding("different", f"{product.kind}s/{product.name}", f"it cannot be rebuilt: {why}")


# What a process works on; it is set before the processes start, so that nothing has to be sent to them.
_context: list[AuditContext] = []


def side_by_side(
    job: Callable[[AuditContext, Item], Outcome], items: Sequence[Item], context: AuditContext
) -> Iterator[Outcome]:
    """The result of a job for each item, in order, computed in parallel."""
    cores = min(context.options.cores, len(items))
    if cores <= 1:
        yield from (job(context, item) for item in items)
        return
    _context[:] = [context]
    with ProcessPoolExecutor(cores, mp_context=get_context("fork")) as pool:
        yield from pool.map(_apply, itertools.repeat(job), items)


def _apply(job: Callable[[AuditContext, Item], Outcome], item: Item) -> Outcome:
    return job(_context[0], item)
