"""Tables and figures of the CNN, from runs that the real code trains on a few made pictures."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import small_results
from eflops.analysis import products
from eflops.analysis.products.mnist import by_layer
from eflops.analysis.source import Source
from eflops.analysis.stats import costs
from eflops.config.load import check
from eflops.config.plan import all_plans
from eflops.config.products import product_job
from eflops.config.products import products as planned
from eflops.data.federation import Block, Federation, save
from eflops.results import record
from eflops.training.numerics import wire
from made import made, texts, traced

SIZE, TARGET = 44_426, 1110
SETTINGS = {"rounds": 4, "finetune_rounds": 1, "local_steps": 1, "finetune_steps": 1, "prune_from": 0.5, "rate": 0.1}
CONFIG: dict[str, Any] = {
    "datasets": {
        "mnist": {"kind": "mnist", "density": 0.025, "clients": 2},
        "fashion": {
            "kind": "mnist",
            "source": "fashion_mnist",
            "settings_like": "mnist",
            "density": 0.025,
            "clients": 2,
        },
    },
    "methods": {
        "eflops": {"method": "eflops", "label": "E-FLoPS", "settings": SETTINGS},
        "fediht": {"method": "fediht", "label": "Fed-IHT", "settings": {**SETTINGS, "sparse_upload": True}},
        "fedavg": {"method": "fedavg", "label": "FedAvg", "settings": SETTINGS},
        "centralized": {"method": "eflops", "label": "Centralized", "pooled": True, "settings": SETTINGS},
    },
    "experiments": {
        "mnist": {
            "dataset": "mnist",
            "methods": ["eflops", "fediht", "fedavg", "centralized"],
            "draws": [0, 1],
            "seeds": 2,
        },
        "mnist_cut": {
            "dataset": "mnist",
            "methods": ["eflops", "fediht"],
            "seeds": 2,
            "cases": {"start": {"prune_from": 0.0}, "quarter": {"prune_from": 0.25}},
        },
        "fashion": {"dataset": "fashion", "target": "beyond", "methods": ["eflops", "fediht"], "seeds": 1},
    },
}
LABELS = {name: method["label"] for name, method in CONFIG["methods"].items()}
STUDY = check(CONFIG)
PRODUCTS = [product for product in planned(STUDY) if product.category == "MNIST" or product.name == "tab_fashion"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    results = tmp_path_factory.mktemp("mnist")
    config = check(CONFIG)
    for folder in ("mnist/all-draw0", "mnist/all-draw1", "fashion/all-draw0"):
        save(pictures(folder), results / "data" / folder, {})
    for plan in all_plans(config):
        small_results.train_plan(config, plan, results)
        small_results.gather(plan, results)
    return Source(results, LABELS, ("centralized",))


def pictures(folder: str) -> Federation:
    """Each class is a bright square at its own place, with noise that is the place's own."""
    generator = np.random.default_rng(len(folder) + ord(folder[-1]))

    def block(rows: int) -> Block:
        labels = np.arange(rows) % 10
        x = generator.random((rows, 1, 28, 28), np.float32) * np.float32(0.1)
        for row, label in enumerate(labels):
            x[row, 0, 2 * label : 2 * label + 6, 4:20] = 1
        return Block(x, labels)

    return Federation((block(12), block(20)), block(30), meta={"task": "classification", "classes": 10})


def cell(cells: pd.DataFrame, **keys: str) -> float:
    """The mean in the row with these keys."""
    for key, value in keys.items():
        cells = cells[cells[key] == value]
    return float(cells["mean"].item())


def test_dense_training_sends_all_of_dense_and_a_cut_round_what_the_wire_says(source):
    table = made(STUDY, "mnist", source).data
    dense = wire.encoded_size(SIZE, SIZE, dense=True)
    assert cell(table, method="fedavg", metric="share_training") == 1
    assert cell(table, method="fedavg", metric="share_formula") == 1
    sparse = wire.encoded_size(SIZE, TARGET)
    assert cell(table, method="fediht", metric="share_round") == pytest.approx(sparse / dense)
    gated = wire.encoded_size(SIZE, TARGET, 2, 2)
    assert cell(table, method="eflops", metric="share_round") == pytest.approx(gated / dense)
    both_ways = cell(table, method="fedavg", metric="bytes_training")
    assert both_ways == 4 * 2 * 2 * dense


