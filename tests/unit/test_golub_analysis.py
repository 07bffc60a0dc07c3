"""Tables and figures of the leukaemia data, from small runs that are trained here."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from eflops import record
from eflops.analysis import accuracy_panel, references, supports
from eflops.analysis.catalogue import golub as catalogue
from eflops.analysis.catalogue.product import Product
from eflops.analysis.figures import fig3, fig3a, golub_scaling
from eflops.analysis.gather import gather
from eflops.analysis.gene_shares import gene_shares
from eflops.analysis.products import make
from eflops.analysis.source import Source
from eflops.analysis.stability import mean_jaccard
from eflops.analysis.tables import gene_frequency, golub_accuracy, golub_stability, golub_tests
from eflops.config import cells
from eflops.config.load import read
from eflops.data import build
from eflops.data.federation import save
from eflops.data.golub import genes
from eflops.train import Job, train

ROOT = Path(__file__).parents[2]
GENES = pd.DataFrame(
    {
        "probe": ["P0", "P1", "P2", "P3"],
        "symbol": ["CST3", "CXCL8", "CXCL8", ""],
        "label": ["cystatin C", "interleukin 8", "interleukin 8", "an unnamed probe"],
    }
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """The smoke config's leukaemia experiments, trained and gathered."""
    results = tmp_path_factory.mktemp("results")
    config = read(ROOT / "config.yaml", ROOT / "config/smoke.yaml")
    for name in {experiment for product in catalogue.PRODUCTS for experiment in product.experiments}:
        plan = cells.plan(config, name)
        settings = config.datasets[plan.dataset].model_dump(mode="json", exclude={"label", "model", "client_fraction"})
        for draw in plan.draws:
            folder = results / "data" / plan.dataset / cells.data_label(cells.WHOLE, draw)
            if not folder.exists():
                save(build(settings, None, draw), folder, {**settings, "ratio": cells.WHOLE, "draw": draw})
        for method in plan.methods:
            slice_ = cells.job(config, name, cells.WHOLE, method)
            folder = results / "runs" / name / cells.WHOLE / method
            train(Job(slice_, results / "data", folder, tuple(plan.runs), 32), lambda _: lambda *_: None)
        out = results / "gathered" / f"{name}.csv"
        gather(plan.as_json(), results / "runs" / name, out, out.with_suffix(".curves.csv"))
        supports.gather(plan.as_json(), results / "runs" / name, out.with_suffix(".supports.csv"))
    for name in ("golub_runs", "golub_splits"):
        _fit_references(config.experiments[name].draws, name, results)
    labels = {method: entry.label for method, entry in config.methods.items()}
    return Source(results, {"labels": labels, "pooled": ["centralized"]})


def _fit_references(draws: list[int], experiment: str, results: Path) -> None:
    made = []
    for draw in draws:
        folder = cells.data_label(cells.WHOLE, draw)
        made += [results / "references" / folder / f"{name}.json" for name in ("best_subset", "lasso")]
        references.make(results / "data" / "golub" / folder, made[-2:])
    references.gather(made, results / "gathered" / f"{experiment}.references.csv")


def runs_of(method: str, *selected: list[int]) -> pd.DataFrame:
    return pd.DataFrame({"method": method, "selected": list(selected)})


def test_a_gene_counts_once_a_run_apart_by_probe_and_together() -> None:
    selected = pd.concat([runs_of("eflops", [0, 1], [1, 2], [2, 3], [0]), runs_of("fedavg", [3])], ignore_index=True)
    shares = gene_shares(selected, GENES).set_index(["method", "probe"])
    assert shares.loc[("eflops", "P1"), ["frequency", "together", "n"]].tolist() == [0.5, 0.75, 4]
    assert shares.loc[("eflops", "P2"), ["frequency", "together"]].tolist() == [0.5, 0.75]
    assert shares.loc[("eflops", "P0"), ["frequency", "together"]].tolist() == [0.5, 0.5]
    assert shares.loc[("fedavg", "P3"), ["frequency", "n"]].tolist() == [1, 1]
    assert len(shares) == 5


def test_a_diverged_run_selects_nothing_and_still_counts() -> None:
    shares = gene_shares(runs_of("eflops", [0], []), GENES)
    assert shares[["probe", "frequency", "n"]].to_numpy().tolist() == [["P0", 0.5, 2]]


def test_weights_of_both_classes_belong_to_one_gene(source: Source) -> None:
    runs = supports.selected_features(source, "golub_runs", 3571)
    for run in runs.itertuples():
        kept = record.read(source.results / "runs" / "golub_runs" / run.record).result.support
        assert run.selected == sorted({weight if weight < 3571 else weight - 3571 for weight in kept})
        assert 1 <= len(run.selected) <= len(kept) == 7


def test_gene_frequencies_are_those_of_the_records(source: Source) -> None:
    table = gene_frequency.make(source)
    names = genes().set_index("probe")
    for method, rows in table.data.groupby("method"):
        folder = source.results / "runs" / "golub_runs" / "all" / method
        kept = [set(record.read(path).result.support) for path in folder.rglob("*.json")]
        for row in rows.itertuples():
            gene = names.index.get_loc(row.probe)
            assert row.frequency == np.mean([bool({gene, gene + 3571} & chosen) for chosen in kept])
            assert row.gene == names.loc[row.probe, "label"]
            assert row.together >= row.frequency > 0
        assert rows["frequency"].is_monotonic_decreasing
    assert len(table.shown) == 7
    assert list(table.shown.columns)[1:3] == ["E-FLoPS", "FLoPS (T = 0)"]


