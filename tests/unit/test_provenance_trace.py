"""Every number of every table and figure leads to its runs: those of the project's own config, at small sizes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import small_results
from eflops.analysis.source import Source
from eflops.config.load import check, merge, with_chosen
from eflops.config.products import Product, products
from eflops.provenance.explain.address import Address, find_cell, key_columns
from eflops.provenance.explain.recompute import from_records, remake
from eflops.provenance.explain.trace import trace
from eflops.results.store import opened

ROOT = Path(__file__).parents[2]
REFERENCES = {"best_subset", "lasso"}


def own_config() -> dict[str, Any]:
    """The project's experiments at the sizes of the smoke run, without those whose data must be fetched first."""
    files = [yaml.safe_load((ROOT / name).read_text()) for name in ("config.yaml", "config/smoke.yaml")]
    config = with_chosen(merge(*files))
    fetched = {name for name, entry in config["datasets"].items() if entry["kind"] == "mnist"}
    # What a search chose of data that are left out has no home here.
    chosen = {name: entry for name, entry in config["chosen"].items() if not name.startswith(tuple(fetched))}
    return (
        config
        | {"chosen": chosen}
        | {
            part: {name: entry for name, entry in config[part].items() if entry["dataset"] not in fetched}
            for part in ("experiments", "searches")
        }
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    """All results of that config, gathered again from their records."""
    folder, config = tmp_path_factory.mktemp("own") / "results", own_config()
    small_results.make(folder, config)
    with opened(folder) as store:
        source = from_records(store, check(config))
        yield source


# The scorecard's figure shows verdicts, which `explain scorecard.json --line` leads on from.
FROM_RUNS = [product for product in products(check(own_config())) if product.experiments]


@pytest.mark.parametrize("product", FROM_RUNS, ids=lambda product: product.name)
def test_every_row_leads_to_runs_that_give_its_mean(source: Source, product: Product) -> None:
    frame = pd.read_csv(source.results / next(path for path in product.files if path.endswith(".csv")))
    assert len(frame)
    made = remake(product, source, check(own_config()))
    for row in range(len(frame)):
        words = tuple(f"{key}={frame[key][row]}" for key in key_columns(frame) if pd.notna(frame[key][row]))
        cell = find_cell(frame, Address(Path(product.name), words), {})
        traced = trace(product, made, cell)
        if cell.keys.get("set_initial") == "paper":
            assert traced.runs.empty, str(cell)
            assert "resources/paper/targets.yaml" in traced.formula
            continue
        if product.name == "fig_temperature":  # its rows stand for trials of a search
            assert traced.runs.empty, str(cell)
            assert "no runs: it is read from" in traced.formula
            continue
        assert len(traced.runs) or cell.keys.get("method") in REFERENCES, str(cell)
        assert traced.formula
        if traced.recomputed is not None:
            assert traced.recomputed == pytest.approx(cell.value), str(cell)
