"""Missing files, unexpected files, and data files compared with their manifests."""

import re
from collections.abc import Iterator

from eflops.config.jobs import job_files
from eflops.config.models import Config
from eflops.config.plan import all_plans, plan_of
from eflops.config.products import products
from eflops.data.federation import ARRAYS, MANIFEST, load
from eflops.errors import UserError
from eflops.provenance.audit.records import planned_paths
from eflops.provenance.data import stored_manifest
from eflops.results import checksums, paths
from eflops.results.findings import Finding
from eflops.results.labels import DATA
from eflops.results.paths import GATHERED_FOLDER
from eflops.results.store import RECORDS, RUNS, SMALL, Store

# The folders that a running workflow and its user fill as they like.
FREE = {"logs", "benchmarks", "published"}
# Files beside the folders; what is published has more of them.
TOP = {
    paths.STUDY,
    paths.SCORECARD,
    paths.SCORECARD_TEXT,
    paths.SUMMARY,
    paths.SUMMARY_TEXT,
    paths.SUMMARY_OF_REPORT,
    paths.EXPLORER,
    "report.html",
}
TOP_PUBLISHED = TOP | {RECORDS, SMALL, "targets.yaml", "benchmarks.csv"}


def check_layout(store: Store, config: Config) -> Iterator[Finding]:
    """Compare the existing files with the required files and the allowed files."""
    present = {path for path in store.files() if path.split("/")[0] not in FREE and not path.startswith(".")}
    required = required_files(store, config)
    # Of plans that no product needs, such as searches, there may be files.
    inputs = {path for entry in products(config) for path in entry.inputs}
    allowed = job_files(config) | inputs | (TOP_PUBLISHED if store.published else TOP)
    for path in checksums.links_out(store.folder):
        yield Finding("unexpected", path, "this link leads out of the folder")
    for path in sorted(required - present):
        yield Finding("missing", path, "the config asks for it")
    for path in sorted(present - required - allowed):
        yield Finding("unexpected", path, "the config does not ask for it")


def required_files(store: Store, config: Config) -> set[str]:
    """The required files: all products, and the records, data and gathered files of every plan that was run."""
    planned = products(config)
    suffix = paths.UNPUBLISHED_SUFFIX if store.published else ()
    required = {path for entry in planned for path in entry.files if not path.endswith(suffix)}
    needed = {name for entry in planned for name in entry.experiments}
    data_files = (MANIFEST,) if store.published else (MANIFEST, ARRAYS)
    for name in needed | {plan.name for plan in all_plans(config) if store.has_runs(plan.name)}:
        required |= {f"{RUNS}/{path}" for path in planned_paths(config, name)}
        draws = plan_of(config, name).data_draws
        required |= {f"{DATA}/{draw}/{file}" for draw, *_ in draws for file in data_files}
    if not store.published:
        required |= {path for entry in planned for path in entry.sources if path.startswith(GATHERED_FOLDER)}
    return required


def check_data_files(store: Store) -> Iterator[Finding]:
    """Check every manifest against its hash, and existing arrays against the manifest."""
    for path in store.files():
        match = re.fullmatch(rf"{DATA}/([^/]+/[^/]+)/{re.escape(MANIFEST)}", path)
        if match is None:
            continue
        try:
            stored_manifest(store, match[1])
        except UserError as error:
            yield Finding("damaged", path, str(error).removeprefix(f"{store.folder / path} "))
            continue
        name = f"{DATA}/{match[1]}/{ARRAYS}"
        arrays = store.folder / name
        if not arrays.exists():
            if not store.published:
                yield Finding("missing", name, "its manifest describes it")
            continue
        try:
            load(arrays.parent)
        except UserError as error:
            yield Finding("damaged", name, str(error).removeprefix(f"{arrays} "))
