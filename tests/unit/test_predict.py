"""A run's model as CSV: it says what the run said of its test samples, and is refused where it cannot."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eflops.cli import main
from eflops.config.cell import CellSpec
from eflops.config.models import Expression, Table
from eflops.config.settings import settings_class
from eflops.data.expression import build, features
from eflops.data.federation import load, save
from eflops.data.job import Job
from eflops.data.table import build as build_table
from eflops.errors import UserError
from eflops.provenance.predict import linear_model_of, read_model
from eflops.results.labels import Run
from eflops.results.store import RECORDS, SMALL, Store, opened, pack, pack_small
from eflops.training.train import train

SAMPLES = [f"S{number:02d}" for number in range(60)]
GENES = [f"g{number}" for number in range(20)]
RUN = Run("base", 0, 0)


@pytest.fixture(params=["per_array", "whole", "per_gene"])
def results(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One run on a small matrix whose first two genes tell two classes apart."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    values = generator.lognormal(5, 0.3, (60, 20)).round(1)
    values[::2, 0] *= 4
    values[1::2, 1] *= 4
    whole = pd.DataFrame(values, columns=GENES, index=pd.Index(SAMPLES, name="sample"))
    whole.assign(**{"class": ["ill", "well"] * 30}).to_csv("matrix.csv")
    entry: dict[str, Any] = {"kind": "expression", "matrix": "matrix.csv", "scaling": request.param, "log": True}
    settings = Expression.model_validate({**entry, "clients": 3, "min_rows": 5, "genes_per_class": 2}).model_dump()
    save(build(settings, None, 0), Path("results/data/mine/all-draw0"), {**settings, "ratio": "all", "draw": 0})
    features(settings).to_csv("results/data/mine/genes.csv", index=False)
    chosen = settings_class("fedavg").model_validate({"rounds": 20, "rate": 0.1, "finetune_rounds": 5})
    spec = CellSpec.model_validate({
        "experiment": "mine", "dataset": "mine", "model": "softmax", "density": 0.5, "genes_per_class": 2,
        "client_fraction": 1.0, "ratio": "all", "name": "fedavg", "method": "fedavg", "options": {}, "pooled": False,
        "engine": "batched", "evaluate_every": 100, "variants": {"base": chosen},
    })  # fmt: skip
    folder = Path("results/runs/mine/all/fedavg")
    train(Job(spec, Path("results/data"), folder, (RUN,), 1), lambda _: lambda *_: None)
    return Path("results")


@pytest.fixture
def regression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One run on a table whose number follows from an age and a sex."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    age, sex = generator.integers(20, 80, 80), np.array(["f", "m"] * 40)
    pressure = 100 + 0.5 * age + 6 * (sex == "m") + generator.normal(0, 0.5, 80)
    noise = {f"noise{number}": generator.normal(size=80) for number in range(4)}
    table = pd.DataFrame({"patient": SAMPLES + [f"T{n}" for n in range(20)], "age": age, "sex": sex, **noise})
    table.assign(pressure=pressure.round(2)).to_csv("t.csv", index=False)
    entry = {"kind": "table", "file": "t.csv", "target": "pressure", "id": "patient", "keep": 3, "clients": 3}
    settings = Table.model_validate(entry).model_dump()
    save(build_table(settings, None, 0), Path("results/data/mine/all-draw0"), {**settings, "ratio": "all", "draw": 0})
    chosen = settings_class("fedavg").model_validate({"rounds": 60, "rate": 0.1, "finetune_rounds": 20})
    spec = CellSpec.model_validate({
        "experiment": "mine", "dataset": "mine", "model": "glm", "density": 0.5, "keep": 3, "intercept": True,
        "client_fraction": 1.0, "ratio": "all", "name": "fedavg", "method": "fedavg", "options": {}, "pooled": False,
        "engine": "batched", "evaluate_every": 100, "variants": {"base": chosen},
    })  # fmt: skip
    folder = Path("results/runs/mine/all/fedavg")
    train(Job(spec, Path("results/data"), folder, (RUN,), 1), lambda _: lambda *_: None)
    return Path("results")


def test_a_number_is_predicted_in_its_unit_with_the_error_that_the_run_measured(regression: Path) -> None:
    linear_model_of(Store(regression), "mine", "fedavg", 0, 0).write(Path("model.csv"))
    predicted = read_model(Path("model.csv")).predict("t.csv").set_index("patient")
    tested = load(regression / "data/mine/all-draw0").meta["test_samples"]
    errors = predicted["pressure"] - pd.read_csv("t.csv").set_index("patient")["pressure"]
    measured = Store(regression).record("mine/all/fedavg/base/draw0-seed0.json").result.metrics
    assert np.sqrt((errors[tested] ** 2).mean()) == pytest.approx(measured["rmse"], rel=1e-4)
    assert measured["rmse"] < 1
    table = pd.read_csv("model.csv", comment="#")
    assert table["feature"][0] == "age"
    assert set(table["feature"][:3]) == {"age", "sex=f", "sex=m"}


def test_a_feature_may_have_any_name(regression: Path) -> None:
    model = linear_model_of(Store(regression), "mine", "fedavg", 0, 0)
    names = {"age": "# age: 1", "noise0": "weight: pressure", "noise1": '=1+"1",2'}
    replace(model, features=model.features.replace({"gene": names})).write(Path("model.csv"))
    pd.read_csv("t.csv").rename(columns=names).to_csv("renamed.csv", index=False)
    pd.testing.assert_frame_equal(read_model(Path("model.csv")).predict("renamed.csv"), model.predict("t.csv"))


def test_a_packed_folder_gives_the_same_model(regression: Path) -> None:
    linear_model_of(Store(regression), "mine", "fedavg", 0, 0).write(Path("model.csv"))
    pack(regression / "runs", ["mine"], regression / RECORDS)
    shutil.rmtree(regression / "runs")
    assert main(["model", "mine", "--method", "fedavg", "--results", "results", "--out", "packed.csv"]) == 0
    assert Path("packed.csv").read_text() == Path("model.csv").read_text()


def test_a_run_that_is_not_there_is_named_with_those_that_are(
    regression: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["model", "mine", "--results", "results", "--out", "m.csv"]) == 2
    missing = "results/runs has no mine/all/eflops/base/draw0-seed0.json; of this experiment it has fedavg/base/draw0"
    assert missing in capsys.readouterr().err
    assert main(["model", "other", "--results", "results", "--out", "m.csv"]) == 2
    assert "results has no runs of 'other'; it has mine." in capsys.readouterr().err


def test_the_model_says_of_the_test_samples_what_the_run_measured(results: Path) -> None:
    model = linear_model_of(Store(results), "mine", "fedavg", 0, 0)
    model.write(Path("model.csv"))
    again = read_model(Path("model.csv"))
    predicted = again.predict("matrix.csv", "samples").set_index("sample")
    federation = load(results / "data/mine/all-draw0")
    names = federation.meta["class_names"]
    expected = [names[label] for label in federation.test.y]
    logits = federation.test.x.astype(float) @ model.weights.T
    assert predicted.loc[federation.meta["test_samples"], "class"].tolist() == [names[k] for k in logits.argmax(axis=1)]
    assert np.mean(predicted.loc[federation.meta["test_samples"], "class"] == expected) > 0.9
    np.testing.assert_allclose(predicted[["probability of ill", "probability of well"]].sum(axis=1), 1, atol=1e-5)


def test_the_csv_lists_the_selected_genes_first_with_a_weight_for_each_class(results: Path) -> None:
    linear_model_of(Store(results), "mine", "fedavg", 0, 0).write(Path("model.csv"))
    lines = Path("model.csv").read_text().splitlines()
    assert lines[0] == '# run: "runs/mine/all/fedavg/base/draw0-seed0.json"'
    table = pd.read_csv("model.csv", comment="#")
    assert set(table["gene"][:2]) == {"g0", "g1"}
    assert sorted(table["gene"]) == sorted(GENES)
    weights = table[["weight: ill", "weight: well"]].to_numpy()
    assert np.count_nonzero(weights) == 4
    assert weights[0].argmax() == (table["gene"][0] == "g1")


def test_a_new_matrix_may_hold_other_columns_in_any_order_but_no_gene_may_lack(results: Path) -> None:
    model = linear_model_of(Store(results), "mine", "fedavg", 0, 0)
    whole = pd.read_csv("matrix.csv", index_col=0)
    whole[GENES[::-1]].assign(note="new", age=40).to_csv("new.tsv", sep="\t")
    pd.testing.assert_frame_equal(model.predict("new.tsv", "samples"), model.predict("matrix.csv", "samples"))
    whole.drop(columns="g7").to_csv("short.csv")
    with pytest.raises(UserError, match=r"short.csv lacks 1 of the 20 genes that are needed: g7."):
        model.predict("short.csv", "samples")


def test_what_is_no_model_is_refused(results: Path) -> None:
    with pytest.raises(UserError, match=r"matrix.csv is not a model file of `eflops model`"):
        read_model(Path("matrix.csv"))
    with pytest.raises(UserError, match=r"none.csv is missing; make it with: eflops model"):
        read_model(Path("none.csv"))


def test_a_published_record_gives_the_same_model(results: Path) -> None:
    """Published records and manifests are packed."""
    loose = linear_model_of(Store(results), "mine", "fedavg", 0, 0)
    out = Path("published")
    out.mkdir()
    pack(results / "runs", ["mine"], out / RECORDS)
    pack_small(results, ["data/mine/all-draw0/manifest.json"], out / SMALL)
    shutil.copytree(results / "data/mine", out / "data/mine", ignore=shutil.ignore_patterns("all-*"))
    with opened(out) as store:
        packed = linear_model_of(store, "mine", "fedavg", 0, 0)
    assert (packed.weights == loose.weights).all()
