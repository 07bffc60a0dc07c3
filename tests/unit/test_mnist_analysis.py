"""Tables and figures of the CNN, from runs that the real code trains on a few made pictures."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eflops import record, wire
from eflops.analysis import costs, products, supports
from eflops.analysis.catalogue.mnist import PRODUCTS
from eflops.analysis.figures import fig2, fig2b, mnist_bytes
from eflops.analysis.gather import gather
from eflops.analysis.source import Source
from eflops.analysis.tables import mnist, mnist_cut, mnist_layers
from eflops.config import cells
from eflops.config.load import check
from eflops.data.federation import Block, Federation, save
from eflops.train import Job, train

SIZE, TARGET = 44_426, 1110
SETTINGS = {"rounds": 4, "tune_rounds": 1, "local_steps": 1, "tune_steps": 1, "prune_from": 0.5, "rate": 0.1}
CONFIG: dict[str, Any] = {
    "datasets": {"mnist": {"kind": "mnist", "density": 0.025, "clients": 2}},
    "methods": {
        "eflops": {"method": "eflops", "label": "E-FLoPS", "settings": SETTINGS},
        "fediht": {"method": "fediht", "label": "Fed-IHT", "settings": SETTINGS},
        "fedavg": {"method": "fedavg", "label": "FedAvg", "settings": SETTINGS},
        "centralized": {"method": "eflops", "label": "Centralized", "pooled": True, "settings": SETTINGS},
    },
    "experiments": {
        "mnist": {"dataset": "mnist", "methods": ["eflops", "fediht", "fedavg", "centralized"], "seeds": 2},
        "mnist_cut": {
            "dataset": "mnist",
            "methods": ["eflops", "fediht"],
            "seeds": 2,
            "cases": {"start": {"prune_from": 0.0}, "shrinking": {"keep_schedule": "shrinking"}},
        },
    },
}
CONTEXT = {
    "labels": {name: method["label"] for name, method in CONFIG["methods"].items()},
    "pooled": ["centralized"],
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    results = tmp_path_factory.mktemp("mnist")
    config = check(CONFIG)
    save(pictures(), results / "data" / "mnist" / "all-draw0", {})
    for plan in cells.plans(config):
        runs = results / "runs" / plan.name
        for method in plan.methods:
            slice_ = cells.job(config, plan.name, "all", method)
            train(Job(slice_, results / "data", runs / "all" / method, tuple(plan.runs), 32), lambda _: lambda *_: None)
        out = results / "gathered" / f"{plan.name}.csv"
        gather(plan.as_json(), runs, out, out.with_suffix(".curves.csv"))
        supports.gather(plan.as_json(), runs, out.with_suffix(".supports.csv"))
    return Source(results, CONTEXT)


def pictures() -> Federation:
    """Each class is a bright square at its own place."""
    generator = np.random.default_rng(0)

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
    table = mnist.make(source).data
    dense = wire.encoded_size(SIZE, SIZE, dense=True)
    assert cell(table, method="fedavg", metric="share_training") == 1
    assert cell(table, method="fedavg", metric="share_formula") == 1
    sparse = wire.encoded_size(SIZE, TARGET)
    assert cell(table, method="fediht", metric="share_round") == pytest.approx(sparse / dense)
    gated = wire.encoded_size(SIZE, TARGET, gates=True, tail=True, multiplier=True)
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
    plotted = fig2b.make(source).data
    assert set(plotted["method"]) == {"eflops", "fediht", "fedavg"}
    share = cell(mnist.make(source).data, method="fediht", metric="share_round")
    assert cell(plotted, method="fediht", metric="compression_round") == pytest.approx(1 / share)


def test_layers_add_up_to_the_records(source):
    layers = mnist_layers.by_layer(source)
    for path, part in layers.groupby("record"):
        result = record.read(source.results / "runs" / "mnist" / path).result
        assert part["kept"].sum() == len(result.support)
        assert dict(zip(part["layer"], part["operations"], strict=True)) == result.macs
        hidden = part[part["layer"] != "dense3"]
        assert dict(zip(hidden["layer"], hidden["dead_units"], strict=True)) == result.dead_units


def test_each_way_to_cut_has_a_row_and_shrinking_sends_more_than_cutting_at_once(source):
    table = mnist_cut.make(source)
    assert len(table.shown) == 2
    shares = [
        cell(table.data, method="eflops", variant=name, metric="share_training") for name in ("start", "shrinking")
    ]
    assert shares[0] < shares[1]


def test_the_figure_of_bytes_has_dense_fedavg_for_comparison(source):
    plotted = mnist_bytes.make(source).data
    assert set(plotted.loc[plotted["experiment"] == "mnist", "method"]) == {"fedavg"}
    assert len(plotted[plotted["metric"] == "accuracy"]) == 1 + 2 * 2


@pytest.mark.parametrize(
    "module", [mnist, mnist_cut, mnist_layers, fig2, mnist_bytes], ids=lambda module: module.__name__
)
def test_every_plotted_or_printed_mean_is_that_of_the_runs_it_is_traced_to(module, source):
    for row in module.make(source).data.to_dict("records"):
        traced = module.trace(source, row)
        assert len(traced) == row["n"]
        assert traced["value"].mean() == pytest.approx(row["mean"])


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_products_are_the_same_bytes_when_made_again(product, source, tmp_path):
    made = []
    for name in ("one", "two"):
        files = [tmp_path / name / Path(path).name for path in product.files]
        products.make(product.name, source.results, CONTEXT, files)
        made.append([path.read_bytes() for path in files])
    assert made[0] == made[1]
    assert all(made[0])
