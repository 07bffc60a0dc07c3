"""The shipped leukaemia data are the known ones, and nothing of the test patients leaks into the scaling."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eflops.data.golub import RESOURCES, build, filtered, genes, read_expression, scaled
from eflops.errors import UserError

SETTINGS: dict[str, Any] = {
    "kind": "golub",
    "scaling": "intensity",
    "test_rows": 15,
    "clients": 5,
    "count_concentration": 1.0,
    "min_rows": 4,
}


def test_72_patients_of_which_47_all_and_25_aml_with_7129_probes() -> None:
    table = read_expression()
    assert table.intensity.shape == (72, 7129)
    assert np.bincount(table.labels).tolist() == [47, 25]
    assert table.samples == tuple(range(1, 73))


def test_the_filter_keeps_exactly_3571_genes() -> None:
    table = filtered(read_expression())
    assert table.intensity.shape == (72, 3571)
    assert len(set(table.probes)) == 3571
    assert table.intensity.min() == 100
    assert table.intensity.max() == 16000


def test_samples_and_classes_belong_together() -> None:
    """Zyxin is the best-known marker of AML in these data: it would not separate if columns were mixed up."""
    table = read_expression()
    zyxin = table.intensity[:, table.probes.index("X95735_at")]
    assert np.median(zyxin[table.labels == 1]) > 5 * np.median(zyxin[table.labels == 0])


def test_a_split_has_15_test_patients_and_gives_every_other_to_one_client() -> None:
    federation = build(SETTINGS, None, seed=3)
    assert federation.test.x.shape == (15, 3571)
    assert federation.counts.sum() == 57
    assert federation.counts.min() >= 4
    used = sum(federation.meta["client_samples"], federation.meta["test_samples"])
    assert sorted(used) == list(range(1, 73))
    assert federation.test.x.dtype == np.float32
    assert federation.test.y.dtype == np.int64


def test_rows_of_the_federation_are_the_patients_it_names() -> None:
    federation = build({**SETTINGS, "scaling": "intensity_per_array"}, None, seed=3)
    table = filtered(read_expression())
    x = scaled(table.intensity, np.arange(72), "intensity_per_array")
    for block, samples in zip(federation.clients, federation.meta["client_samples"], strict=True):
        rows = np.array(samples) - 1
        np.testing.assert_array_equal(block.x, x[rows])
        np.testing.assert_array_equal(block.y, table.labels[rows])


def test_another_split_seed_tests_other_patients() -> None:
    first, second = (build(SETTINGS, None, seed=seed).meta["test_samples"] for seed in (1, 2))
    assert first != second


@pytest.mark.parametrize(
    ("scaling", "axis"),
    [("intensity", None), ("intensity_per_array", 1), ("log10_per_array", 1), ("log10_per_gene", 0)],
)
def test_scaling_standardises_the_training_rows(scaling: str, axis: int | None) -> None:
    train = np.arange(50)
    x = scaled(filtered(read_expression()).intensity, train, scaling)[train].astype(np.float64)
    np.testing.assert_allclose(x.mean(axis=axis), 0, atol=1e-5)
    deviation = np.atleast_1d(x.std(axis=axis))
    np.testing.assert_allclose(deviation[deviation > 0], 1, atol=1e-5)


@pytest.mark.parametrize("scaling", ["intensity", "intensity_per_array", "log10_per_array", "log10_per_gene"])
def test_test_patients_do_not_influence_how_training_patients_are_scaled(scaling: str) -> None:
    intensity = filtered(read_expression()).intensity
    train = np.arange(50)
    changed = intensity.copy()
    changed[50:] = 16000
    np.testing.assert_array_equal(scaled(intensity, train, scaling)[train], scaled(changed, train, scaling)[train])


def test_a_gene_that_is_constant_in_training_becomes_zero_not_nan() -> None:
    intensity = np.array([[100.0, 200.0], [100.0, 300.0], [900.0, 400.0]])
    assert scaled(intensity, np.array([0, 1]), "log10_per_gene")[:, 0].tolist() == [0, 0, 0]


def test_log_scaling_is_of_the_logarithm() -> None:
    intensity = np.array([[100.0, 1000.0, 10000.0]])
    np.testing.assert_allclose(
        scaled(intensity, np.array([0]), "log10_per_array")[0], [-(1.5**0.5), 0, 1.5**0.5], atol=1e-6
    )


def test_an_unknown_scaling_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UserError, match="no scaling 'log2': it is one of intensity, intensity_per_array"):
        build({**SETTINGS, "scaling": "log2"}, None, seed=0)


def test_genes_are_named_in_the_order_of_the_features() -> None:
    table = genes()
    assert tuple(table["probe"]) == filtered(read_expression()).probes
    named = table.set_index("probe")
    assert named.loc["M27891_at", "label"] == "cystatin C"
    assert named.loc["M19507_at", "symbol"] == "MPO"
    unnamed = table[table["name"] == ""]
    assert len(unnamed) > 3000
    assert (unnamed["label"] == unnamed["description"]).all()
    assert (table["label"] != "").all()


def test_every_gene_of_the_paper_has_a_probe_that_passes_the_filter() -> None:
    kept = set(genes()["name"])
    assert {
        "cystatin C",
        "myeloperoxidase",
        "ferritin, light polypeptide",
        "interleukin 8",
        "defensin, alpha 1",
        "azurocidin 1",
        "major histocompatibility complex, class I, B",
        "hemoglobin, beta",
        "elastase 2, neutrophil",
        "glycophorin B",
    } <= kept


def test_names_said_to_come_from_the_description_do() -> None:
    names = pd.read_csv(RESOURCES / "gene_names.csv")
    descriptions = pd.read_csv(RESOURCES / "probes.csv.gz").set_index("probe")["description"]
    assert names["probe"].is_unique
    assert set(names["probe"]) <= set(descriptions.index)
    for row in names[names["source"] == "description"].itertuples():
        assert descriptions[row.probe].startswith(f"{row.symbol} ")
        assert row.name.lower() in descriptions[row.probe].lower()


def test_a_changed_table_is_refused_with_the_remedy(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(RESOURCES, tmp_path / "golub"))
    text = gzip.decompress((folder / "expression.csv.gz").read_bytes()).replace(b",-214,", b",-215,", 1)
    (folder / "expression.csv.gz").write_bytes(gzip.compress(text, mtime=0))
    with pytest.raises(UserError, match=r"expression.csv.gz is not the file that SHA256SUMS names.*make.py"):
        build(SETTINGS, None, seed=0, raw=folder)


def test_gene_names_need_no_torch() -> None:
    code = "import sys; from eflops.data.golub import genes; genes(); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
