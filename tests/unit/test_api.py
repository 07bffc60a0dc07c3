"""`eflops.load`: results as pandas tables, from a results folder, a published one and a partial one, without torch."""

import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import eflops
from eflops.errors import UserError

NAME = "support_recovery"


def test_runs_have_metrics_settings_and_all_bytes_as_plain_columns(small_results: Path) -> None:
    study = eflops.load(small_results)
    assert NAME in study.experiments
    runs = study.runs(NAME)
    gathered = pd.read_csv(small_results / "gathered" / f"{NAME}.csv")
    keys = ["ratio", "method", "variant", "draw", "seed"]
    both = runs.merge(gathered, on=keys, suffixes=("", "_gathered"))
    assert len(both) == len(runs) == len(gathered)
    pd.testing.assert_series_equal(both["r2"], both["r2_gathered"], check_names=False)
    pd.testing.assert_series_equal(both["rate"], both["set_rate"], check_names=False)
    sent = gathered.filter(regex="^(down|up)_").sum(axis=1)
    assert runs["bytes"].sum() == sent.sum() > 0
    assert runs.set_index("method").loc["eflops", "label"].iloc[0] == "E-FLoPS"


def test_curves_and_supports_belong_to_their_runs(small_results: Path) -> None:
    study = eflops.load(small_results)
    runs, curves, supports = study.runs(NAME), study.curves(NAME), study.supports(NAME)
    last = curves.groupby("record")["r2"].last()
    finished = runs[runs["status"] == "finished"].set_index("record")
    pd.testing.assert_series_equal(last[finished.index], finished["r2"], check_names=False)
    assert supports.groupby("record").size().to_dict() == finished.loc[finished["kept"] > 0, "kept"].to_dict()
    assert supports["weight"].ne(0).all()


def test_a_number_is_explained_and_the_scorecard_is_a_table(small_results: Path) -> None:
    study = eflops.load(small_results)
    ratio = study.table(NAME)["ratio"].iloc[0]
    explained = study.explain(f"tables/{NAME}.csv", row=[str(ratio), "eflops"], column="mean")
    assert "eflops" in str(explained)
    assert len(explained.facts["runs"]) == len(study.runs(NAME).query("method == 'eflops' and ratio == @ratio"))
    scorecard = study.scorecard()
    assert {"id", "paper", "mean", "low", "high", "verdict"} <= set(scorecard.columns)


def test_a_published_folder_gives_the_same_tables(small_results: Path, small_published: Path) -> None:
    one, other = eflops.load(small_results), eflops.load(small_published)
    order = ["ratio", "method", "variant", "draw", "seed"]
    for table in ("runs", "curves", "supports"):
        first, second = (
            getattr(each, table)(NAME).sort_values(order, kind="stable", ignore_index=True) for each in (one, other)
        )
        pd.testing.assert_frame_equal(first, second)


def test_a_partial_folder_gives_what_is_there(small_results: Path, tmp_path: Path) -> None:
    whole = eflops.load(small_results).runs(NAME)
    path = f"runs/{NAME}/{whole['record'].iloc[0]}"
    (tmp_path / path).parent.mkdir(parents=True)
    shutil.copy(small_results / path, tmp_path / path)
    study = eflops.load(tmp_path)
    assert study.experiments == [NAME]
    assert study.runs(NAME)["r2"].tolist() == whole["r2"].iloc[:1].tolist()
    with pytest.raises(UserError, match=f"has no runs of 'golub'; it has {NAME}."):
        study.runs("golub")


def test_loading_results_imports_no_torch(small_results: Path) -> None:
    code = (
        f"import sys, eflops; s = eflops.load({str(small_results)!r}); s.runs({NAME!r}); s.scorecard();"
        " sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
