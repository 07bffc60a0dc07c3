"""The synthetic tables hold what the records hold, and say how it was summed up."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from eflops.analysis.products.feedback import comparisons
from eflops.analysis.products.sparse_regime import table as regimes
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import best, spread_over_draws, summarise, with_interval
from eflops.analysis.table import Table
from eflops.config.load import read
from eflops.config.models import Config
from eflops.config.products import products
from eflops.errors import UserError
from eflops.results import record
from eflops.results.paths import GATHERED
from made import made, texts

ROOT = Path(__file__).parents[3]
TABLES = [
    product
    for product in products(read(ROOT / "config.yaml"))
    if product.kind == "table" and product.category == "Synthetic regression"
]


@pytest.fixture(scope="session")
def table(study: Config, source: Source) -> Callable[[str], Table]:
    """The table of a name."""
    return lambda name: made(study, name, source)


def recovered(results: Path, ratio: str, method: str) -> list[float]:
    """Support recovery of a cell's runs, read from the records themselves."""
    files = sorted((results / "runs" / "support_recovery" / ratio / method / "base").glob("*.json"))
    return [record.read(file).result.metrics["support_recovery"] for file in files]


def test_table_1_holds_the_mean_and_deviation_of_the_records(table: Callable[[str], Table], results: Path) -> None:
    data = table("support_recovery").data.set_index(["ratio", "method"])
    for ratio, label in ((0.64, "nd0.64"), (1.36, "nd1.36")):
        for method in ("eflops", "flops", "fediht", "fedavg", "centralized"):
            values = recovered(results, label, method)
            assert len(values) == 3
            cell = data.loc[(ratio, method)]
            assert (cell["mean"], cell["sd"], cell["n"]) == pytest.approx((np.mean(values), np.std(values, ddof=1), 3))


def test_table_1_has_its_columns_in_order_with_the_references_last(table: Callable[[str], Table]) -> None:
    assert texts(table("support_recovery")).columns.tolist() == [
        "N/d",
        "E-FLoPS",
        "FLoPS (T = 0)",
        "Fed-IHT",
        "FedIter-HT",
        "FedAvg",
        "FedDualAvg (lasso)",
        "Centralized E-FLoPS",
        "Best subset (reference)",
        "Lasso cut to m (reference)",
    ]


def test_only_the_best_federated_methods_are_bold(table: Callable[[str], Table]) -> None:
    written = table("support_recovery")
    for _, row in texts(written).iterrows():
        federated = row[["E-FLoPS", "FLoPS (T = 0)", "Fed-IHT", "FedAvg", "FedDualAvg (lasso)"]]
        means = federated.str.strip("*").str.split(" ").str[0].astype(float)
        is_bold = federated.str.startswith("**")
        assert is_bold.tolist() == (means == means.max()).tolist()
        assert (
            not row[["Centralized E-FLoPS", "Best subset (reference)", "FedIter-HT"]]
            .str.contains("**", regex=False)
            .any()
        )


def test_diverged_runs_are_counted_and_shown(table: Callable[[str], Table]) -> None:
    written = table("support_recovery")
    lost = written.data[written.data["method"] == "fediterht"]
    assert lost["diverged"].tolist() == lost["n"].tolist() == [3, 3]
    assert texts(written)["FedIter-HT"].tolist() == ["all 3 diverged"] * 2


def test_the_tests_agree_with_scipy_and_span_the_table(table: Callable[[str], Table], results: Path) -> None:
    tests = table("support_recovery_tests").data.set_index(["ratio", "other"])
    assert len(tests) == 12
    assert set(tests["tests"]) == {12}
    ours, other = (recovered(results, "nd1.36", method) for method in ("eflops", "fedavg"))
    expected = stats.ttest_rel(ours, other)
    row = tests.loc[(1.36, "fedavg")]
    assert (row["t"], row["p"], row["df"]) == pytest.approx((expected.statistic, expected.pvalue, 2))
    assert row["difference"] == pytest.approx(np.mean(ours) - np.mean(other))


def test_a_method_that_diverged_leaves_no_pair(table: Callable[[str], Table]) -> None:
    tests = table("r2_tests")
    rows = tests.data[tests.data["other"] == "fediterht"]
    assert rows[["pairs", "missing", "n"]].to_numpy().tolist() == [[3, 3, 0]] * 2
    assert texts(tests).loc[rows.index[0], ["n", "p", "difference [95 % interval]"]].tolist() == [
        "0 (3 missing)",
        "-",
        "-",
    ]


def test_tests_refuse_an_incomplete_experiment(study: Config, source: Source, tmp_path: Path) -> None:
    gathered = tmp_path / "gathered"
    gathered.mkdir()
    source.runs("support_recovery").iloc[:-1].to_csv(gathered / "support_recovery.csv", index=False)
    with pytest.raises(UserError, match=r"centralized lacks 1 of 6 pairs, ratio 1\.36, seed 2 the first"):
        made(study, "support_recovery_tests", Source(tmp_path))


