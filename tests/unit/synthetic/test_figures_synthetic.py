"""The synthetic figures are the same bytes whenever they are made, and show what the runs hold."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from eflops.analysis.catalogue.product import Product
from eflops.analysis.catalogue.synthetic import PRODUCTS
from eflops.analysis.figure import Figure
from eflops.analysis.products import make
from eflops.analysis.source import Source

FIGURES = [product for product in PRODUCTS if product.kind == "figure"]


@pytest.fixture(autouse=True)
def _closed_afterwards() -> object:
    yield
    plt.close("all")


def figure(name: str, source: Source) -> Figure:
    return import_module(f"eflops.analysis.figures.{name}").make(source)


@pytest.mark.parametrize("product", FIGURES, ids=lambda product: product.name)
def test_a_figure_made_again_is_the_same_bytes_in_every_form(product: Product, source: Source, tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        make(product.name, source.results, source.context, [folder / Path(file).name for file in product.files])
    names = sorted(path.name for path in folders[0].iterdir())
    assert names == sorted(f"{product.name}.{suffix}" for suffix in ("svg", "pdf", "png", "csv"))
    for name in names:
        first, second = ((folder / name).read_bytes() for folder in folders)
        assert len(first) > 100
        assert first == second


def test_another_process_draws_the_same_bytes(source: Source, tmp_path: Path) -> None:
    suffixes = ("svg", "pdf", "png", "csv")
    make("fig1", source.results, source.context, [tmp_path / f"here.{suffix}" for suffix in suffixes])
    command = [sys.executable, "-m", "eflops", "figure", "fig1", "--results", str(source.results)]
    command += ["--context", json.dumps(source.context), "--out", *(str(tmp_path / f"there.{end}") for end in suffixes)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    for suffix in suffixes:
        assert (tmp_path / f"here.{suffix}").read_bytes() == (tmp_path / f"there.{suffix}").read_bytes()


def test_changed_numbers_change_the_hash_that_a_picture_carries(source: Source, tmp_path: Path) -> None:
    drawn = figure("fig1b", source)
    changed = Figure(drawn.drawing, drawn.data.assign(mean=drawn.data["mean"] + 1))
    for name, made in (("one", drawn), ("two", changed)):
        made.write(tmp_path / f"{name}.svg")
    assert drawn.data_hash in (tmp_path / "one.svg").read_text()
    assert changed.data_hash in (tmp_path / "two.svg").read_text()
    assert drawn.data_hash != changed.data_hash


def test_curves_are_means_over_run_seeds_with_tuning_after_training(source: Source) -> None:
    data = figure("fig1a", source).data
    curves = source.curves("support_recovery")
    chosen = curves[(curves["ratio"] == 0.64) & (curves["method"] == "eflops") & (curves["round"] == 6)]
    row = data[(data["method"] == "eflops") & (data["round"] == 6)].iloc[0]
    assert (row["mean"], row["sd"], row["n"]) == pytest.approx((chosen["r2"].mean(), chosen["r2"].std(), 3))
    phases = data[data["method"] == "eflops"].groupby("phase")["round"].agg(["min", "max"])
    assert phases.loc["training", "max"] == 6 < phases.loc["tuning", "min"]


def test_rates_show_how_many_runs_diverged(source: Source) -> None:
    drawn = figure("fig1c", source)
    lost = drawn.data[drawn.data["set_rate"] == 1e30]
    assert lost["diverged"].tolist() == lost["n"].tolist() == [2, 2]
    words = [text.get_text() for text in drawn.drawing.axes[0].texts]
    assert any("4/4" in word for word in words)
    assert any("diverged / all runs" in word for word in words)


def test_the_whole_figure_holds_its_panels(source: Source) -> None:
    whole = figure("fig1", source).data
    for letter in "abcd":
        panel = figure(f"fig1{letter}", source).data
        part = whole[whole["panel"] == letter].reset_index(drop=True)
        pd.testing.assert_frame_equal(part[panel.columns.tolist()], panel, check_dtype=False)


def test_a_map_shows_the_mean_of_every_cell(source: Source) -> None:
    drawn = figure("fig_entropy", source)
    shown = [text.get_text().split("\n")[0].rstrip("†") for axes in drawn.drawing.axes for text in axes.texts]
    expected = ["diverged" if np.isnan(mean) else f"{mean:.3f}" for mean in drawn.data["mean"]]
    assert sorted(shown) == sorted(expected)
