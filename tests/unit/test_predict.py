"""A run's model as CSV: it says what the run said of its test samples, and is refused where it cannot."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eflops.config.cell import CellSpec
from eflops.config.models import Expression
from eflops.config.settings import settings_class
from eflops.data.expression import build, features
from eflops.data.federation import load, save
from eflops.data.job import Job
from eflops.errors import UserError
from eflops.provenance.predict import model_of, read_model
from eflops.results.labels import Run
from eflops.results.store import Store
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


def test_the_model_says_of_the_test_samples_what_the_run_measured(results: Path) -> None:
    model = model_of(Store(results), "mine", "fedavg", 0, 0)
    model.write(Path("model.csv"))
    again = read_model(Path("model.csv"))
    found = again.predict("matrix.csv", "samples").set_index("sample")
    federation = load(results / "data/mine/all-draw0")
    names = federation.meta["class_names"]
    expected = [names[label] for label in federation.test.y]
    logits = federation.test.x.astype(float) @ model.weights.T
    assert found.loc[federation.meta["test_samples"], "class"].tolist() == [names[k] for k in logits.argmax(axis=1)]
    assert np.mean(found.loc[federation.meta["test_samples"], "class"] == expected) > 0.9
    np.testing.assert_allclose(found[["probability of ill", "probability of well"]].sum(axis=1), 1, atol=1e-5)


def test_the_csv_lists_the_selected_genes_first_with_a_weight_for_each_class(results: Path) -> None:
    model_of(Store(results), "mine", "fedavg", 0, 0).write(Path("model.csv"))
    lines = Path("model.csv").read_text().splitlines()
    assert lines[0] == '# run: "runs/mine/all/fedavg/base/draw0-seed0.json"'
    table = pd.read_csv("model.csv", comment="#")
    assert set(table["gene"][:2]) == {"g0", "g1"}
    assert sorted(table["gene"]) == sorted(GENES)
    weights = table[["weight: ill", "weight: well"]].to_numpy()
    assert np.count_nonzero(weights) == 4
    assert weights[0].argmax() == (table["gene"][0] == "g1")


def test_a_new_matrix_may_hold_other_columns_in_any_order_but_no_gene_may_lack(results: Path) -> None:
    model = model_of(Store(results), "mine", "fedavg", 0, 0)
    whole = pd.read_csv("matrix.csv", index_col=0)
    whole[GENES[::-1]].assign(note="new", age=40).to_csv("new.tsv", sep="\t")
    pd.testing.assert_frame_equal(model.predict("new.tsv", "samples"), model.predict("matrix.csv", "samples"))
    whole.drop(columns="g7").to_csv("short.csv")
    with pytest.raises(UserError, match=r"short.csv lacks 1 of the 20 genes needed: g7."):
        model.predict("short.csv", "samples")


def test_what_is_no_model_is_refused(results: Path) -> None:
    with pytest.raises(UserError, match=r"matrix.csv is not a model as `eflops model` writes it"):
        read_model(Path("matrix.csv"))
    with pytest.raises(UserError, match=r"none.csv is missing; make it with: eflops model"):
        read_model(Path("none.csv"))