def test_the_paper_stands_beside_our_numbers(table: Callable[[str], Table]) -> None:
    written, ours = table("support_recovery_paper"), table("support_recovery").data.set_index(["ratio", "method"])
    cells = written.data.set_index(["ratio", "method"])
    assert cells.loc[(0.64, "eflops"), ["paper_mean", "paper_sd"]].tolist() == [0.626, 0.060]
    assert cells.loc[(1.36, "centralized"), ["paper_mean", "paper_sd"]].tolist() == [0.945, 0.010]
    assert len(cells) == 8
    for key, cell in cells.iterrows():
        assert cell["mean"] == ours.loc[key, "mean"]
        assert cell["difference"] == pytest.approx(cell["mean"] - cell["paper_mean"])
    assert texts(written).loc[0, "E-FLoPS, paper"] == "0.626 ± 0.060"


def test_spread_between_and_within_draws_by_hand() -> None:
    # Draw 1: .2 and .4, mean .3, variance .02. Draw 2: .5 and .9, mean .7, variance .08.
    runs = pd.DataFrame({"draw": [1, 1, 2, 2], "support_recovery": [0.2, 0.4, 0.5, 0.9]})
    cell = spread_over_draws(runs.assign(ratio=0.64, method="eflops", status="finished"), "support_recovery").iloc[0]
    assert cell["mean"] == pytest.approx(0.5)
    assert cell["sd_between"] == pytest.approx(np.sqrt(0.08))
    assert cell["sd_within"] == pytest.approx(np.sqrt(0.05))
    assert (cell["draws"], cell["n"], cell["diverged"]) == (2, 4, 0)


def test_a_draw_counts_once_however_many_of_its_runs_finished() -> None:
    # Draw 1: .2 and .4, mean .3. Draw 2: .5. Draw 3: .7 and a diverged run. Over the runs the mean would be .45.
    runs = pd.DataFrame({"draw": [1, 1, 2, 3, 3], "r2": [0.2, 0.4, 0.5, 0.7, np.nan]})
    runs = runs.assign(method="eflops", status=["finished"] * 4 + ["diverged"])
    cell = with_interval(summarise(runs, "r2", ["method"])).iloc[0]
    assert (cell["mean"], cell["sd"]) == pytest.approx((0.5, 0.2))
    assert (cell["n"], cell["diverged"], cell["units"]) == (5, 1, 3)
    low, high = stats.ttest_1samp([0.3, 0.5, 0.7], 0).confidence_interval()
    assert (cell["mean_low"], cell["mean_high"]) == pytest.approx((low, high))


def test_runs_are_the_units_of_a_single_draw() -> None:
    runs = pd.DataFrame({"draw": [7, 7, 7], "r2": [0.2, 0.4, 0.9], "method": "eflops", "status": "finished"})
    cell = summarise(runs, "r2", ["method"]).iloc[0]
    assert (cell["mean"], cell["sd"], cell["units"]) == pytest.approx((0.5, np.std([0.2, 0.4, 0.9], ddof=1), 3))


def test_an_ablation_is_paired_by_draw_and_two_draws_have_no_interval(
    table: Callable[[str], Table], source: Source
) -> None:
    rows = table("ablation_steps").data
    row = rows[(rows["metric"] == "r2") & (rows["set_local_steps"] == 3)].iloc[0]
    runs = source.runs("ablation_steps").set_index(["set_local_steps", "draw"])["r2"]
    differences = runs[3] - runs[1]
    assert (len(differences), row["gain"]) == (2, pytest.approx(differences.mean()))
    assert row[["gain_low", "gain_high"]].isna().all()
    shown = texts(table("ablation_steps"))["Test R², difference"]
    assert shown[0] == "-"
    assert "[" not in shown[1]


def test_sparse_regimes_stand_beside_the_late_cut_of_the_same_draws(
    table: Callable[[str], Table], source: Source
) -> None:
    cells = table("sparse_regime").data.set_index(["experiment", "method", "metric"])
    assert set(cells["ratio"]) == {0.64}
    late, both = (source.runs(name) for name in ("support_recovery", "sparse_both"))
    late = late[(late["ratio"] == 0.64) & (late["method"] == "fediht")]["r2"].mean()
    ours = both[both["method"] == "fediht"]["r2"].mean()
    assert cells.loc[("sparse_both", "fediht", "r2"), "difference"] == pytest.approx(ours - late)
    assert cells.loc[("support_recovery", "fedavg", "share_training"), "mean"] == pytest.approx(1.0)
    assert cells.loc[("sparse_both", "fediht", "share_training"), "mean"] < 0.5


