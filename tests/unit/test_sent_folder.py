"""A folder from somebody else: what it holds leads out of it nowhere, and is nothing that a terminal would obey."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eflops.cli import main
from eflops.config import study
from eflops.config.load import check
from eflops.config.messages import ConfigError
from eflops.errors import UserError
from eflops.provenance.audit.layout import check_layout
from eflops.provenance.crate import make_crate
from eflops.provenance.publish import publish
from eflops.results import checksums, record
from eflops.results.store import opened
from small_results import CONFIG

ROOT = Path(__file__).parents[2]
RECORD = "runs/support_recovery/nd0.64/fedavg/base/draw0-seed0.json"
CELL = ("tables/support_recovery.csv", "--row", "0.64", "--column", "fedavg")


def study_with(folder: Path, key: str, value: object) -> None:
    """A study with another value in its config, sealed again."""
    stored = json.loads((folder / study.STUDY).read_text())
    stored["config"][key] = value
    study.seal(stored, folder / study.STUDY)


def test_a_command_to_paste_holds_no_option_that_the_sender_chose(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The config names the folder of a file that snakemake rebuilds."""
    study_with(results, "results", "--snakefile=results")
    table, *options = CELL
    assert main(["explain", str(results / table), *options]) == 2
    assert "results: '--snakefile=results' is wrong; it should name a folder below this one" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="results: "):
        check({**CONFIG, "results": "-n"})
    study_with(results, "results", "a; touch b")
    assert main(["explain", str(results / table), *options]) == 0
    assert shlex.quote(f"a; touch b/{table}") in capsys.readouterr().out


def test_a_study_cannot_have_other_files_read_as_its_settings(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "private.yaml").write_text("password: swordfish")
    study_with(results, "chosen", str(tmp_path / "private.yaml"))
    assert main(["explain", str(results / CELL[0]), *CELL[1:]]) == 2
    said = capsys.readouterr().err
    assert "this is not a study file of the workflow" in said
    assert "swordfish" not in said


def test_what_a_terminal_would_obey_is_printed_as_numbers(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = results / RECORD
    hidden = "\x1b]0;title\x07\x1b[2J\rsnakemake\x9b\u202e"
    entry = record.read(path)
    record.write(
        path, entry.model_copy(update={"circumstances": entry.circumstances.model_copy(update={"commit": hidden})})
    )
    (results / "scorecard.md").write_text(f"# {hidden}\n")
    for command in (
        ["show", str(path)],
        ["explain", str(results / CELL[0]), *CELL[1:]],
        ["scorecard", str(results)],
        ["audit", str(results / "\x1b[2J")],
    ):
        main(command)
        printed = "".join(capsys.readouterr())
        assert not {"\x1b", "\x07", "\r", "\x9b", "\u202e"} & set(printed), command
        assert "\\x1b[2J" in printed
    values = json.loads(path.read_text())
    values["run"]["variant"] = "\x1b[2J"
    with pytest.raises(UserError, match="not a valid run record"):
        record.parse(json.dumps(values).encode(), "it")


@pytest.mark.parametrize("copy", [publish, lambda folder, out: make_crate(folder, out, ROOT)])
@pytest.mark.parametrize("packed", [False, True])
def test_a_copy_of_a_sent_folder_takes_no_file_of_this_machine_along(
    small_results: Path, published: Path, results: Path, tmp_path: Path, copy: Callable[[Path, Path], Any], packed: bool
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.json").write_text('{"key": "swordfish"}')
    folder = published if packed and copy is not publish else results
    for path, target in (("tables/more.csv", secret / "key.json"), ("figures/more", secret), ("runs/a.json", secret)):
        link = folder / path
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(target)
        with pytest.raises(UserError, match="this link leads out of the folder"):
            copy(folder, tmp_path / "copy")
        assert not (tmp_path / "copy").exists()
        link.unlink()


def test_the_audit_names_links_that_lead_out_of_the_folder(results: Path, tmp_path: Path) -> None:
    (results / "tables" / "away.md").symlink_to(tmp_path)
    (results / "tables" / "loop.md").symlink_to("loop.md")
    (results / "tables" / "within.md").symlink_to(results / "scorecard.md")
    assert checksums.links_out(results) == ["tables/away.md"]
    with opened(results) as store:
        findings = [finding for finding in check_layout(store, check(CONFIG)) if finding.path == "tables/away.md"]
    assert [finding.what for finding in findings] == ["this link leads out of the folder"]


@pytest.mark.parametrize("read", ["data/../../private.csv", "/etc/hostname", "data//x"])
def test_a_table_of_a_sent_study_has_no_input_out_of_its_folder(results: Path, tmp_path: Path, read: str) -> None:
    """Publishing copies what tables read of the data."""
    (tmp_path / "private.csv").write_text("swordfish")
    mine = {"kind": "table", "title": "t", "make": "eflops.analysis.products.general:summary", "inputs": [read]}
    study_with(results, "products", {"mine": mine})
    with pytest.raises(UserError, match="leads out of its folder"):
        publish(results, tmp_path / "deep" / "copy")
    assert not (tmp_path / "deep" / "copy").exists()
