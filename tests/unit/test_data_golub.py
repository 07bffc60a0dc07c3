"""The shipped leukaemia data are the known ones, and an entry of the config makes of them what a module made before."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eflops.data.expression import build, spec_of
from eflops.data.federation import save
from eflops.data.tabular import filtered, labels_of, read, selected
from eflops.errors import UserError
from eflops.files import PROJECT, sha256
from golub_genes import golub_probes
from small_problems import GOLUB

SPEC = spec_of(GOLUB)
RESOURCES = PROJECT / "resources" / "golub"
# What the module that read these data before `kind: expression` made of split 0, as published.
SPLIT_0 = "b9bc7fd7b7d083f16924c67d90809cbcb9a1d779e11043d1833dc9c5d645ddbe"
SPLIT_0_PER_ARRAY = "ff32ad35eaba5c36b962c08adac556b1f0b2a4bfcf2d1e0d408de4b85b943d5d"


def test_72_patients_of_which_47_all_and_25_aml_with_7129_probes() -> None:
    table = read(SPEC)
    assert table.values.shape == (72, 7129)
    assert np.bincount(labels_of(table, SPEC)).tolist() == [47, 25]
    assert table.rows == tuple(map(str, range(1, 73)))


def test_the_filter_keeps_exactly_3571_genes() -> None:
    assert len(set(filtered(read(SPEC), SPEC))) == 3571


@pytest.mark.parametrize(("scaling", "digest"), [("whole", SPLIT_0), ("per_array", SPLIT_0_PER_ARRAY)])
def test_the_data_have_the_published_hash(scaling: str, digest: str, tmp_path: Path) -> None:
    save(build({**GOLUB, "scaling": scaling}, None, 0), tmp_path, {})
    assert sha256(tmp_path / "federation.npz") == digest


def test_samples_and_classes_belong_together() -> None:
    """Zyxin is the best-known marker of AML in these data: it would not separate if columns were mixed up."""
    table = read(SPEC)
    zyxin, labels = table.values[:, table.features.index("X95735_at")], labels_of(table, SPEC)
    assert np.median(zyxin[labels == 1]) > 5 * np.median(zyxin[labels == 0])


def test_a_split_has_15_test_patients_and_gives_every_other_to_one_client() -> None:
    federation = build({**GOLUB, "min_rows": 4}, None, seed=3)
    assert federation.test.x.shape == (15, 3571)
    assert federation.counts.sum() == 57
    assert federation.counts.min() >= 4
    used = sum(federation.meta["client_samples"], federation.meta["test_samples"])
    assert sorted(used, key=int) == list(map(str, range(1, 73)))
    assert federation.test.x.dtype == np.float32
    assert federation.test.y.dtype == np.int64


def test_genes_are_named_in_the_order_of_the_features() -> None:
    table = golub_probes()
    assert tuple(table["probe"]) == filtered(selected(read(SPEC), SPEC), SPEC)
    named = table.set_index("probe")
    assert named.loc["M27891_at", "label"] == "cystatin C"
    assert named.loc["M19507_at", "symbol"] == "MPO"
    unnamed = table[table["name"] == ""]
    assert len(unnamed) > 3000
    assert (unnamed["label"] == unnamed["description"]).all()
    assert (table["label"] != "").all()


def test_every_gene_of_the_paper_has_a_probe_that_passes_the_filter() -> None:
    kept = set(golub_probes()["name"])
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
    with pytest.raises(UserError, match=r"expression.csv.gz is not the file that SHA256SUMS names.*git checkout"):
        build({**GOLUB, "matrix": str(folder / "expression.csv.gz")}, None, seed=0)


def test_gene_names_need_no_torch() -> None:
    code = "import sys; from golub_genes import golub_probes; golub_probes(); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], check=True)


@pytest.mark.parametrize("name", ["golub", "all", "bladderbatch"])
def test_every_data_file_stands_under_a_hash(name: str) -> None:
    folder = Path(__file__).parents[2] / "resources" / name
    listed = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert listed == {path.name: sha256(path) for kind in ("*.csv*", "*.npz") for path in folder.glob(kind)}