def test_the_formula_leaves_indices_out(source):
    runs = costs.with_costs(source.runs("mnist_cut"))
    iht = runs[(runs["method"] == "fediht") & (runs["variant"] == "start")].iloc[0]
    # The first download is dense; the other three and all four uploads hold m values.
    assert iht["share_formula"] == pytest.approx((1 + 7 * TARGET / SIZE) / 8)
    assert iht["share_training"] > iht["share_formula"]


def test_compression_is_the_inverse_of_the_share_and_pooled_methods_send_nothing(source):
    plotted = made(STUDY, "fig2b", source).data
    assert set(plotted["method"]) == {"eflops", "fediht", "fedavg"}
    share = cell(made(STUDY, "mnist", source).data, method="fediht", metric="share_round")
    assert cell(plotted, method="fediht", metric="compression_round") == pytest.approx(1 / share)


def test_layers_add_up_to_the_records(source):
    layers = by_layer(source.supports("mnist"))
    for path, part in layers.groupby("record"):
        result = record.read(source.results / "runs" / "mnist" / path).result
        assert part["kept"].sum() == len(result.support)
        assert dict(zip(part["layer"], part["operations"], strict=True)) == result.macs
        hidden = part[part["layer"] != "dense3"]
        assert dict(zip(hidden["layer"], hidden["dead_units"], strict=True)) == result.dead_units


def test_each_way_to_cut_has_a_row_and_a_late_cut_sends_more(source):
    table = made(STUDY, "mnist_cut", source)
    assert len(table.rows) == 2
    shares = [cell(table.data, method="eflops", variant=name, metric="share_training") for name in ("start", "quarter")]
    assert shares[0] < shares[1]


def test_the_figure_of_bytes_has_the_searched_way_and_dense_fedavg_beside_the_cuts(source):
    plotted = made(STUDY, "mnist_bytes", source).data
    assert set(plotted.loc[plotted["experiment"] == "mnist", "method"]) == {"eflops", "fediht", "fedavg"}
    assert len(plotted[plotted["metric"] == "accuracy"]) == 3 + 2 * 2


def test_the_unit_is_the_draw_whose_seeds_are_averaged_first(source):
    runs = source.runs("mnist")
    draws = runs[runs["method"] == "eflops"].groupby("draw")["cross_entropy"].mean()
    table = made(STUDY, "mnist", source)
    cells = table.data.set_index(["method", "metric"])
    row = cells.loc[("eflops", "cross_entropy")]
    assert (row["units"], row["n"]) == (2, 4)
    assert row["spread"] == pytest.approx(draws.std())
    assert row[["lower", "upper"]].isna().all()
    assert "2 data draws, the 2 run seeds of each averaged first" in table.note
    assert table.note.endswith("Means over fewer than three have no interval.")


def test_only_gated_methods_have_open_gates(source):
    table = made(STUDY, "mnist", source)
    gated = set(table.data.loc[table.data["metric"] == "open_gates", "method"])
    assert gated == {"eflops", "centralized"}
    assert dict(zip(texts(table)["Method"], texts(table)["open gates"], strict=True))["Fed-IHT"] == "-"


def test_fashion_has_a_row_per_method(source):
    table = made(STUDY, "tab_fashion", source)
    assert texts(table)["Method"].tolist() == ["E-FLoPS", "Fed-IHT"]
    assert "1 run seed of one data draw" in table.note


@pytest.mark.parametrize("name", ["mnist", "mnist_cut", "mnist_layers", "fig2", "mnist_bytes", "tab_fashion"])
def test_every_plotted_or_printed_mean_is_that_of_the_runs_it_is_traced_to(name, source):
    product = made(STUDY, name, source)
    for row in product.data.to_dict("records"):
        behind = traced(STUDY, name, product, row, "mean").runs
        assert len(behind) == row["n"]
        assert behind["value"].mean() == pytest.approx(row["mean"])


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_products_are_the_same_bytes_when_made_again(product, source, tmp_path):
    written = []
    for name in ("one", "two"):
        files = [tmp_path / name / Path(path).name for path in product.files]
        products.make(product_job(STUDY, product), source.results, files)
        written.append([path.read_bytes() for path in files])
    assert written[0] == written[1]
    assert all(written[0])
