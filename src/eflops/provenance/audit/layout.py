"""Files that should be there and are not, files that nothing accounts for, and data files against their manifests."""

from collections.abc import Iterator

from eflops.config.models import Config
from eflops.config.plan import all_plans, plan_of
from eflops.config.products import products
from eflops.data.federation import ARRAYS, MANIFEST, load, read_manifest
from eflops.errors import UserError
from eflops.provenance.audit.records import planned_paths
from eflops.provenance.explain.recompute import GATHERED, gathered_files
from eflops.results import checksums, labels
from eflops.results.findings import Finding
from eflops.results.paths import TEST_FEATURES
from eflops.results.store import RUNS, Store

DATA = "data"
# The folders whose content follows from the config, file by file.
ACCOUNTED = (RUNS, DATA, GATHERED, "tables", "figures")


def check_layout(store: Store, config: Config) -> Iterator[Finding]:
    """Compare the files that are there with those that the config asks for."""
    present = {path for path in _files(store) if path.split("/")[0] in ACCOUNTED}
    asked, allowed = asked_files(store, config), allowed_files(config)
    for path in sorted(asked - present):
        yield Finding("missing", path, "the config asks for it")
    for path in sorted(present - asked - allowed):
        yield Finding("unexpected", path, "the config does not ask for it")


def asked_files(store: Store, config: Config) -> set[str]:
    """What must be there: all products, and the records, data and gathered files of every plan that was run."""
    asked = {path for product in products(config) for path in product.files}
    for name in _run_plans(store, config):
        asked |= {f"{RUNS}/{path}" for path in planned_paths(config, name)}
        asked |= set(_data_files(config, name, arrays=not store.published))
    if not store.published:
        asked |= {path for product in products(config) for path in product.sources if path.startswith(GATHERED)}
    return asked


def allowed_files(config: Config) -> set[str]:
    """What may be there: the files of plans that no product needs, such as searches."""
    allowed = set(gathered_files(config))
    allowed |= {path for product in products(config) for path in product.inputs}
    for plan in all_plans(config):
        allowed |= set(_data_files(config, plan.name, arrays=True))
        # Manifests name them, and loading the data checks them.
        allowed |= {TEST_FEATURES.format(dataset=plan.dataset, draw=draw) for draw in plan.draws}
    return allowed


def _run_plans(store: Store, config: Config) -> set[str]:
    """The experiments that products need, and whatever else has records."""
    needed = {name for product in products(config) for name in product.experiments}
    return needed | {plan.name for plan in all_plans(config) if store.has_runs(plan.name)}


def _data_files(config: Config, name: str, arrays: bool) -> Iterator[str]:
    plan = plan_of(config, name)
    for ratio in plan.ratios:
        for draw in plan.draws:
            folder = f"data/{plan.dataset}/{labels.data_label(ratio, draw)}"
            yield from (f"{folder}/{file}" for file in (MANIFEST, *([ARRAYS] if arrays else [])))


def _files(store: Store) -> set[str]:
    """All files of the results, seen as a results folder."""
    return {*checksums.files(store.folder), *(f"{RUNS}/{path}" for path in store.record_paths())}


def check_data_files(store: Store) -> Iterator[Finding]:
    """Every manifest against its own hash, and the arrays beside it, where they are there, against the manifest."""
    for path in sorted((store.folder / DATA).glob(f"*/*/{MANIFEST}")):
        folder = path.parent
        place = f"{DATA}/{folder.parent.name}/{folder.name}"
        try:
            read_manifest(folder)
        except UserError as error:
            yield Finding("damaged", f"{place}/{MANIFEST}", str(error).removeprefix(f"{path} "))
            continue
        arrays = folder / ARRAYS
        if not arrays.exists():
            if not store.published:
                yield Finding("missing", f"{place}/{ARRAYS}", "its manifest describes it")
            continue
        try:
            load(folder)
        except UserError as error:
            yield Finding("damaged", f"{place}/{ARRAYS}", str(error).removeprefix(f"{arrays} "))
