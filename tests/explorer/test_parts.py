"""The parts of the page: printed tables whose numbers lead to plain ones, columns packed without loss, libraries."""

import hashlib
from pathlib import Path

import pandas as pd

import eflops.explorer
from eflops.analysis.cells import number, rows_by
from eflops.analysis.table import Table
from eflops.explorer.page import coded, rounded, steps
from eflops.explorer.products import shown_json

VENDOR = Path(eflops.explorer.__file__).parent / "vendor"


def test_a_printed_number_leads_to_its_plain_one() -> None:
    data = pd.DataFrame({"method": ["a", "b"], "mean": [0.1, 0.2], "sd": [0.01, 0.02]})
    of = rows_by(data, "method")
    rows = [{"Method": name, "value": number(of[name], "mean") + " ± " + number(of[name], "sd")} for name in of]
    shown = shown_json(Table(data, rows), ["mean", "sd"], 2)
    assert shown["rows"][1] == [["b"], [["0.200", 1, 0], " ± ", ["0.020", 1, 1]]]


def test_a_number_that_the_file_does_not_have_stays_text() -> None:
    data = pd.DataFrame({"method": ["a", "b"], "mean": [0.1, 0.2]})
    table = Table(data, [{"value": number(row, "mean")} for row in rows_by(data, "method").values()])
    assert shown_json(table, ["mean"], 1)["rows"] == [[[["0.100", 0, 0]]], [["0.200"]]]


def test_columns_are_packed_without_loss() -> None:
    short = coded(["x", {"a": 1}, "x"])
    assert [short["of"][index] for index in short["at"]] == ["x", {"a": 1}, "x"]
    assert steps([3, 7, 8]) == [3, 4, 1]
    assert [rounded(value) for value in (0.123456, 3.0, float("nan"), None)] == [0.1235, 3, None, None]


def test_the_libraries_are_those_of_their_packages() -> None:
    for line in (VENDOR / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest
