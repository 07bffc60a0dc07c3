"""What moved between two results is reported in units of spread, with the verdicts and conclusions that turned."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eflops.cli import main
from eflops.provenance.diff import diff, summary

TESTS = "tables/support_recovery_tests.csv"


def edit_csv(path: Path, row: int, **cells: object) -> None:
    frame = pd.read_csv(path).astype(object)
    for column, value in cells.items():
        frame.loc[row, column] = value
    frame.to_csv(path, index=False)


def test_equal_results_do_not_differ(small_results: Path, small_published: Path) -> None:
    difference = diff(small_results, small_published)
    assert (difference.moves, difference.verdicts, difference.conclusions, difference.presence) == ((), (), (), ())
    assert difference.compared > 100


def write_table(folder: Path, mean: float) -> None:
    """A table of two cells, one of which has this mean and a standard deviation of 0.1."""
    path = folder / "tables/support_recovery.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"ratio,method,mean,sd\n0.64,eflops,{mean},0.1\n0.64,fedavg,0.4,0.1\n")


def test_a_move_is_told_in_units_of_its_spread(tmp_path: Path) -> None:
    write_table(tmp_path / "before", 0.5)
    write_table(tmp_path / "after", 0.8)
    (move,) = diff(tmp_path / "before", tmp_path / "after").moves
    assert (move.row, move.column, move.before, move.after) == ("ratio 0.64, method eflops", "mean", 0.5, 0.8)
    assert move.spreads == pytest.approx(3.0)


def test_a_conclusion_that_turned_is_told(small_results: Path, results: Path) -> None:
    edit_csv(results / TESTS, 0, p_holm=0.001, difference=-0.2)
    changes = diff(small_results, results).conclusions
    assert [(change.before, change.after) for change in changes] == [("no difference shown", "the other is higher")]
    assert changes[0].name.startswith(TESTS)


def test_a_verdict_that_changed_is_told(small_results: Path, results: Path) -> None:
    card = json.loads((results / "scorecard.json").read_text())
    card["lines"][0]["verdict"] = "agrees"
    (results / "scorecard.json").write_text(json.dumps(card))
    (change,) = diff(small_results, results).verdicts
    assert (change.name, change.before, change.after) == (card["lines"][0]["id"], "not judged", "agrees")


def test_rows_and_files_that_came_or_went_are_told(small_results: Path, results: Path) -> None:
    (results / "figures/fig1b.csv").unlink()
    table = results / "tables/support_recovery.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    places = {change.name: change.after for change in diff(small_results, results).presence}
    assert places.pop("figures/fig1b.csv") == "removed"
    assert list(places.values()) == ["removed"]
    assert next(iter(places)).startswith("tables/support_recovery.csv: ratio 1.0, method ")


def test_two_commits_are_compared_by_what_they_track(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["-c", "user.name=a", "-c", "user.email=b"]
    subprocess.run(["git", "init", "-q"], check=True)
    for mean in (0.5, 0.7):
        write_table(tmp_path / "results/published", mean)
        subprocess.run(["git", "add", "results"], check=True)
        subprocess.run(["git", *names, "commit", "-qm", f"mean {mean}"], check=True)
    assert main(["diff", "HEAD~1", "HEAD"]) == 0
    printed = capsys.readouterr().out
    assert "tables/support_recovery.csv: ratio 0.64, method eflops, mean: 0.5 to 0.7 (+2.00 spreads)" in printed
    assert "1 moved, 1 by more than their spread" in printed
    assert main(["diff", "HEAD~1", "HEAD", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["moves"][0]["after"] == 0.7


def test_a_side_that_is_neither_folder_nor_commit_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "nowhere", "HEAD"]) == 2
    assert "nowhere: there is no such folder and no such commit" in capsys.readouterr().err


def write_record(folder: Path, draw: int, seed: int, r2: float) -> None:
    """A record as older versions wrote it too: only who it is and its metrics are read."""
    path = folder / f"runs/small/nd0.64/eflops/base/draw{draw}-seed{seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"run": {"draw": draw, "seed": seed}, "result": {"metrics": {"r2": r2, "mse": 1.0}}}))


def test_a_change_that_the_spread_over_draws_hides_is_shown_by_pairs(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    for draw in range(20):
        level = float(generator.normal(0, 0.5))
        for seed in range(2):
            write_record(tmp_path / "before", draw, seed, level)
            write_record(tmp_path / "after", draw, seed, level + 0.01 + float(generator.normal(0, 0.003)))
    write_record(tmp_path / "after", 20, 0, 7.0)  # has no partner
    difference = diff(tmp_path / "before", tmp_path / "after")
    (shift,) = difference.shifts
    assert shift.cell == "small, nd0.64, eflops, r2"
    assert (shift.n, shift.unit, difference.paired) == (20, "draw", 40)
    assert shift.difference == pytest.approx(0.01, abs=0.002)
    assert shift.clear
    assert shift.p is not None
    assert shift.p < 1e-6
    assert "1 metrics of cells moved, 1 of them significantly" in summary(difference)


def test_noise_is_not_called_a_clear_change(tmp_path: Path) -> None:
    for draw in range(8):
        write_record(tmp_path / "before", draw, 0, 0.5)
        write_record(tmp_path / "after", draw, 0, 0.5 + 0.01 * (-1) ** draw)
    (shift,) = diff(tmp_path / "before", tmp_path / "after").shifts
    assert not shift.clear


def test_equal_runs_are_said_to_be_equal(small_results: Path, small_published: Path) -> None:
    difference = diff(small_results, small_published)
    assert (difference.shifts, difference.paired) == ((), 24)
    assert summary(difference).endswith("24 runs paired by draw and seed: all have the same metrics.")


def test_verdicts_of_an_older_version_are_called_by_their_present_names(tmp_path: Path) -> None:
    for name, verdict in (("before", "cannot tell"), ("after", "inconclusive")):
        write_table(tmp_path / name, 0.5)
        (tmp_path / name / "scorecard.json").write_text(json.dumps({"lines": [{"id": "a", "verdict": verdict}]}))
    assert diff(tmp_path / "before", tmp_path / "after").verdicts == ()


def test_results_of_an_older_version_are_refused_but_by_diff(
    results: Path, small_results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = json.loads((results / "study.json").read_text())
    del stored["format"]
    (results / "study.json").write_text(json.dumps(stored))
    record = results / "runs/support_recovery/nd0.64/eflops/base/draw0-seed0.json"
    for words in (["audit", results], ["explorer", results], ["show", record], ["verify", record], ["times", results]):
        assert main([str(word) for word in words]) == 2
        assert "CHANGELOG.md#renamed-in-030 lists the new names" in capsys.readouterr().err
    assert main(["diff", str(results), str(small_results)]) == 0


def test_a_full_run_is_added_to_the_table_of_reproductions(
    small_results: Path, small_published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "reproductions.csv"
    table.write_text((Path(__file__).parents[2] / "reproductions.csv").read_text())
    before = table.read_text()
    words = ["attest", str(small_results), "--published", str(small_published), "--out", str(table), "--minutes", "3"]
    assert main(words) == 0
    row = pd.read_csv(table, dtype=str).iloc[-1]
    assert table.read_text().startswith(before)
    assert (row["minutes"], row["moved"]) == ("3", "0")
    assert int(row["compared"]) > 100
    assert main(["attest", str(small_published), "--published", str(small_published), "--out", str(table)]) == 2
    assert "these are the published results" in capsys.readouterr().err
