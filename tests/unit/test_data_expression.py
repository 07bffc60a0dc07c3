"""Your own expression data: every layout of the files gives the same federation, and what does not fit is said."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from eflops.cli import main
from eflops.config.load import check
from eflops.config.models import Expression
from eflops.data.expression import build, features, node_rows, spec_of
from eflops.data.federation import Federation
from eflops.data.scaling import Scaling
from eflops.data.table_checks import report
from eflops.errors import UserError

SAMPLES = [f"{number:03d}" for number in range(24)]
GENES = [f"gene{number}" for number in range(12)]
CLASSES = ["healthy", "ill"] * 12
SITES = [["north", "south", "west"][number % 3] for number in range(24)]


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(0).lognormal(5, 1, (24, 12)).round(3)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test works in a folder of its own, as a person does."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(values: np.ndarray) -> pd.DataFrame:
    """A spreadsheet with a row per sample: name, class, site, and a column per gene."""
    known = {"sample": SAMPLES, "class": CLASSES, "site": SITES}
    return pd.DataFrame(known | dict(zip(GENES, values.T, strict=True)))


def entry(**changes: Any) -> dict[str, Any]:
    """The settings of an entry as the workflow hands them on."""
    given = {"kind": "expression", "matrix": "matrix.csv", "clients": 3, "genes_per_class": 2, **changes}
    return Expression.model_validate(given).model_dump()


def same(one: Federation, other: Federation) -> bool:
    blocks = zip((*one.clients, one.test), (*other.clients, other.test), strict=True)
    return all(np.array_equal(a.x, b.x) and np.array_equal(a.y, b.y) for a, b in blocks)


def test_csv_tsv_npz_either_way_round_and_labels_in_a_second_file_are_the_same_data(values: np.ndarray) -> None:
    whole = table(values)
    whole.drop(columns="site").to_csv("matrix.csv", index=False)
    expected = build(entry(), None, 0)
    matrix = whole.drop(columns=["class", "site"])
    whole[["sample", "class"]].sample(frac=1, random_state=0).to_csv("samples.csv", index=False)
    matrix.to_csv("alone.csv", index=False)
    matrix.set_index("sample").T.to_csv("turned.tsv", sep="\t")
    matrix.to_csv("excel.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig")
    turned = matrix.set_index("sample").T.to_csv(sep="\t").removeprefix("sample\t")
    Path("from_r.txt").write_text(turned)
    np.savez("own.npz", values=values.T, genes=GENES, samples=SAMPLES, **{"class": CLASSES})
    second = {"samples": "samples.csv"}
    for changes in (
        {"matrix": "alone.csv", **second},
        {"matrix": "turned.tsv", "rows": "genes", **second},
        {"matrix": "excel.csv", **second},
        {"matrix": "from_r.txt", "rows": "genes", **second},
        {"matrix": "own.npz", "rows": "genes"},
    ):
        assert same(build(entry(**changes), None, 0), expected), changes


def test_sites_are_clients_and_each_keeps_samples_for_training(values: np.ndarray) -> None:
    table(values).to_csv("matrix.csv", index=False)
    federation = build(entry(clients_by="site", clients=10, min_rows=5), None, 0)
    assert federation.meta["client_names"] == ["north", "south", "west"]
    for site, samples in zip(federation.meta["client_names"], federation.meta["client_samples"], strict=True):
        assert len(samples) >= 5
        assert {SITES[SAMPLES.index(sample)] for sample in samples} == {site}


def test_the_test_samples_are_a_share_of_every_class_and_at_least_two(values: np.ndarray) -> None:
    whole = table(values)
    whole["class"] = ["rare"] * 4 + ["common"] * 20
    whole.drop(columns="site").to_csv("matrix.csv", index=False)
    federation = build(entry(test_share=0.25), None, 3)
    assert federation.meta["class_names"] == ["common", "rare"]
    assert np.bincount(federation.test.y).tolist() == [5, 2]
    assert build(entry(test_share=0.25), None, 4).meta["test_samples"] != federation.meta["test_samples"]


def test_named_classes_are_numbered_in_their_order_and_others_left_out(values: np.ndarray) -> None:
    whole = table(values)
    whole.loc[:5, "class"] = "unclear"
    whole.drop(columns="site").to_csv("matrix.csv", index=False)
    federation = build(entry(classes=["ill", "healthy"]), None, 0)
    assert sum(map(len, federation.clients)) + len(federation.test) == 18
    first = federation.meta["test_samples"][0]
    assert federation.test.y[0] == (CLASSES[SAMPLES.index(first)] == "healthy")


def test_genes_have_the_names_that_the_files_give_them(values: np.ndarray) -> None:
    table(values).drop(columns="site").to_csv("matrix.csv", index=False)
    pd.DataFrame({"probe": GENES[:2], "symbol": ["AAA", ""], "description": ["long words", "other words"]}).to_csv(
        "names.csv", index=False
    )
    named = features(entry(gene_names=["names.csv"]))
    assert named["gene"].tolist() == GENES
    assert named["label"].tolist() == ["AAA", "other words", *GENES[2:]]


def test_a_file_of_the_working_folder_comes_before_one_beside_the_snakefile(values: np.ndarray, folder: Path) -> None:
    resources = folder / "resources" / "golub"
    resources.mkdir(parents=True)
    table(values).drop(columns="site").to_csv(resources / "samples.csv", index=False)
    assert report(spec_of(entry(matrix="resources/golub/samples.csv")), [0]).faults == []


def break_label(whole: pd.DataFrame) -> None:
    whole.loc[2, "class"] = None


def break_value(whole: pd.DataFrame) -> None:
    whole.loc[3, "gene4"] = None


def break_number(whole: pd.DataFrame) -> None:
    whole["gene7"] = ["high", "low"] * 12


def break_site(whole: pd.DataFrame) -> None:
    whole.loc[0, "site"] = "lonely"


def break_class(whole: pd.DataFrame) -> None:
    whole["class"] = ["ill"] * 2 + ["healthy"] * 22


def break_gene(whole: pd.DataFrame) -> None:
    whole.columns = pd.Index(["gene1" if name == "gene9" else name for name in whole.columns])


def break_sample(whole: pd.DataFrame) -> None:
    whole.loc[1, "sample"] = "000"


SENTENCES = [
    (break_label, "matrix.csv: 1 sample has no label in 'class': 002."),
    (break_value, "matrix.csv: 1 value is missing, not finite or too large: gene4 of 003."),
    (break_number, "matrix.csv: 1 column is not numbers: gene7."),
    (
        break_site,
        "matrix.csv: a site needs two samples, but these have one: lonely; assign it to another site or exclude",
    ),
    (
        break_class,
        "matrix.csv: a class needs 2 samples for testing and 1 for training, and these have fewer: ill (2)",
    ),
    (break_gene, "matrix.csv: 1 gene appears twice: gene1."),
    (break_sample, "matrix.csv: 1 sample appears twice: 000."),
]


@pytest.mark.parametrize(("fault", "sentence"), SENTENCES)
def test_what_does_not_fit_is_said_by_check_and_refused_by_the_data_job(
    fault: Any, sentence: str, values: np.ndarray
) -> None:
    whole = table(values)
    fault(whole)
    whole.to_csv("matrix.csv", index=False)
    settings = entry(clients_by="site")
    (reported,) = report(spec_of(settings), [0, 1]).faults
    assert reported.startswith(sentence)
    with pytest.raises(UserError) as refused:
        build(settings, None, 0)
    assert str(refused.value) == reported


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"matrix": "none.csv"}, "none.csv is missing: there is no such file in the working folder"),
        ({"labels": "diagnosis"}, "matrix.csv has no column 'diagnosis'; it has class, site, gene0, gene1, gene2 and"),
        ({"rows": "genes"}, "matrix.csv has a row per gene, so it cannot hold the column 'class': name a file of"),
        ({"classes": ["ill", "dead"]}, "matrix.csv: no sample has the label dead in 'class'."),
        ({"min_fold": 1e9}, "matrix.csv: no gene passes the filter; lower min_fold or min_range."),
    ],
)
def test_an_entry_that_does_not_fit_its_file_is_said(changes: Any, sentence: str, values: np.ndarray) -> None:
    table(values).to_csv("matrix.csv", index=False)
    (reported,) = report(spec_of(entry(clients_by="site", **changes)), [0]).faults
    assert reported.startswith(sentence)


def test_two_keys_for_one_thing_are_a_mistake() -> None:
    given = {"kind": "expression", "matrix": "m.csv", "clients_by": "site", "clients": 3}
    with pytest.raises(UserError, match=r"datasets.mine.clients: clients_by is given too; keep one of the two."):
        check({"datasets": {"mine": given}, "methods": {}, "experiments": {}})


def test_a_node_reads_its_own_file_as_the_rows_that_the_whole_federation_would_give_it(values: np.ndarray) -> None:
    whole = table(values)
    whole.to_csv("matrix.csv", index=False)
    federation = build(entry(clients_by="site", min_range=1.0), None, 0)
    for site, samples, block in zip(
        federation.meta["client_names"], federation.meta["client_samples"], federation.clients, strict=True
    ):
        node_table = whole.set_index("sample").loc[samples].drop(columns="site")
        node_table[["gene11", "class", *GENES[:11]]].to_csv(f"{site}.csv")
        kept = features(entry(min_range=1.0, clients_by="site"))["gene"]
        rows = node_rows(f"{site}.csv", list(kept), ["healthy", "ill"], Scaling("per_array"))
        np.testing.assert_array_equal(rows.x, block.x)
        np.testing.assert_array_equal(rows.y, block.y)


def test_a_node_that_lacks_an_agreed_gene_or_has_another_class_is_refused(values: np.ndarray) -> None:
    table(values).drop(columns=["site", "gene3"]).to_csv("own.csv", index=False)
    scaling = Scaling("per_array")
    with pytest.raises(UserError, match=r"own.csv lacks 1 of the 12 genes that are needed: gene3."):
        node_rows("own.csv", GENES, ["healthy", "ill"], scaling)
    with pytest.raises(UserError, match=r"own.csv: ill in 'class' is not a class; the classes are healthy, sick."):
        node_rows("own.csv", GENES[:3], ["healthy", "sick"], scaling)
    with pytest.raises(UserError, match="it cannot scale per_gene"):
        node_rows("own.csv", GENES[:3], ["healthy", "ill"], Scaling("per_gene"))


def test_eflops_check_reads_the_files_and_says_what_does_not_fit(
    values: np.ndarray, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry_ = {"kind": "expression", "matrix": "matrix.csv", "clients_by": "site"}
    experiment = {"dataset": "mine", "methods": ["fedavg"], "draws": [0, 1]}
    methods = {"fedavg": {"method": "fedavg", "label": "FedAvg"}}
    config = {"datasets": {"mine": entry_}, "methods": methods, "experiments": {"mine": experiment}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    whole = table(values)
    whole.to_csv("matrix.csv", index=False)
    assert main(["check"]) == 0
    break_value(whole)
    break_site(whole)
    whole.to_csv("matrix.csv", index=False)
    assert main(["check"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == "eflops: datasets.mine: matrix.csv: 1 value is missing, not finite or too large: gene4 of 003."
    assert second.startswith("datasets.mine: matrix.csv: a site needs two samples")
