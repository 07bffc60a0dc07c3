"""Reference fits against the data they name, and their gathered tables against the fits."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from eflops.audit.findings import Finding
from eflops.audit.products import compare_csv
from eflops.config.models import Config
from eflops.config.plan import plan_of
from eflops.config.products import products
from eflops.data.federation import read_manifest
from eflops.errors import UserError
from eflops.explain.recompute import GATHERED
from eflops.files import read_json
from eflops.results import labels
from eflops.results.store import Store

FOLDER = "references"
SUFFIX = ".references.csv"


def check_references(store: Store, config: Config) -> Iterator[Finding]:
    """Every fit, and every gathered table of fits that a product reads."""
    sound = True
    for path in sorted((store.folder / FOLDER).glob("*/*/*.json")):
        for finding in _check_fit(store, path):
            sound = False
            yield finding
    tables = {name for product in products(config) for name in product.inputs if name.endswith(SUFFIX)}
    for name in sorted(tables):
        if sound and (store.folder / name).exists():
            yield from _check_table(store, config, name)


def _check_fit(store: Store, path: Path) -> Iterator[Finding]:
    place = path.relative_to(store.folder).as_posix()
    try:
        entry = read_json(path)
        manifest = read_manifest(store.folder / "data" / entry["data"])
    except UserError:
        return  # a damaged manifest is found with the data
    except (ValueError, KeyError, TypeError):
        yield Finding("damaged", place, "this is not a fit as the workflow writes it")
        return
    if entry.get("data_sha256") != manifest["sha256"]:
        yield Finding("different", place, f"it was fitted to other data than data/{entry['data']} names")


def _check_table(store: Store, config: Config, name: str) -> Iterator[Finding]:
    from eflops.analysis.references import gather  # brings the fitting libraries along

    plan = plan_of(config, name.removeprefix(f"{GATHERED}/").removesuffix(SUFFIX))
    folders = [
        store.folder / FOLDER / plan.dataset / labels.data_label(ratio, draw)
        for ratio in plan.ratios
        for draw in plan.draws
    ]
    fits = [path for folder in folders for path in sorted(folder.glob("*.json"))]
    with tempfile.TemporaryDirectory(prefix="eflops-") as temporary:
        again = Path(temporary) / "again.csv"
        gather(fits, again)
        stored = (store.folder / name).read_bytes().decode(errors="replace")
        yield from compare_csv(name, stored, again.read_text(encoding="utf-8"), exact=True)
