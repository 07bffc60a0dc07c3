"""The synthetic figures are the same bytes whenever they are made, and show what the runs hold."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from eflops.analysis.figure import Figure
from eflops.analysis.products import make
from eflops.analysis.source import Source
from eflops.config.load import read
from eflops.config.models import Config
from eflops.config.products import Product, product_job, products
from made import made

ROOT = Path(__file__).parents[3]
PRODUCTS = {product.name: product for product in products(read(ROOT / "config.yaml"))}
FIGURES = [
    product
    for product in PRODUCTS.values()
    if product.kind == "figure" and (product.category == "Synthetic regression" or product.name == "fig_communication")
]


@pytest.fixture(scope="session")
def figure(study: Config, source: Source) -> Callable[[str], Figure]:
    """The figure of a name."""
    return lambda name: made(study, name, source)


@pytest.mark.parametrize("product", FIGURES, ids=lambda product: product.name)
def test_a_figure_made_again_is_the_same_bytes_in_every_form(
    product: Product, study: Config, source: Source, tmp_path: Path
) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        make(product_job(study, product), source.results, [folder / Path(file).name for file in product.files])
    names = sorted(path.name for path in folders[0].iterdir())
    assert names == sorted(f"{product.name}.{suffix}" for suffix in ("svg", "pdf", "png", "csv"))
    for name in names:
        first, second = ((folder / name).read_bytes() for folder in folders)
        assert len(first) > 100
        assert first == second


def test_another_process_draws_the_same_bytes(study: Config, source: Source, tmp_path: Path) -> None:
    suffixes = ("svg", "pdf", "png", "csv")
    job = product_job(study, PRODUCTS["fig1"])
    make(job, source.results, [tmp_path / f"here.{suffix}" for suffix in suffixes])
    code = "import json, sys; from pathlib import Path; from eflops.analysis.products import make; "
    code += "make(json.loads(sys.argv[1]), Path(sys.argv[2]), map(Path, sys.argv[3:]))"
    out = [str(tmp_path / f"there.{end}") for end in suffixes]
    command = [sys.executable, "-c", code, json.dumps(job), str(source.results), *out]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    for suffix in suffixes:
        assert (tmp_path / f"here.{suffix}").read_bytes() == (tmp_path / f"there.{suffix}").read_bytes()


def test_changed_numbers_change_the_hash_that_a_picture_carries(
    figure: Callable[[str], Figure], tmp_path: Path
) -> None:
    drawn = figure("fig1b")
    changed = replace(drawn, data=drawn.data.assign(mean=drawn.data["mean"] + 1))
    for name, picture in (("one", drawn), ("two", changed)):
        picture.write(tmp_path / f"{name}.svg")
    assert drawn.data_hash in (tmp_path / "one.svg").read_text()
    assert changed.data_hash in (tmp_path / "two.svg").read_text()
    assert drawn.data_hash != changed.data_hash


def test_metrics_stand_over_the_bytes_of_all_messages_so_far(figure: Callable[[str], Figure], source: Source) -> None:
    drawn = figure("fig_communication")
    data = drawn.data[(drawn.data["method"] == "eflops_feedback") & (drawn.data["metric"] == "r2")]
    curves, runs = source.curves("feedback14"), source.runs("feedback14")
    curves, runs = (part[part["method"] == "eflops_feedback"] for part in (curves, runs))
    assert data["round"].tolist() == sorted(curves["round"].unique())
    assert data["bytes_sent"].is_monotonic_increasing
    sent = runs[[f"{way}_{phase}" for way in ("down", "up") for phase in ("training", "finetuning")]].sum(axis=1)
    assert data["bytes_sent"].iloc[-1] == pytest.approx(sent.mean())
    assert data["mean"].iloc[-1] == pytest.approx(runs["r2"].mean())
    assert set(drawn.data["ratio"]) == {0.64}
    dashes = {line.get_linestyle() for line in drawn.drawing.axes[0].lines} - {"None"}
    assert len(dashes) == 3, "the three regimes differ without colour"


def test_curves_are_means_over_run_seeds_with_finetuning_after_training(
    figure: Callable[[str], Figure], source: Source
) -> None:
    data = figure("fig1a").data
    curves = source.curves("curves")
    chosen = curves[(curves["method"] == "eflops") & (curves["round"] == 6)]
    row = data[(data["method"] == "eflops") & (data["round"] == 6)].iloc[0]
    assert (row["mean"], row["sd"], row["n"]) == pytest.approx((chosen["r2"].mean(), chosen["r2"].std(), 3))
    phases = data[data["method"] == "eflops"].groupby("phase")["round"].agg(["min", "max"])
    assert phases.loc["training", "max"] == 6 < phases.loc["finetuning", "min"]


def test_rates_show_how_many_runs_diverged(figure: Callable[[str], Figure]) -> None:
    drawn = figure("fig1c")
    lost = drawn.data[drawn.data["set_rate"] == 1e30]
    assert lost["diverged"].tolist() == lost["n"].tolist() == [2, 2]
    words = [text.get_text() for text in drawn.drawing.axes[0].texts]
    assert any("4/4" in word for word in words)
    assert any("diverged / all runs" in word for word in words)


def test_the_whole_figure_holds_its_panels(figure: Callable[[str], Figure]) -> None:
    whole = figure("fig1").data
    for letter in "abcd":
        panel = figure(f"fig1{letter}").data
        part = whole[whole["panel"] == letter].reset_index(drop=True)
        pd.testing.assert_frame_equal(part[panel.columns.tolist()], panel, check_dtype=False)
