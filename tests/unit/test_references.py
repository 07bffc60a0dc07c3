"""References find what can be found, keep m features, and are the same for both tasks and on every call."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eflops.analysis.references import fit, largest, lasso, make, pairs_auc
from eflops.data.build import build
from eflops.data.federation import Block, Federation, read_manifest, save
from eflops.errors import UserError

SYNTHETIC = {
    "kind": "synthetic",
    "features": 60,
    "density": 0.1,
    "correlation": 0.2,
    "snr": 20,
    "test_rows": 200,
    "clients": 4,
    "count_concentration": 1.0,
    "min_rows": 8,
    "shift_scale": 0.0,
    "shift_offset": 0.0,
}
NAMES = ("best_subset", "lasso")


def two_classes(separation: float = 3.0, rows: int = 80, features: int = 30) -> Federation:
    """Two classes that differ in the first two features alone."""
    generator = np.random.default_rng(5)

    def block(n: int) -> Block:
        y = generator.integers(0, 2, n)
        x = generator.normal(size=(n, features))
        x[:, :2] += separation * (y[:, None] - 0.5)
        return Block(x.astype(np.float32), y)

    meta = {"task": "classification", "classes": 2}
    return Federation((block(rows // 2), block(rows // 2)), block(200), meta=meta)


@pytest.mark.parametrize("name", NAMES)
def test_plenty_of_clean_rows_give_the_true_support(name: str) -> None:
    federation = build(SYNTHETIC, 4.0, 0)
    fitted = fit(name, federation, SYNTHETIC)
    assert fitted["features"] == federation.truth["support"].tolist()
    assert fitted["metrics"]["support_recovery"] == 1
    # An SNR of 20 leaves 1/21 of the variance to noise.
    assert fitted["metrics"]["r2"] == pytest.approx(20 / 21, abs=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_support_recovery_is_the_share_of_the_true_support(name: str) -> None:
    federation = build({**SYNTHETIC, "shift_scale": 1.0}, 0.6, 1)
    fitted = fit(name, federation, SYNTHETIC)
    truth = set(federation.truth["support"].tolist())
    assert fitted["metrics"]["support_recovery"] == len(truth & set(fitted["features"])) / len(truth) < 1


@pytest.mark.parametrize("name", NAMES)
def test_two_classes_are_told_apart_by_their_features(name: str) -> None:
    # Sixty weights in two classes: a density of 1/30 keeps two.
    fitted = fit(name, two_classes(), {"density": 1 / 30})
    assert fitted["features"] == [0, 1]
    assert fitted["metrics"]["accuracy"] > 0.95
    assert fitted["metrics"]["auc"] > 0.99
    assert 0 < fitted["metrics"]["cross_entropy"] < 0.2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_exactly_m_features_are_kept_and_again_the_same(kind: str, name: str) -> None:
    regression = kind == "regression"
    federation = build({**SYNTHETIC, "shift_scale": 1.0}, 0.6, 1) if regression else two_classes(0.5)
    fitted = fit(name, federation, {"density": 0.1})
    assert len(fitted["features"]) == 6
    assert fit(name, federation, {"density": 0.1}) == fitted


def test_a_penalty_that_keeps_too_few_is_lowered() -> None:
    # One strong feature among noise: cross-validation keeps little more than that one.
    generator = np.random.default_rng(0)
    x = generator.normal(size=(50, 40))
    y = 5 * x[:, 3] + generator.normal(size=50)
    kept = lasso(x, y, 15)
    assert len(kept) == 15
    assert kept[0] == 3


def test_zeros_are_never_among_the_largest() -> None:
    assert largest(np.array([0.0, -2.0, 1.0, 0.0]), 3).tolist() == [1, 2]


def test_a_regression_need_not_say_that_it_has_no_classes() -> None:
    made = build(SYNTHETIC, 2.0, 0)
    silent = Federation(made.clients, made.test, made.truth, {"task": "regression"})
    assert fit("lasso", silent, SYNTHETIC) == fit("lasso", made, SYNTHETIC)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UserError, match="no reference ridge"):
        fit("ridge", two_classes(), {"density": 0.1})


@pytest.mark.parametrize("name", NAMES)
def test_three_classes_are_told_apart_by_their_features(name: str) -> None:
    generator = np.random.default_rng(0)
    y = np.arange(90) % 3
    x = generator.normal(size=(90, 40)).astype(np.float32)
    x[np.arange(90), y] += 5
    block, test = Block(x[:60], y[:60]), Block(x[60:], y[60:])
    federation = Federation((block,), test, meta={"task": "classification", "classes": 3})
    fitted = fit(name, federation, {"genes_per_class": 1})
    assert fitted["features"] == [0, 1, 2]
    assert fitted["metrics"]["accuracy"] > 0.9
    assert fitted["metrics"]["auc"] > 0.99


def test_the_auc_of_several_classes_is_the_mean_over_pairs() -> None:
    labels = np.array([0, 0, 1, 1, 2, 2])
    scores = np.eye(3)[labels]
    assert pairs_auc(scores, labels) == 1.0
    # Classes 0 and 1 cannot be distinguished, the third can.
    scores[:4] = [1.0, 1.0, 0.0]
    assert pairs_auc(scores, labels) == pytest.approx((0.5 + 1 + 1) / 3)


def test_a_table_holds_what_was_found_and_from_which_data(tmp_path: Path) -> None:
    folders = []
    for draw in (1, 2):
        folders.append(tmp_path / "synthetic" / f"nd0.60-draw{draw}")
        save(build(SYNTHETIC, 0.6, draw), folders[-1], {**SYNTHETIC, "ratio": "nd0.60", "draw": draw})
    make(folders, tmp_path / "all.csv")
    table = pd.read_csv(tmp_path / "all.csv").set_index(["draw", "reference"])
    assert list(table.index) == [(draw, name) for draw in (1, 2) for name in NAMES]
    for name in NAMES:
        fitted, row = fit(name, build(SYNTHETIC, 0.6, 2), SYNTHETIC), table.loc[(2, name)]
        assert (row["ratio"], row["kept"], row["data_sha256"]) == (0.6, 6, read_manifest(folders[1])["sha256"])
        assert list(map(int, row["features"].split())) == fitted["features"]
        assert row["r2"] == pytest.approx(fitted["metrics"]["r2"])
        assert "scikit-learn==" in row["made_with"]
    written = (tmp_path / "all.csv").read_bytes()
    make(folders, tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_bytes() == written
