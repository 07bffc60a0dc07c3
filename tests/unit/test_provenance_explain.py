"""Any number leads to its runs, and its runs to what they were made from."""

import json
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from eflops.cli import main
from eflops.config.load import check
from eflops.config.products import products
from eflops.config.study import read_study
from eflops.errors import UserError
from eflops.provenance.explain.address import Address, find_cell
from eflops.provenance.explain.explanation import explain, explain_cell
from eflops.provenance.explain.recompute import method_labels
from eflops.provenance.explain.show import describe
from eflops.results.record import read
from eflops.results.store import opened
from small_results import CONFIG

ROOT = Path(__file__).parents[2]
TABLE = "tables/support_recovery.csv"


def explained(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["explain", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_a_cell_leads_to_its_runs_and_their_origin(small_results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explanation = explained(capsys, small_results / TABLE, "--row", "0.64", "--column", "eflops")
    record = read(small_results / "runs/support_recovery/nd0.64/eflops/base/draw0-seed1.json")
    assert explanation.startswith("tables/support_recovery.csv: ratio 0.64, method eflops, mean = ")
    assert "the mean of support_recovery over data draws (splits), after averaging the" in explanation
    assert "Runs (3)" in explanation
    for seed in range(3):
        assert f"runs/support_recovery/nd0.64/eflops/base/draw0-seed{seed}.json" in explanation
    for fact in (record.origin.data_sha256, record.origin.code_hash, record.circumstances.commit, "rho_init 0.5"):
        assert fact in " ".join(explanation.split())
    assert ", the same\n" in explanation


def test_the_same_as_json(small_results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (small_results / TABLE, "--row", "1", "--column", "E-FLoPS", "--json")
    explanation = json.loads(explained(capsys, *arguments))
    values = [run["value"] for run in explanation["runs"]]
    assert explanation["n"] == 3
    assert explanation["rebuilt"]["agrees"]
    assert explanation["value"] == pytest.approx(sum(values) / 3)
    assert [run["run"]["seed"] for run in explanation["runs"]] == [0, 1, 2]
    assert explanation["runs"][0]["settings"]["rounds"] == 6


def test_the_commands_it_names_train_the_runs_again_when_pasted(
    small_results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    explanation = json.loads(explained(capsys, small_results / TABLE, "--row", "0.64", "--column", "fediht", "--json"))
    every, one, make = map(shlex.split, explanation["commands"])
    assert make == ["snakemake", "--cores", "2", "results/tables/support_recovery.csv"]
    assert main(every[1:]) == 0
    assert capsys.readouterr().out.count("  identical: runs/support_recovery/nd0.64/fediht/base/") == 3
    assert main(one[1:]) == 0
    assert capsys.readouterr().out.startswith("identical: runs/support_recovery/nd0.64/fediht/base/draw0-seed0.json")


def test_the_commands_repeat_the_config_files_and_name_their_results_folder(
    small_results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text(yaml.safe_dump(CONFIG | {"results": "elsewhere"}))
    address = ["--row", "0.64", "--column", "fediht", "--json", "--config", config]
    every, _, make = map(shlex.split, json.loads(explained(capsys, small_results / TABLE, *address))["commands"])
    assert every[-2:] == ["--config", str(config)]
    assert make[3:] == [f"elsewhere/{TABLE}", "--configfile", str(config)]


def test_a_figures_point(small_results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explanation = explained(capsys, small_results / "figures/fig1b.svg", "--series", "eflops", "--x", "0.64")
    assert explanation.startswith("figures/fig1b.csv: method eflops, ratio 0.64, mean = ")
    assert "Runs (3)" in explanation


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_a_picture_alone_is_known_by_the_data_it_carries(
    small_results: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stray = tmp_path / f"from the talk.{suffix}"
    shutil.copyfile(small_results / f"figures/fig1b.{suffix}", stray)
    explanation = explained(capsys, stray, "--results", small_results, "--series", "fedavg", "--x", "1.0")
    assert explanation.startswith("figures/fig1b.csv: method fedavg, ratio 1.0, mean = ")


def test_a_picture_of_other_data_is_refused(results: Path, tmp_path: Path) -> None:
    stray = tmp_path / "fig1b.svg"
    shutil.copyfile(results / "figures/fig1b.svg", stray)
    (results / "figures/fig1b.csv").write_text("method,ratio,mean\neflops,0.64,1\n")
    with opened(results) as store, pytest.raises(UserError, match="it was drawn from data"):
        explain(store, (), Address(stray), None)


def test_a_line_of_the_scorecard(small_results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explanation = explained(capsys, small_results / "scorecard.json", "--line", "table1/0.64/eflops")
    assert explanation.startswith("scorecard.json: table1/0.64/eflops = not judged")
    assert "Runs (3)" in explanation


def test_a_claim_leads_to_all_runs_that_it_read(small_results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explanation = json.loads(explained(capsys, small_results / "scorecard.json", "--line", "claim/syn-r2", "--json"))
    assert {run["run"]["method"] for run in explanation["runs"]} == {"eflops", "fediht"}
    assert explanation["metric"] == "r2"


def test_published_results_explain_the_same(
    small_results: Path, small_published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = ("--row", "0.64", "--column", "eflops", "--json")
    loose, packed = (
        json.loads(explained(capsys, folder / TABLE, *address)) for folder in (small_results, small_published)
    )
    for folder, explanation in ((small_results, loose), (small_published, packed)):
        for run in explanation["runs"]:
            run["record"] = Path(run["record"]).relative_to(folder)
    assert loose["runs"] == packed["runs"]


def test_a_number_that_does_not_follow_from_the_records_is_said_to(results: Path) -> None:
    text = (results / TABLE).read_text()
    (results / TABLE).write_text(text.replace("0.64,eflops,0.", "0.64,eflops,1.", 1))
    study = read_study(results)
    with opened(results) as store:
        product = next(product for product in products(study.config) if TABLE in product.files)
        explained = explain_cell(store, study, product, Address(Path(TABLE), ("0.64",), "eflops"))
    assert not explained.agrees


@pytest.mark.parametrize(
    ("words", "column", "message"),
    [
        (("0.65",), "eflops", r"no row matches '0\.65'; there are ratio \(0\.64, 1\.0\)"),
        (("0.64",), None, r"rows match; select one by method \(eflops"),
        (("0.64",), "elfops", "no row matches 'elfops'"),
    ],
)
def test_an_address_that_names_no_cell_is_answered_with_what_there_is(
    small_results: Path, words: tuple[str, ...], column: str | None, message: str
) -> None:
    frame = pd.read_csv(small_results / TABLE)
    with pytest.raises(UserError, match=message):
        find_cell(frame, Address(Path(TABLE), words, column), method_labels(check(CONFIG)))


def test_a_file_that_is_no_product_is_answered_with_those_that_are(small_results: Path) -> None:
    with opened(small_results) as store, pytest.raises(UserError, match="they are tables/support_recovery"):
        explain(store, (), Address(small_results / "tables/none.csv"), None)


def test_the_column_may_be_one_of_the_tables_own(small_results: Path) -> None:
    frame = pd.read_csv(small_results / TABLE)
    cell = find_cell(frame, Address(Path(TABLE), ("0.64", "method=eflops"), "n"), {})
    assert (cell.column, cell.value) == ("n", 3)


def test_a_record_shown_for_people_says_who_what_and_how_again(small_results: Path) -> None:
    description = describe(read(small_results / "runs/support_recovery/nd0.64/fedavg/base/draw0-seed2.json"))
    assert description.startswith("support_recovery: fedavg on synthetic at N/d = 0.64, draw 0, seed 2: finished\n")
    assert "kept weights" in description
    assert "6 of 64" in description
    assert "eflops verify results/runs/support_recovery/nd0.64/fedavg/base/draw0-seed2.json" in description


def test_a_reference_that_no_run_made_leads_to_its_file(
    small_results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    explanation = explained(capsys, small_results / TABLE, "--row", "0.64", "--column", "lasso")
    assert "no runs: it is read from gathered/support_recovery.references.csv" in explanation
    assert "the same" in explanation


def test_a_foreign_file_is_not_taken_for_a_table_of_the_usual_results(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    foreign = tmp_path / "elsewhere" / "tables" / "support_recovery.csv"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"\xff\x00" * 20)
    assert main(["explain", str(foreign), "--row", "0.64", "--column", "eflops"]) == 2
    assert "it is not in a results folder, and results does not contain it" in capsys.readouterr().err
    foreign.write_bytes((results / TABLE).read_bytes())
    assert "method eflops, mean" in explained(capsys, foreign, "--row", "0.64", "--column", "eflops")


def test_a_table_that_was_not_made_yet_is_not_shown_as_the_published_one(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    published.rename(tmp_path / "results/published")
    assert main(["explain", "results/tables/support_recovery.csv", "--row", "0.64"]) == 2
    printed = capsys.readouterr().err
    assert "there is no such file; make it with: snakemake --cores 2 results/tables/support_recovery.csv" in printed
    assert "or explain the published file: results/published/tables/support_recovery.csv" in printed


def test_a_method_that_the_study_does_not_have_is_named(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = results / TABLE
    table.write_text(table.read_text().replace(",fedavg,", ",ridge,"))
    assert main(["explain", str(table), "--row", "0.64", "--column", "ridge"]) == 2
    assert "ridge is not a method of study.json, which is older than the table" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("scorecard.json", ["explain", "scorecard.json", "--line", "table1/0.64/eflops"]),
        ("scorecard.json", ["diff", ".", "."]),
        (TABLE, ["diff", ".", "."]),
        ("study.json", ["explain", TABLE, "--row", "0.64"]),
        ("summary.json", ["summary", "."]),
    ],
)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"[1, 2]"])
def test_a_damaged_file_is_told_in_a_sentence(
    file: str,
    command: list[str],
    content: bytes,
    results: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(results)
    Path(file).write_bytes(content)
    code = main(command)
    # A summary may say anything, and a table of one column has no cell that could move.
    assert code == 2 or (code == 0 and content != b"\xff\xfe\x00" and command[0] in ("summary", "diff"))


def test_a_table_of_bytes_is_refused(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (results / TABLE).write_bytes(b"\xff\xfe\x00")
    assert main(["explain", str(results / TABLE), "--row", "0.64"]) == 2
    assert "this is not a table of the workflow" in capsys.readouterr().err
