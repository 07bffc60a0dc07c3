"""Numbers in a table's words are tied to the plain numbers that they were written from."""

import hashlib
from pathlib import Path

import pandas as pd
import pytest
from eflops.explorer.shown import Piece, Written, read_markdown, tied

import eflops.explorer
from eflops.explorer.page import coded, rounded, steps

LABELS = {"eflops": "E-FLoPS", "flops": "FLoPS (T = 0)", "centralized": "Centralized E-FLoPS"}
VENDOR = Path(eflops.explorer.__file__).parent / "vendor"


def places(frame: pd.DataFrame, header: list[str], *row: str) -> list[list[Piece]]:
    return tied(Written("", header, [list(row)], ""), frame, LABELS)[0]


def test_a_cell_is_found_by_the_words_of_its_row_and_column() -> None:
    frame = pd.DataFrame(
        {
            "ratio": [0.44, 0.44, 0.64, 0.64],
            "method": ["eflops", "centralized"] * 2,
            "mean": [0.4512, 0.4512, 0.6239, 0.4512],
            "sd": [0.0192, 0.03, 0.0291, 0.0192],
        }
    )
    header = ["N/d", "E-FLoPS", "Centralized E-FLoPS"]
    key, one, other = places(frame, header, "0.64", "0.624 ± 0.029", "0.451 ± 0.019")
    assert key == ["0.64"]
    assert one == [["0.624", 2, 0], " ± ", ["0.029", 2, 1]]
    assert other == [["0.451", 3, 0], " ± ", ["0.019", 3, 1]]


def test_what_no_word_names_must_be_the_same_along_a_row() -> None:
    frame = pd.DataFrame(
        {
            "experiment": ["splits", "splits", "runs", "runs"],
            "method": ["eflops"] * 4,
            "metric": ["accuracy", "auc"] * 2,
            "mean": [0.9, 0.8, 0.9, 0.7],
        }
    )
    _, accuracy, auc = places(frame, ["Method", "accuracy", "AUC"], "E-FLoPS", "0.900", "0.700")
    assert accuracy == [["0.900", 2, 0]]
    assert auc == [["0.700", 3, 0]]


def test_a_number_that_fits_two_rows_stays_text() -> None:
    frame = pd.DataFrame({"experiment": ["splits", "runs"], "method": ["eflops"] * 2, "mean": [0.9, 0.9]})
    assert places(frame, ["Method", "accuracy"], "E-FLoPS", "0.900")[1] == ["0.900"]


def test_a_number_in_a_name_is_part_of_the_name() -> None:
    frame = pd.DataFrame({"method": ["eflops"] * 2, "gene": ["lymphoma 1", "other"], "frequency": [1.0, 1.0]})
    assert places(frame, ["place", "E-FLoPS"], "1", "lymphoma 1 (1.00)") == [
        ["1"],
        ["lymphoma 1 (", ["1.00", 0, 0], ")"],
    ]


@pytest.mark.parametrize(
    ("written", "value"), [("6.3%", 0.0634), ("3.1e-10", 3.14e-10), ("\N{MINUS SIGN}0.027", -0.0268)]
)
def test_rounding_per_cent_and_exponents_are_understood(written: str, value: float) -> None:
    frame = pd.DataFrame({"method": ["eflops"], "mean": [value]})
    assert places(frame, ["Method", "share"], "E-FLoPS", written)[1] == [[written, 0, 0]]


def test_a_markdown_table_is_read_with_its_title_and_note() -> None:
    read = read_markdown("**Title**\n\n| a | b |\n| --- | --- |\n| 1 |  |\n\nA note.\n")
    assert read == Written("Title", ["a", "b"], [["1", ""]], "A note.")


def test_columns_are_packed_without_loss() -> None:
    short = coded(["x", {"a": 1}, "x"])
    assert [short["of"][place] for place in short["at"]] == ["x", {"a": 1}, "x"]
    assert steps([3, 7, 8]) == [3, 4, 1]
    assert [rounded(value) for value in (0.123456, 3.0, float("nan"), None)] == [0.1235, 3, None, None]


def test_the_libraries_are_those_of_their_packages() -> None:
    for line in (VENDOR / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest
