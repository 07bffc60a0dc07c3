"""Files that should be there and are not, files that nothing accounts for, and data files against their manifests."""

import re
from collections.abc import Iterator

from eflops.config.models import Config
from eflops.config.plan import Plan, all_plans, plan_of, slices
from eflops.config.products import products
from eflops.data.federation import ARRAYS, MANIFEST, load
from eflops.errors import UserError
from eflops.provenance.audit.records import planned_paths
from eflops.provenance.data import stored_manifest
from eflops.provenance.explain.recompute import GATHERED, gathered_files
from eflops.results import checksums, labels, paths
from eflops.results.findings import Finding
from eflops.results.store import RECORDS, RUNS, SMALL, Store

DATA = "data"
# The folders that a running workflow and its user fill as they like.
FREE = {"logs", "benchmarks", "published"}
# Files beside the folders; what is published has more of them.
TOP = {
    paths.STUDY,
    paths.SCORECARD,
    "scorecard.md",
    paths.SUMMARY,
    paths.SUMMARY_TEXT,
    paths.SUMMARY_OF_REPORT,
    paths.EXPLORER,
    "report.html",
}
TOP_PUBLISHED = TOP | {RECORDS, SMALL, "targets.yaml", "benchmarks.csv"}


def check_layout(store: Store, config: Config) -> Iterator[Finding]:
    """Compare the files that are there with those that the config asks for, and those that may be there."""
    present = {path for path in store.files() if path.split("/")[0] not in FREE and not path.startswith(".")}
    required = required_files(store, config)
    allowed = allowed_files(config) | (TOP_PUBLISHED if store.published else TOP)
    for path in checksums.links_out(store.folder):
        yield Finding("unexpected", path, "this link leads out of the folder")
    for path in sorted(required - present):
        yield Finding("missing", path, "the config asks for it")
    for path in sorted(present - required - allowed):
        yield Finding("unexpected", path, "the config does not ask for it")


def required_files(store: Store, config: Config) -> set[str]:
    """What must be there: all products, and the records, data and gathered files of every plan that was run."""
    planned = products(config)
    required = {path for product in planned for path in product.files}
    needed = {name for product in planned for name in product.experiments}
    for name in needed | {plan.name for plan in all_plans(config) if store.has_runs(plan.name)}:
        required |= {f"{RUNS}/{path}" for path in planned_paths(config, name)}
        required |= set(_data_files(config, name, arrays=not store.published))
    if not store.published:
        required |= {path for product in planned for path in product.sources if path.startswith(GATHERED)}
    return required


def allowed_files(config: Config) -> set[str]:
    """What may be there: the files of plans that no product needs, such as searches."""
    allowed = set(gathered_files(config))
    allowed |= {path for product in products(config) for path in product.inputs}
    allowed |= {paths.REFERENCES.format(experiment=name) for name in config.experiments}
    allowed |= {paths.GENES.format(dataset=name) for name in config.datasets}
    allowed |= {paths.RAW.format(source=entry.source) for entry in config.datasets.values() if hasattr(entry, "source")}
    templates = (paths.TRIALS, paths.CHOSEN, paths.SEARCH_RUNS)
    allowed |= {each.format(dataset=search.entry) for search in config.searches.values() for each in templates}
    jobs = {job.job: job.cell for job, _ in slices(config)}
    names = {*jobs, *_other_jobs(config)}
    for plan in all_plans(config):
        allowed |= set(_data_files(config, plan.name, arrays=True))
        # Manifests name them, and loading the data checks them.
        allowed |= {paths.TEST_FEATURES.format(dataset=plan.dataset, draw=draw) for draw in plan.draws}
        names |= {f"data/{plan.dataset}/test-draw{draw}" for draw in plan.draws}
        names |= {f"gather/{plan.name}", f"references/{plan.name}"}
        names |= {f"data/{plan.dataset}/{name}" for name in _draws(plan)}
    return allowed | {*jobs.values()} | {paths.SPEC.format(job=name) for name in names}


def _other_jobs(config: Config) -> Iterator[str]:
    """The names of jobs that are neither of a plan nor of a cell."""
    yield from ("scorecard", "summary", "study", "explorer")
    yield from (f"{product.kind}s/{product.name}" for product in products(config))
    yield from (f"data/{name}/genes" for name in config.datasets)
    yield from (f"fetch/{entry.source}" for entry in config.datasets.values() if hasattr(entry, "source"))
    yield from (f"search/{search.entry}" for search in config.searches.values())


def _data_files(config: Config, name: str, arrays: bool) -> Iterator[str]:
    plan = plan_of(config, name)
    for draw in _draws(plan):
        folder = f"data/{plan.dataset}/{draw}"
        yield from (f"{folder}/{file}" for file in (MANIFEST, *([ARRAYS] if arrays else [])))


def _draws(plan: Plan) -> list[str]:
    """The folders of a plan's data draws, below that of its data set."""
    return [labels.data_label(ratio, draw) for ratio in plan.ratios for draw in plan.draws]


def check_data_files(store: Store) -> Iterator[Finding]:
    """Every manifest against its own hash, and the arrays beside it, where they are there, against the manifest."""
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
