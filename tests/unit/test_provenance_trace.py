"""Every number of every table and figure leads to its runs: those of the project's own config, at small sizes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import small_results
from eflops.analysis.catalogue import products
from eflops.analysis.catalogue.product import Product
from eflops.analysis.source import Source
from eflops.config.load import check, merge
from eflops.provenance.address import Address, key_columns, locate
from eflops.provenance.recompute import regathered
from eflops.provenance.store import opened
from eflops.provenance.trace import trace

ROOT = Path(__file__).parents[2]
REFERENCES = {"best_subset", "lasso"}


def own_config() -> dict[str, Any]:
    """The project's experiments at the sizes of the smoke run, without those whose data must be fetched first."""
    files = [yaml.safe_load((ROOT / name).read_text()) for name in ("config.yaml", "config/smoke.yaml")]
    config = merge(*files)
    fetched = {name for name, entry in config["datasets"].items() if entry["kind"] == "mnist"}
    experiments = {name: entry for name, entry in config["experiments"].items() if entry["dataset"] not in fetched}
    return {**config, "experiments": experiments, "searches": {}}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    """All results of that config, gathered anew from their records."""
    folder, config = tmp_path_factory.mktemp("own") / "results", own_config()
    small_results.make(folder, config)
    with opened(folder) as store, regathered(store, check(config), config["experiments"]) as source:
        yield source


# The scorecard's figure shows verdicts, which `explain scorecard.json --line` leads on from.
FROM_RUNS = [product for product in products(check(own_config())) if product.experiments]


@pytest.mark.parametrize("product", FROM_RUNS, ids=lambda product: product.name)
def test_every_row_leads_to_runs_that_give_its_mean(source: Source, product: Product) -> None:
    frame = pd.read_csv(source.results / next(path for path in product.files if path.endswith(".csv")))
    assert len(frame)
    for row in range(len(frame)):
        words = tuple(f"{key}={frame[key][row]}" for key in key_columns(frame) if pd.notna(frame[key][row]))
        cell = locate(frame, Address(Path(product.name), words), {})
        found = trace(product, source, cell)
        assert len(found.runs) or cell.keys.get("method") in REFERENCES, str(cell)
        assert found.formula
        if found.recomputed is not None:
            assert found.recomputed == pytest.approx(cell.value), str(cell)