def test_an_explained_frequency_is_the_mean_over_its_runs(source: Source) -> None:
    row = gene_frequency.make(source).data.iloc[0]
    behind = gene_frequency.trace(source, {"method": row["method"], "probe": row["probe"]})
    assert behind["value"].mean() == row["frequency"]
    assert len(behind) == row["n"]


def test_accuracy_has_all_methods_and_the_references(source: Source) -> None:
    table = golub_accuracy.make(source)
    cells_ = table.data.set_index(["experiment", "method", "metric"])
    runs = source.runs("golub_splits")
    own = runs.loc[runs["method"] == "fediht", "auc"]
    assert cells_.loc[("golub_splits", "fediht", "auc"), ["mean", "sd"]].tolist() == [own.mean(), own.std()]
    assert cells_.loc[("golub_splits", "best_subset", "accuracy"), "n"] == 2
    assert cells_.loc[("golub_runs", "lasso", "accuracy"), "n"] == 1
    assert len(table.shown) == 6 + 2 + 6 + 2 + 4
    bold = table.shown[table.shown["accuracy"].str.startswith("**")]
    assert set(bold["over"]) == set(table.shown["over"])
    assert "Centralized E-FLoPS" not in set(bold["Method"])


def test_paired_tests_agree_with_scipy_and_name_their_families(source: Source) -> None:
    tests = golub_tests.make(source).data.set_index(["experiment", "metric", "other"])
    runs = source.runs("golub_splits").set_index(["method", "draw"])["cross_entropy"]
    expected = stats.ttest_rel(runs["eflops"], runs["fedavg"])
    row = tests.loc[("golub_splits", "cross_entropy", "fedavg")]
    assert (row["t"], row["p"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert row["tests"] == 5
    assert tests.loc[("golub_literal", "accuracy", "fediht"), "tests"] == 3
    assert tests["family"].nunique() == 6


def test_stability_is_that_of_the_selected_genes(source: Source) -> None:
    table = golub_stability.make(source).data.set_index(["experiment", "method"])
    runs = supports.selected_features(source, "golub_splits", 3571)
    own = runs.loc[runs["method"] == "fedavg", "selected"].tolist()
    row = table.loc[("golub_splits", "fedavg")]
    assert row["jaccard"] == mean_jaccard(own)
    assert row["genes"] == np.mean([len(chosen) for chosen in own])
    assert row["different_genes"] == len(set().union(*own))
    assert table.loc[("golub_splits", "lasso"), "n"] == 2


def test_every_finished_run_is_in_the_distribution_of_accuracies(source: Source) -> None:
    runs = source.runs("golub_runs")
    runs.loc[0, "accuracy"] = np.nan
    discs = accuracy_panel.distribution(runs)
    assert discs["n"].sum() == len(runs) - 1
    assert set(discs["value"]) == set(runs["accuracy"].dropna().round(6))


@pytest.mark.parametrize("phase", ["training", "final"])
def test_a_plotted_number_is_explained_by_its_runs(source: Source, phase: str) -> None:
    data = fig3.make(source).data
    point = data[data["phase"] == phase].iloc[-1]
    behind = fig3.trace(source, point.to_dict())
    assert len(behind) == point["n"]
    if phase == "training":
        assert behind["value"].mean() == pytest.approx(point["mean"])
    else:
        assert behind["value"].round(6).eq(point["value"]).all()


def test_the_whole_figure_has_the_panels_numbers(source: Source) -> None:
    whole = fig3.make(source).data
    panel = whole[whole["panel"] == "a"].drop(columns="panel").reset_index(drop=True)
    pd.testing.assert_frame_equal(panel, fig3a.make(source).data)


def test_scalings_are_compared_by_the_same_genes(source: Source) -> None:
    data = golub_scaling.make(source).data
    names = genes()
    row = data[data["experiment"] == "golub_scaling_log_gene"].iloc[0]
    runs = supports.selected_features(source, row["experiment"], len(names))
    runs = runs[runs["method"] == row["method"]]
    wanted = set(names.index[names["label"] == row["gene"]])
    assert row["frequency"] == np.mean([bool(wanted & set(chosen)) for chosen in runs["selected"]])
    assert data.groupby("experiment")["scaling"].first().to_dict() == {
        name: words.replace("\n", " ") for name, words in golub_scaling.SCALINGS.items()
    }


@pytest.mark.parametrize("product", catalogue.PRODUCTS, ids=lambda product: product.name)
def test_products_are_byte_identical_when_made_again(source: Source, product: Product, tmp_path: Path) -> None:
    made = []
    for turn in ("first", "again"):
        out = [tmp_path / turn / Path(file).name for file in product.files]
        make(product.name, source.results, source.context, out)
        made.append([path.read_bytes() for path in out])
    assert made[0] == made[1]
    assert all(made[0])
