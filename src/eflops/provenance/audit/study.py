"""Check the study against its hash, the records, the data, the paper's numbers, other files and the present config."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from eflops.analysis.needs import TARGETS
from eflops.analysis.paper import read_targets
from eflops.config import study
from eflops.config.load import read
from eflops.config.messages import ConfigError
from eflops.config.models import Config, data_settings
from eflops.config.plan import all_plans, cell_specs
from eflops.config.products import PROJECT
from eflops.config.study import Study
from eflops.errors import UserError
from eflops.provenance import times
from eflops.provenance.audit.records import Code, differences
from eflops.provenance.data import stored_manifest
from eflops.results import checksums
from eflops.results.findings import Finding
from eflops.results.labels import DATA
from eflops.results.paths import STUDY
from eflops.results.store import RUNS, Store

FILE = Path("config.yaml")


def check_study(store: Store, recorded: Study) -> Iterator[Finding]:
    """Check the study's hash and, if published, the hash of all other files and the signature."""
    stored = recorded.stored
    if (signed := stored.get(study.SIGNER)) and checksums.signer(store.folder) != signed:
        yield Finding(
            "damaged", checksums.SIGNATURE, f"it was signed by the key {signed}, but the signature is missing"
        )
    if study.OWN_HASH in stored and stored[study.OWN_HASH] != study.own_hash(stored):
        yield Finding("damaged", STUDY, "it does not match its own hash; it was changed after it was written")
    if study.FILES_HASH in stored:
        present = checksums.list_hash(checksums.hashes(store.folder), STUDY)
        if present != stored[study.FILES_HASH]:
            what = "the files of the folder are not those that were published with it"
            yield Finding("damaged", STUDY, what)


def check_study_code(recorded: Study, code: Code) -> Iterator[Finding]:
    """Check that the study states the same module hashes as the records."""
    for (module, digest), count in sorted(code.items()):
        stated = recorded.code.get(module)
        if recorded.code and stated != digest:
            what = f"{module} is {stated or 'missing'} there, and {digest} in {count} records"
            yield Finding("different", STUDY, what)


def check_data_settings(store: Store, config: Config) -> Iterator[Finding]:
    """Check that data draws were built with the settings of the study's config."""
    for plan in all_plans(config):
        expected = data_settings(config.datasets[plan.dataset])
        for name, ratio, draw in plan.data_draws:
            for what in _draw_mistakes(store, name, {**expected, "ratio": ratio, "draw": draw}):
                yield Finding("different", f"{DATA}/{name}", what)


def _draw_mistakes(store: Store, name: str, expected: Mapping[str, object]) -> Iterator[str]:
    try:
        settings = stored_manifest(store, name)["settings"]
    except UserError:
        return  # a damaged or missing manifest is reported with the data
    shared = settings.keys() & expected.keys()
    for key, stated, right in differences({k: settings[k] for k in shared}, {k: expected[k] for k in shared}):
        yield f"{key} is {stated!r}, and the config says {right!r}"


def check_targets(store: Store) -> Iterator[Finding]:
    """Check the paper's numbers in the results against the project's, which may contain further ones."""
    kept = store.folder / Path(TARGETS).name
    right = next((path for path in (Path(TARGETS), PROJECT / TARGETS) if path.exists()), None)
    if not kept.exists() or right is None:
        return
    for key, stated, printed in differences(read_targets(kept), read_targets(right)):
        if stated is not None and printed is not None:
            yield Finding("different", kept.name, f"{key} is {stated!r}, and the project's {TARGETS} says {printed!r}")


def check_benchmarks(store: Store, config: Config) -> Iterator[Finding]:
    """Check that the study accounts for every timed training job."""
    try:
        measured = times.job_times(store.folder)
        jobs, numbers = list(measured["job"].astype(str)), measured.drop(columns="job").astype(float)
    except (ValueError, KeyError) as error:
        yield Finding("damaged", times.TABLE, f"this is not a table of times ({error})")
        return
    cells = {
        f"train/{p.name}/{ratio}/{method}" for p in all_plans(config) for ratio in p.ratios for method in p.methods
    }
    for job in jobs:
        if job.startswith("train/") and job.partition("_seeds")[0] not in cells:
            yield Finding("unexpected", times.TABLE, f"{job}: the config has no such cell")
    for index in numbers.index[(numbers < 0).any(axis=1) | numbers.isna().any(axis=1)]:
        yield Finding("damaged", times.TABLE, f"{jobs[index]}: its numbers are not valid times")


def check_present(folder: Path, config: Config) -> Iterator[Finding]:
    """Check that the present config describes the experiments as the study does, if it names this folder."""
    if not FILE.exists():
        return
    try:
        present = read(FILE, trusted=False)
    except ConfigError as error:
        yield Finding("stale", str(FILE), f"the results cannot be compared with it: {error.mistakes[0]}")
        return
    if Path(present.results).resolve() not in (folder.resolve(), folder.resolve().parent):
        return
    for name in config.experiments.keys() | present.experiments.keys():
        if what := _changed(config, present, name):
            yield Finding("stale", f"{RUNS}/{name}", what)


def _changed(config: Config, present: Config, name: str) -> str:
    """How the present config's description of an experiment differs, in words; empty if it does not."""
    if name not in present.experiments:
        return f"{FILE} has no such experiment any more"
    if name not in config.experiments:
        return f"{FILE} has this experiment, and these results do not"
    changes = list(differences(_cells(config, name), _cells(present, name)))
    if not changes:
        return ""
    key, stated, right = changes[0]
    more = f", and {len(changes) - 1} more differences" if len(changes) > 1 else ""
    return f"{key} is {stated!r} in these results and {right!r} in {FILE}{more}; update them with: snakemake"


def _cells(config: Config, name: str) -> dict[str, object]:
    """The specs of the cells of an experiment, by method and ratio."""
    return {f"{spec.name} {spec.ratio}": spec.model_dump(mode="json") for spec in cell_specs(config, name)}
