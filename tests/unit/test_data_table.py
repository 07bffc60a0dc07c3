"""A user's table: what its columns become, how it is split, and that every fault of a file is listed at once."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from eflops import trust
from eflops.cli import main
from eflops.config import load as config_load
from eflops.config.messages import ConfigError
from eflops.config.models import Table
from eflops.data.build import build as build_any
from eflops.data.federation import Federation, load, save
from eflops.data.table import build, features, spec_of
from eflops.data.table_checks import report
from eflops.data.tabular import read_features
from eflops.errors import UserError

MISSING = "missing, not finite or too large: dose of row 4; fill them in, or leave out their rows or columns."
ROWS = 40


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test works in a folder of its own, as a person does."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sheet() -> pd.DataFrame:
    """Ages, doses and a sex; a number and a class to predict; a site and a name of each row."""
    generator = np.random.default_rng(0)
    age, dose = generator.integers(20, 80, ROWS), generator.normal(5, 1, ROWS).round(3)
    return pd.DataFrame(
        {
            "name": [f"P{row:02d}" for row in range(ROWS)],
            "age": age,
            "dose": dose,
            "sex": ["f", "m"] * (ROWS // 2),
            "site": [["01", "02", "03", "04"][row % 4] for row in range(ROWS)],
            "pressure": (100 + 0.5 * age + 3 * dose).round(2),
            "grade": ["low", "high"] * (ROWS // 2),
        }
    )


def entry(**changes: Any) -> dict[str, Any]:
    """The settings of an entry as the workflow hands them on."""
    given = {"kind": "table", "file": "t.csv", "target": "pressure", "ignore": ["name", "grade", "site"], "clients": 3}
    return Table.model_validate(given | changes).model_dump()


def same(one: Federation, other: Federation) -> bool:
    blocks = zip((*one.clients, one.test), (*other.clients, other.test), strict=True)
    return all(np.array_equal(a.x, b.x) and np.array_equal(a.y, b.y) for a, b in blocks)


def test_a_numeric_target_is_standardised_by_the_training_rows_and_its_unit_is_kept(folder: Path) -> None:
    sheet().to_csv("t.csv", index=False)
    federation = build(entry(), None, 0)
    y = federation.pooled().clients[0].y
    assert federation.meta["task"] == "regression"
    assert "classes" not in federation.meta
    np.testing.assert_allclose([y.mean(), y.std()], [0, 1], atol=1e-6)
    unit = federation.meta["target"]
    rows = [int(row) - 1 for row in federation.meta["test_samples"]]
    np.testing.assert_allclose(
        federation.test.y * unit["spread"] + unit["centre"], sheet()["pressure"][rows], rtol=1e-6
    )
    save(federation, folder / "one", {})
    sheet().assign(pressure=sheet()["pressure"] * 1000).to_csv("t.csv", index=False)
    save(build(entry(), None, 0), folder / "other", {})
    assert load(folder / "one").truth["target_unit"][1] * 1000 == pytest.approx(
        load(folder / "other").truth["target_unit"][1]
    )


def test_text_decides_for_classes_and_task_overrides_the_type() -> None:
    whole = sheet().assign(stage=[1, 2, 3, 3] * 10)
    whole.to_csv("t.csv", index=False)
    named = build(entry(target="grade", ignore=["name", "site", "stage"]), None, 0)
    assert named.meta["class_names"] == ["high", "low"]
    by_type = entry(target="stage", ignore=["name", "site", "grade"])
    assert build(by_type, None, 0).meta["task"] == "regression"
    stage = build({**by_type, "task": "classification"}, None, 0)
    assert stage.meta["class_names"] == ["1", "2", "3"]
    assert stage.test.y.dtype == np.int64


def test_text_of_few_values_becomes_a_column_for_each_value() -> None:
    sheet().to_csv("t.csv", index=False)
    assert features(entry())["gene"].tolist() == ["age", "dose", "sex=f", "sex=m"]
    federation = build(entry(scaling="none", features=["sex", "dose"]), None, 0)
    rows = [int(row) - 1 for row in federation.meta["test_samples"]]
    expected = np.column_stack([sheet()["sex"] == "f", sheet()["sex"] == "m", sheet()["dose"]])[rows]
    np.testing.assert_array_equal(federation.test.x, expected.astype(np.float32))


def test_csv_tsv_npz_and_a_spreadsheets_csv_are_the_same_data() -> None:
    whole = sheet()
    whole.to_csv("t.csv", index=False)
    expected = build(entry(sites="site", clients=10, ignore=["name", "grade"]), None, 0)
    assert expected.meta["client_names"] == ["01", "02", "03", "04"]
    whole.to_csv("t.tsv", sep="\t", index=False)
    whole.to_csv("tabs.csv", sep="\t", index=False)
    whole.to_csv("sheet.csv", sep=";", decimal=",", index=False, encoding="utf-8-sig")
    whole.to_csv("indexed.csv")
    np.savez("t.npz", **{name: whole[name].to_numpy(None if whole[name].dtype != "str" else "U8") for name in whole})
    for file in ("t.tsv", "tabs.csv", "sheet.csv", "indexed.csv", "t.npz"):
        assert same(build(entry(file=file, sites="site", clients=10, ignore=["name", "grade"]), None, 0), expected), (
            file
        )


@pytest.mark.parametrize(("separator", "decimal"), [(";", "."), (";", ","), ("\t", ","), ("\t", ".")])
def test_numbers_between_semicolons_or_tabs_have_a_comma_or_a_point(separator: str, decimal: str) -> None:
    whole = sheet()
    whole.to_csv("t.csv", index=False)
    whole.to_csv("other.csv", sep=separator, decimal=decimal, index=False)
    assert same(build(entry(file="other.csv"), None, 0), build(entry(), None, 0))


def test_the_separator_is_the_one_by_which_header_and_rows_have_as_many_columns() -> None:
    whole = sheet()
    whole.to_csv("t.csv", index=False)
    whole.rename(columns={"age": "age;in;years;at;the;end;of;the;year"}).to_csv("other.csv", index=False)
    assert same(build(entry(file="other.csv"), None, 0), build(entry(), None, 0))
    whole.to_csv("pipe.csv", sep="|", index=False)
    reading = report(spec_of(entry(file="pipe.csv")), [0])
    assert len(reading.faults) == 1
    assert reading.faults[0].startswith("pipe.csv has a single column, 'name|age|")


def test_numbers_printed_for_people_are_text_among_numbers_and_versions_are_classes() -> None:
    whole = sheet()
    printed = [f"{1000 * dose:,.2f}" for dose in whole["dose"]]
    whole.assign(dose=printed, pressure=printed, grade=["1.0.2", "1.1.0"] * 20).to_csv("t.csv", index=False)
    reading = report(spec_of(entry(ignore=["name", "site"])), [0])
    assert [fault.partition(": ")[2].partition(" contains text")[0] for fault in reading.faults] == [
        "'dose'", "the target 'pressure'"
    ]  # fmt: skip
    assert printed[0] in reading.faults[0]
    assert reading.notes[0].startswith("regression, 'pressure' is a number;")
    versions = report(spec_of(entry(target="grade", ignore=["name", "site", "dose", "pressure"])), [0])
    assert versions.faults == []
    assert versions.notes[0].startswith("classification, 'grade' is 1.0.2 (20), 1.1.0 (20)")


def test_a_column_that_numbers_the_rows_is_noticed() -> None:
    sheet().assign(number=range(7, 7 + ROWS)).to_csv("t.csv", index=False)
    reading = report(spec_of(entry()), [0])
    assert reading.faults == []
    assert reading.notes[1] == "t.csv: 1 column numbers the rows: number; list it under ignore, or as id."


def test_an_npz_of_a_matrix_and_a_target_needs_no_names() -> None:
    generator = np.random.default_rng(0)
    np.savez("t.npz", X=generator.normal(size=(30, 3)), y=generator.normal(size=30))
    settings = entry(file="t.npz", target="y", ignore=[])
    assert features(settings)["label"].tolist() == ["X1", "X2", "X3"]
    assert build(settings, None, 0).meta["task"] == "regression"


def test_test_rows_leave_every_site_its_least_rows() -> None:
    sheet().to_csv("t.csv", index=False)
    federation = build(entry(sites="site", clients=10, ignore=["name", "grade"], min_rows=9), None, 0)
    assert federation.counts.tolist() == [9, 9, 9, 9]
    assert len(federation.test) == 4


def test_all_faults_of_a_file_are_listed_at_once_with_what_would_be_right(folder: Path) -> None:
    whole = sheet()
    whole["name"] = [f"P{row}" for row in range(ROWS)]
    whole.loc[3, "dose"] = None
    whole["age"] = whole["age"].astype(str)
    whole.loc[5, "age"] = "?"
    whole.loc[6, "sex"] = None
    whole["site"] = ["a"] * 34 + ["b"] * 5 + ["c"]
    whole["batch"] = 7
    whole["twin"] = range(ROWS)
    whole.loc[11, "pressure"] = None
    whole = whole.rename(columns={"twin": "dose"})
    whole.to_csv("t.csv", index=False)
    reading = report(spec_of(entry(ignore=[], sites="site", clients=10, min_rows=8)), [0])
    expected = [
        "t.csv: 'age' contains text among its numbers: ?; fix these values or ignore the column.",
        "t.csv: 1 value is missing in 'sex': row 7; fill them in, or leave them out.",
        "t.csv: 1 column is text with more than 10 values: name (40); list such columns under ignore, or raise"
        " one_hot.",
        "t.csv: 1 column appears twice: dose.",
        f"t.csv: 1 value is {MISSING}",
        "t.csv: 1 row has no number in 'pressure': 12.",
        "t.csv: a site needs two rows, but these have one: c; assign it to another site or exclude it.",
        "t.csv: min_rows is 8, but these sites have fewer rows: b (5); lower min_rows to 5 or exclude them.",
    ]
    assert reading.faults == expected
    assert any("1 column has the same value in all rows and cannot help: batch" in note for note in reading.notes)
    with pytest.raises(UserError) as refused:
        build(entry(ignore=[], sites="site", clients=10, min_rows=8), None, 0)
    assert str(refused.value).splitlines() == reading.faults


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"target": "presure"}, "t.csv has no column 'presure'; did you mean 'pressure'? It has name, age,"),
        (
            {"task": "classification"},
            "t.csv: 'pressure' has 40 different numbers as classes: this looks like a numeric target",
        ),
        ({"target": "grade", "task": "regression", "ignore": ["name"]}, "t.csv: task: regression needs numbers, and"),
        ({"clients": 20, "min_rows": 3}, "t.csv: after 10 rows for testing, 20 clients with at least 3 rows each need"),
        ({"test_rows": 40}, "t.csv: test_rows is 40 of 40 rows, so none is left for training."),
        ({"target": "grade", "classes": ["low", "top"], "ignore": ["name"]}, "t.csv: no row has the label top in"),
        ({"classes": ["a", "b"]}, "t.csv: no row has the label a, b in 'pressure'; its labels are "),
        ({"target": "grade", "classes": [True, "low"], "ignore": ["name"]}, "t.csv: no row has the label True in"),
    ],
)
def test_an_entry_that_does_not_fit_its_file_is_reported(changes: Any, sentence: str) -> None:
    sheet().to_csv("t.csv", index=False)
    (fault,) = report(spec_of(entry(**changes)), [0]).faults
    assert fault.startswith(sentence)


def test_a_table_without_a_column_for_a_feature_is_reported_in_one_sentence() -> None:
    sheet()[["name", "pressure"]].to_csv("t.csv", index=False)
    reading = report(spec_of(entry(ignore=["name"], sites=None)), [0])
    assert reading.faults == ["t.csv has no column left for a feature besides name, pressure."]
    assert len(reading.notes) == 1


def test_a_value_beyond_float32_is_a_fault_of_the_file() -> None:
    whole = sheet()
    whole["dose"] = whole["dose"].astype(float)
    whole.loc[3, "dose"] = -1e300
    whole.to_csv("t.csv", index=False)
    assert report(spec_of(entry()), [0]).faults == [f"t.csv: 1 value is {MISSING}"]


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({"sites": "pressure"}, "datasets.mine.sites: 'pressure' is the target too"),
        ({"features": ["pressure"]}, "datasets.mine.features: 'pressure' is the target too"),
        ({"features": ["age", "site"], "sites": "site"}, "datasets.mine.features: 'site' is the site too"),
        ({"features": ["age"], "ignore": ["age"]}, "datasets.mine.features: 'age' is ignored too"),
    ],
)
def test_a_column_has_one_use(changes: dict[str, Any], right: str) -> None:
    given = {"kind": "table", "file": "t.csv", "target": "pressure", **changes}
    config = {
        "datasets": {"mine": given},
        "methods": {"fedavg": {"method": "fedavg", "label": "FedAvg"}},
        "experiments": {"mine": {"dataset": "mine", "methods": ["fedavg"]}},
    }
    with pytest.raises(ConfigError, match=right):
        config_load.check(config)


def test_a_class_with_too_few_rows_is_named() -> None:
    sheet().assign(grade=["rare"] * 2 + ["common"] * 38).to_csv("t.csv", index=False)
    (fault,) = report(spec_of(entry(target="grade", ignore=["name", "site"])), [0]).faults
    assert fault.startswith(
        "t.csv: a class needs 2 rows for testing and 1 for training, and these have fewer: rare (2)"
    )


def test_check_shows_the_task_and_notes_and_then_every_fault(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"kind": "table", "file": "t.csv", "target": "pressure", "sites": "site", "ignore": ["name", "grade"]}
    config = {
        "datasets": {"mine": given},
        "methods": {"fedavg": {"method": "fedavg", "label": "FedAvg"}},
        "experiments": {"mine": {"dataset": "mine", "methods": ["fedavg"], "draws": [0]}},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    whole = pd.concat([sheet(), sheet().iloc[[2]]])
    whole.assign(flat=1.5).to_csv("t.csv", index=False)
    assert main(["check"]) == 0
    task, flat, copies, valid = capsys.readouterr().out.splitlines()
    assert task.startswith("datasets.mine: regression, 'pressure' is a number from ")
    assert task.endswith("; 41 rows, 5 features, 4 sites.")
    assert flat == "datasets.mine: t.csv: 1 column has the same value in all rows and cannot help: flat."
    assert copies.startswith("datasets.mine: t.csv: 1 row is a copy of another: 41 as 3;")
    assert valid.startswith("The config is valid")
    whole.assign(age=None).to_csv("t.csv", index=False)
    assert main(["check"]) == 2
    assert "1 column has no value in any row: age; leave out what is empty." in capsys.readouterr().err
    config["datasets"]["mine"] |= {"keep": 50, "target": "Pressure", "classes": [0, 1]}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    assert main(["check"]) == 2
    assert "t.csv has no column 'Pressure'; did you mean 'pressure'?" in capsys.readouterr().err
    config["datasets"]["mine"] |= {"target": "grade", "classes": [], "ignore": ["name"]}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    whole.to_csv("t.csv", index=False)
    assert main(["check"]) == 2
    assert "datasets.mine.keep: 50 is more than the 5 features; give fewer." in capsys.readouterr().err


def test_a_new_table_is_read_into_the_features_of_a_model_whatever_else_it_holds() -> None:
    whole = sheet()
    whole[["grade", "sex", "dose", "name"]].to_csv("new.csv", index=False)
    read = read_features("new.csv", ["dose", "sex=f", "sex=m"], "name")
    np.testing.assert_array_equal(read.values[:, 1], whole["sex"] == "f")
    assert read.rows == tuple(whole["name"])
    with pytest.raises(UserError, match=r"new.csv lacks 1 column of those that the model needs: age."):
        read_features("new.csv", ["age", "dose"])
    whole.assign(sex="x").to_csv("new.csv", index=False)
    assert read_features("new.csv", ["sex=f", "sex=m"]).faults == (
        "new.csv: 'sex' contains 'x', but the model knows only f, m.",
    )


CUSTOM = """
import numpy as np
from eflops.data.federation import Block, Federation

def build(settings, ratio, seed, raw=None):
    x, y = np.zeros((4, 2), settings["x"]), np.array([0, 1, 0, 1], settings["y"])
    return Federation((Block(x, y),), Block(x, y), {}, settings["meta"])
"""


@pytest.mark.parametrize(
    ("x", "y", "meta", "sentence"),
    [
        ("f8", "f4", {"task": "regression"}, "x of client 0 is float64 of shape .4, 2.; it should be float32"),
        ("f4", "i4", {"task": "classification", "classes": 2}, "y of client 0 is int32 of shape .4,.; it should be"),
        ("f4", "f4", {"task": "ranking"}, "meta.'task'. is 'ranking'; by the type of y it is 'regression'."),
    ],
)
def test_what_a_custom_builder_gets_wrong_is_named(
    x: str, y: str, meta: dict[str, Any], sentence: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "custom_rows.py").write_text(CUSTOM)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "custom_rows", raising=False)
    trust.allow("data set", "custom_rows:build")
    with pytest.raises(UserError, match=f"custom_rows:build: {sentence}"):
        build_any({"kind": "custom_rows:build", "x": x, "y": y, "meta": meta}, None, 0)
