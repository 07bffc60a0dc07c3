"""The audit of a whole results folder: everything that can be checked without training, without torch."""

from collections.abc import Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path

from eflops.analysis.catalogue import products
from eflops.analysis.catalogue.product import Product
from eflops.config.models import Config
from eflops.errors import UserError
from eflops.provenance import sums
from eflops.provenance.checks.code import check_code
from eflops.provenance.checks.data import check_data_files
from eflops.provenance.checks.layout import check_layout
from eflops.provenance.checks.products import check_gathered, check_product
from eflops.provenance.checks.records import (
    check_data,
    check_places,
    check_settings,
    planned_paths,
    read_records,
)
from eflops.provenance.checks.references import check_references
from eflops.provenance.checks.scorecard import check_scorecard
from eflops.provenance.checks.summary import check_summary
from eflops.provenance.findings import Finding, summary
from eflops.provenance.lines import judged_experiments
from eflops.provenance.recompute import gathered_files, regathered
from eflops.provenance.store import RECORDS, Store, opened
from eflops.provenance.study import read_study
from eflops.record import Record

CRATE_RESULTS = "results"


@dataclass
class Report:
    """What was audited and what was found."""

    folder: Path
    records: int = 0
    remade: int = 0
    findings: list[Finding] = field(default_factory=list)

    def counted(self, allow_stale: bool) -> list[Finding]:
        """The findings that make an audit fail."""
        return [finding for finding in self.findings if not (allow_stale and finding.kind == "stale")]

    def __str__(self) -> str:
        done = f"{self.folder}: {self.records} records read, {self.remade} tables and figures made again from them"
        lines = [*map(str, self.findings), f"{done}: {summary(self.findings) or 'nothing to find fault with'}."]
        return "\n".join(lines)


def audit(folder: Path, configs: tuple[Path, ...] = (), pictures: bool = False) -> Report:
    """Audit a results folder or a published one; `pictures` also draws every figure again."""
    report = Report(folder)
    if (folder / RECORDS).exists() or (folder / sums.NAME).exists():
        report.findings += sums.check(folder)
    try:
        with opened(folder) as store:
            _audit_store(store, read_study(store.folder, *configs).config, report, pictures)
    except UserError as error:
        if not report.findings:
            raise
        report.findings.append(Finding("damaged", str(folder), f"no more could be checked ({error})"))
    return report


def audit_crate(folder: Path, pictures: bool = False) -> Report:
    """Audit a crate: all its files, and its results with the resources that it brings along."""
    damaged = list(sums.check(folder))
    if not (folder / CRATE_RESULTS).is_dir():
        raise UserError(f"{folder}: this is no crate of results; make one with: eflops crate {folder}")
    with chdir(folder):
        report = audit(Path(CRATE_RESULTS), pictures=pictures)
    return Report(folder, report.records, report.remade, [*damaged, *report.findings])


def _audit_store(store: Store, config: Config, report: Report, pictures: bool) -> None:
    records, damaged = read_records(store)
    misplaced = list(check_places(records))
    report.records = len(records)
    report.findings += [*damaged, *misplaced]
    report.findings += check_settings(records, config)
    report.findings += check_data(records, store)
    report.findings += check_data_files(store)
    report.findings += check_references(store, config)
    report.findings += check_layout(store, config)
    report.findings += check_code(records)
    report.findings += check_summary(store, config)
    report.findings += _check_made(store, config, _whole(records, misplaced, config), report, pictures)


def _whole(records: Mapping[str, Record], misplaced: list[Finding], config: Config) -> set[str]:
    """The experiments and searches whose every record is there, sound and in its place."""
    wrong = {finding.place.partition("/")[2] for finding in misplaced}
    names = (*config.experiments, *config.searches)
    return {
        name for name in names if all(path in records and path not in wrong for path in planned_paths(config, name))
    }


def _check_made(store: Store, config: Config, whole: set[str], report: Report, pictures: bool) -> Iterator[Finding]:
    """Everything that is made from records, made again; what lacks records is said."""
    with regathered(store, config, whole) as source:
        names = [name for name, plan in gathered_files(config).items() if plan in whole]
        yield from check_gathered(store, source, names)
        for product in products(config):
            lacking = sorted(set(product.experiments) - whole)
            if lacking:
                yield _unmade(product, f"records of {', '.join(lacking)} are missing or damaged")
                continue
            try:
                yield from check_product(store, source, product, pictures)
                report.remade += 1
            except Exception as error:  # whatever a product stumbles over, the audit goes on with the next
                yield _unmade(product, f"{type(error).__name__}: {error}")
        if set(judged_experiments(store.folder, config)) <= whole:
            yield from check_scorecard(store, source, config)


def _unmade(product: Product, why: str) -> Finding:
    return Finding("different", f"{product.kind}s/{product.name}", f"it cannot be made again: {why}")
