"""Runs trained again are compared with their records, bit by bit and then metric by metric."""

from pathlib import Path

import pytest

from eflops.cli import main
from eflops.provenance.audit.sample import sample
from eflops.provenance.verify import TOLERANCES, beyond
from eflops.results import record, store

TABLE = "tables/support_recovery.csv"
ADDRESS = ("--row", "0.64", "--column", "eflops")


def change_result(path: Path, metric: str, by: float) -> None:
    """Change a metric of a record, which then is a sound record of another result."""
    entry = record.read(path)
    metrics = {**entry.result.metrics, metric: entry.result.metrics[metric] + by}
    result = entry.result.model_copy(update={"metrics": metrics})
    record.write(path, entry.model_copy(update={"result": result, "result_sha256": record.result_hash(result)}))


def test_a_run_comes_out_again_with_the_same_bits(small_results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(small_results / TABLE), *ADDRESS, "--runs", "2"]) == 0
    told = capsys.readouterr().out
    assert told.count("identical: runs/support_recovery/nd0.64/eflops/base/draw0-seed") == 2
    assert "2 of the 3 runs behind it" in told
    assert "The number made again from the records: " in told


def test_published_results_are_verified_with_data_made_again(
    small_published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not list(small_published.rglob("federation.npz"))
    assert main(["verify", str(small_published / TABLE), "--row", "1.0", "--column", "fedavg", "--all"]) == 0
    assert capsys.readouterr().out.count("identical: ") == 3


def test_what_explain_prints_of_published_results_works_when_pasted(
    small_published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(small_published / TABLE), "--row", "1.0", "--column", "fedavg"]) == 0
    printed = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("  eflops verify ")]
    assert len(printed) == 2
    for _, *words in printed:
        assert main(words) == 0
        assert "identical: " in capsys.readouterr().out
    assert main(["show", printed[1][-1]]) == 0
    assert "fedavg" in capsys.readouterr().out


def test_a_small_change_is_within_tolerance_and_a_large_one_is_not(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = results / "runs/support_recovery/nd0.64/eflops/base"
    change_result(cell / "draw0-seed0.json", "r2", TOLERANCES["r2"] / 2)
    change_result(cell / "draw0-seed1.json", "r2", TOLERANCES["r2"] * 2)
    assert main(["verify", str(results / TABLE), *ADDRESS, "--all"]) == 1
    told = capsys.readouterr().out
    assert "within tolerance: runs/support_recovery/nd0.64/eflops/base/draw0-seed0.json" in told
    assert "different: runs/support_recovery/nd0.64/eflops/base/draw0-seed1.json: r2 was " in told
    assert "identical: runs/support_recovery/nd0.64/eflops/base/draw0-seed2.json" in told


def test_a_number_that_the_records_do_not_give_fails_though_its_runs_come_out_again(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (results / TABLE).read_text()
    (results / TABLE).write_text(text.replace("0.64,eflops,0.", "0.64,eflops,1.", 1))
    assert main(["verify", str(results / TABLE), *ADDRESS]) == 1
    told = capsys.readouterr().out
    assert "identical: " in told
    assert "NOT THE SAME" in told


def test_data_that_cannot_be_made_again_are_refused(
    published: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    true = store.build
    monkeypatch.setattr(store, "build", lambda settings, ratio, draw, raw: true(settings, ratio, draw + 1, raw))
    assert main(["verify", str(published / TABLE), *ADDRESS]) == 2
    assert "made again it is not the data that was trained on" in capsys.readouterr().err


def test_a_run_that_diverged_before_and_not_now_is_different(small_results: Path) -> None:
    result = record.read(small_results / "runs/support_recovery/nd0.64/eflops/base/draw0-seed0.json").result
    diverged = result.model_copy(update={"status": "diverged", "diverged_round": 3, "metrics": {}})
    assert beyond(diverged, result) == "it diverged then and finished now"
    assert beyond(result, result) == ""


def test_the_sample_is_chosen_by_its_seed() -> None:
    runs = list(range(30))
    assert sample(runs, 3, 0) == sample(runs, 3, 0) != sample(runs, 3, 1)  # type: ignore[comparison-overlap,arg-type]
    assert sample(runs, 3, 0) == sorted(sample(runs, 3, 0))  # type: ignore[type-var,arg-type]
    assert sample(runs, None, 0) == runs  # type: ignore[comparison-overlap,arg-type]
    assert sample(runs, 99, 0) == runs  # type: ignore[comparison-overlap,arg-type]
