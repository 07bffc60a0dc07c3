"""References against the data they name, and some of them fitted again."""

import csv
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

from eflops.audit.findings import Finding
from eflops.audit.products import close
from eflops.audit.sample import sample
from eflops.config.models import Config
from eflops.config.plan import plan_of
from eflops.config.products import products
from eflops.data.federation import load, read_manifest
from eflops.errors import UserError
from eflops.results import labels, paths
from eflops.results.draws import data_folder
from eflops.results.store import Store

Rows = list[dict[str, str]]


def check_references(store: Store, config: Config, count: int | None, seed: int) -> Iterator[Finding]:
    """Every table of references that a product reads; of so many draws (None: all) they are fitted again."""
    inputs = {path for product in products(config) for path in product.inputs}
    draws: list[tuple[str, str, Rows]] = []
    for name in config.experiments:
        table = paths.REFERENCES.format(experiment=name)
        if table in inputs and (store.folder / table).exists():
            rows = _read(store.folder / table)
            plan = plan_of(config, name)
            for ratio in plan.ratios:
                for draw in plan.draws:
                    asked = labels.ratio_value(ratio), draw
                    own = [row for row in rows if (float(row["ratio"] or 0) or None, int(row["draw"])) == asked]
                    draws.append((table, f"{plan.dataset}/{labels.data_label(ratio, draw)}", own))
    yield from (finding for each in draws for finding in _check_data(store, *each))
    with tempfile.TemporaryDirectory(prefix="eflops-") as temporary:
        for each in sample(draws, count, seed):
            yield from _fit_again(store, *each, Path(temporary))


def _read(path: Path) -> Rows:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(errors="replace"))))


def _check_data(store: Store, table: str, name: str, rows: Rows) -> Iterator[Finding]:
    try:
        expected = read_manifest(store.folder / "data" / name)["sha256"]
    except UserError:
        return  # a damaged manifest is found with the data
    if not rows:
        yield Finding("missing", table, f"it has no fit to data/{name}")
    elif any(row["data_sha256"] != expected for row in rows):
        yield Finding("different", table, f"a fit is to other data than data/{name} names")


def _fit_again(store: Store, table: str, name: str, rows: Rows, folder: Path) -> Iterator[Finding]:
    from eflops.analysis.references import fits  # brings the fitting libraries along

    try:
        manifest = read_manifest(store.folder / "data" / name)
        federation = load(data_folder(store, name, manifest["sha256"], folder) / name)
    except UserError as error:
        yield Finding("different", table, f"its data cannot be made again: {error}")
        return
    for row, again in zip(rows, fits(federation, manifest), strict=True):
        for column, value in again.items():
            expected = "" if value is None else str(value)
            if row[column] != expected and not close(row[column], expected):
                what = f"{column} of {row['reference']} on data/{name} is {row[column]}, and fitted again {expected}"
                yield Finding("different", table, what)