def test_error_feedback_is_compared_run_by_run_and_its_aims_are_judged(source: Source) -> None:
    feedback, dense = (
        source.runs(name).query("ratio == 0.64 and method == @method").set_index("seed")["r2"]
        for name, method in (("feedback14", "eflops_feedback"), ("support_recovery", "eflops"))
    )
    change = (feedback - dense).mean()
    aims = [{"difference at least": change - 0.01}, {"difference at least": change + 0.01}, {"interval around": 0}, {}]
    pair = {"metric": "r2", "one": ["feedback14", "eflops_feedback"], "other": ["support_recovery", "eflops"]}
    pair["shows"] = "feedback, with gates"
    names = {"feedback14": "at most 14 %", "support_recovery": "dense"}
    compared = comparisons(source, names, [{**pair, **({"aim": aim} if aim else {})} for aim in aims], [8, 9])
    assert compared.data["difference"].tolist() == pytest.approx([change] * 4), "draws 8 and 9 were not run"
    around = compared.data["low"][2] <= 0 <= compared.data["high"][2]
    assert compared.data["met"].tolist() == [True, False, around, None]
    assert texts(compared)["met"].tolist() == ["yes", "no", "yes" if around else "no", "-"]
    assert set(texts(compared)["shows"]) == {"feedback, with gates"}
    assert compared.data["reference"].tolist() == ["E-FLoPS with error feedback, at most 14 %"] * 4
    assert comparisons(source, names, [pair], [7]).data["draws"].tolist() == ["all", "7 to 7"]


def test_a_regime_with_the_settings_of_another_is_not_printed_as_a_second_result(source: Source) -> None:
    runs = source.runs("feedback14")
    again = replace(source, _read={GATHERED.format(experiment="again"): runs.assign(experiment="again")})
    names = {"support_recovery": "dense", "feedback14": "at most 14 %", "again": "at most 27 %"}
    table = regimes(again, names)
    of = table.data.groupby("experiment")["same_as"].unique()
    assert of["again"].tolist() == ["feedback14"]
    assert of["feedback14"].tolist() == of["support_recovery"].tolist() == [""]
    assert set(texts(table)["messages"]) == {"dense", "at most 14 %"}
    assert "With at most 27 %, the search chose the same settings for " in table.note
    pair = {"metric": "r2", "one": ["again", "eflops_feedback"], "other": ["support_recovery", "eflops"]}
    assert comparisons(again, names, [pair]).data["reference"].tolist() == [
        "E-FLoPS with error feedback, at most 27 % (the settings of at most 14 %)"
    ]


def test_an_ablation_keeps_the_order_of_its_experiment(table: Callable[[str], Table]) -> None:
    assert texts(table("ablation_recovery"))["gate recovery"].tolist() == ["paper", "exact"]
    assert texts(table("ablation_literal"))["choices"].tolist() == ["ours", "paper's", "paper's, our rates"]
    assert texts(table("ablation_steps"))["local steps"].tolist() == ["1", "3", "5", "10"]


@pytest.mark.parametrize("product", TABLES, ids=lambda product: product.name)
def test_every_table_says_how_many_seeds_of_which_draw(product: object, table: Callable[[str], Table]) -> None:
    note = table(product.name).note
    if product.experiments:
        assert re.search(r"\d+ (run seeds?|data draws|tests)", note), note
    assert "draw" in note


@pytest.mark.parametrize("product", TABLES, ids=lambda product: product.name)
def test_a_table_has_the_same_rows_in_all_forms(product: object, table: Callable[[str], Table], tmp_path: Path) -> None:
    written = table(product.name)
    for suffix in ("csv", "md", "tex", "html"):
        written.write(tmp_path / f"table.{suffix}")
    markdown = [line for line in (tmp_path / "table.md").read_text().splitlines() if line.startswith("|")]
    latex = (tmp_path / "table.tex").read_text()
    assert len(markdown) == 2 + len(written.rows)
    assert {line.count("|") for line in markdown} == {len(texts(written).columns) + 1}
    body = latex[latex.index(r"\midrule") : latex.index(r"\bottomrule")]
    assert body.count(r"\\") == len(written.rows)
    assert body.count(r"\textbf") == "".join(markdown).count("**") // 2
    assert latex.isascii() or set(re.sub(r"[\x00-\x7f]", "", latex)) <= set("†")
    rows = list(csv.reader(io.StringIO((tmp_path / "table.csv").read_text())))
    assert len(rows) == 1 + len(written.data)
    page = (tmp_path / "table.html").read_text()
    assert page.count("<tr>") == 1 + len(written.rows)
    assert page.count("<td>") == texts(written).size
    assert page.count("<b>") == "".join(markdown).count("**") // 2


def test_ties_are_all_best_and_lost_runs_never() -> None:
    cells = pd.DataFrame(
        {"mean": [0.61240, 0.61239, 0.9, 0.5, np.nan], "diverged": [0, 0, 1, 0, 3]}, index=["a", "b", "c", "d", "e"]
    )
    assert best(cells) == ["a", "b"]


def test_sizes_that_differ_are_never_written_alike_and_never_taken_for_the_papers(
    study: Config, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = {"ratio": {0.64: 0.641, 1.36: 0.644}}
    for name in ("runs", "references"):
        whole = getattr(Source, name)
        monkeypatch.setattr(Source, name, lambda self, of, whole=whole: whole(self, of).replace(near))
    assert texts(made(study, "support_recovery", source))["N/d"].tolist() == ["0.641", "0.644"]
    assert set(texts(made(study, "r2_tests", source))["N/d"]) == {"0.641", "0.644"}
    assert made(study, "support_recovery_paper", source).data.empty
