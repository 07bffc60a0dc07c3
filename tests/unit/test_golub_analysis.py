"""Tables and figures of the leukaemia data, from small runs that are trained here."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import gathered
import small_results
from eflops.analysis import references
from eflops.analysis.products import make
from eflops.analysis.products.golub import distribution
from eflops.analysis.source import Source
from eflops.analysis.stats.genes import gene_shares, mean_jaccard, selected_features
from eflops.config.load import read
from eflops.config.plan import plan_of
from eflops.config.products import Product, product_job, products
from eflops.data.build import build, named_features, write_features
from eflops.data.federation import save
from eflops.results import labels, record
from golub_genes import golub_probes
from made import made, product_of, texts, traced

ROOT = Path(__file__).parents[2]
CONFIG = read(ROOT / "config.yaml", ROOT / "config/smoke.yaml")
PRODUCTS = [product for product in products(CONFIG) if product.category == "Golub leukaemia"]
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
    config = CONFIG
    for name in {experiment for product in PRODUCTS for experiment in product.experiments}:
        plan = plan_of(config, name)
        settings = config.datasets[plan.dataset].model_dump(mode="json", exclude={"label", "model", "client_fraction"})
        for draw in plan.draws:
            folder = results / "data" / plan.dataset / labels.data_label(labels.WHOLE, draw)
            if not folder.exists():
                save(build(settings, None, draw), folder, {**settings, "ratio": labels.WHOLE, "draw": draw})
        write_features(settings, results / "data" / plan.dataset / "genes.csv")
        small_results.train_plan(config, plan, results)
        small_results.gather(plan, results)
    for name in ("golub_runs", "golub_splits"):
        _fit_references(config.experiments[name].draws, name, results)
    names = {method: entry.label for method, entry in config.methods.items()}
    return Source(results, names, ("centralized",))


def _fit_references(draws: list[int], experiment: str, results: Path) -> None:
    folders = [results / "data" / "golub" / labels.data_label(labels.WHOLE, draw) for draw in draws]
    references.make(folders, results / "gathered" / f"{experiment}.references.csv")


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
    runs = selected_features(source, "golub_runs", 3571)
    for run in runs.itertuples():
        kept = record.read(source.results / "runs" / "golub_runs" / run.record).result.support
        assert run.selected == sorted({weight if weight < 3571 else weight - 3571 for weight in kept})
        assert 1 <= len(run.selected) <= len(kept) == 7


def test_gene_frequencies_are_those_of_the_records(source: Source) -> None:
    table = made(CONFIG, "gene_frequency", source)
    names = golub_probes().set_index("probe")
    for method, rows in table.data.groupby("method"):
        over_splits, one_split = (_kept(source, name, method) for name in ("golub_splits", "golub_runs"))
        for row in rows.itertuples():
            gene = names.index.get_loc(row.probe)
            chosen = {draw: [bool({gene, gene + 3571} & kept) for kept in runs] for draw, runs in over_splits.items()}
            shares = [np.mean(runs_of_gene) for runs_of_gene in chosen.values()]
            assert (row.frequency, row.sd_splits) == pytest.approx((np.mean(shares), np.std(shares, ddof=1)))
            assert (row.splits, row.n) == (3, 6)
            assert row.one_split == np.mean([bool({gene, gene + 3571} & kept) for kept in one_split[0]])
            assert row.gene == names.loc[row.probe, "label"]
            assert row.together >= row.frequency > 0
        assert rows["frequency"].is_monotonic_decreasing
    assert len(table.rows) == 7
    assert list(texts(table).columns)[1:3] == ["E-FLoPS", "FLoPS (T = 0)"]


def _kept(source: Source, experiment: str, method: str) -> dict[int, list[set[int]]]:
    """By split the weights that each run kept, read from the records themselves."""
    folder = source.results / "runs" / experiment / "all" / method
    sets: dict[int, list[set[int]]] = {}
    for entry in map(record.read, sorted(folder.rglob("*.json"))):
        sets.setdefault(entry.run.draw, []).append(set(entry.result.support))
    return sets


def test_an_explained_frequency_is_the_mean_over_its_runs(source: Source) -> None:
    table = made(CONFIG, "gene_frequency", source)
    row = table.data.iloc[0]
    behind = traced(CONFIG, "gene_frequency", table, row, "frequency").runs
    assert behind["value"].mean() == row["frequency"]
    assert len(behind) == row["n"]


def test_accuracy_has_all_methods_and_the_references(source: Source) -> None:
    table = made(CONFIG, "golub_accuracy", source)
    cells_ = table.data.set_index(["experiment", "method", "metric"])
    runs = source.runs("golub_splits")
    by_split = runs[runs["method"] == "fediht"].groupby("draw")["auc"].mean()
    cell = cells_.loc[("golub_splits", "fediht", "auc")]
    assert (cell["mean"], cell["sd"], cell["n"], cell["units"]) == pytest.approx(
        (by_split.mean(), by_split.std(), 6, 3)
    )
    assert cells_.loc[("golub_splits", "best_subset", "accuracy"), "n"] == 3
    assert cells_.loc[("golub_runs", "lasso", "accuracy"), "n"] == 1
    assert len(table.rows) == 6 + 2 + 6 + 2 + 4
    bold = texts(table)[texts(table)["accuracy"].str.startswith("**")]
    assert set(bold["over"]) == set(texts(table)["over"])
    assert "Centralized E-FLoPS" not in set(bold["Method"])


def test_paired_tests_agree_with_scipy_and_name_their_families(source: Source) -> None:
    tests = made(CONFIG, "golub_tests", source).data.set_index(["experiment", "metric", "other"])
    runs = source.runs("golub_splits").groupby(["method", "draw"])["cross_entropy"].mean()
    expected = stats.ttest_rel(runs["eflops"], runs["fedavg"])
    # Splits overlap: sqrt(1/n + 15/57) in place of sqrt(1/n).
    n = len(runs["eflops"])
    t = expected.statistic / np.sqrt(1 + n * 15 / 57)
    row = tests.loc[("golub_splits", "cross_entropy", "fedavg")]
    assert (row["t"], row["p"]) == pytest.approx((t, 2 * stats.t.sf(abs(t), n - 1)))
    assert row["tests"] == 5
    assert tests.loc[("golub_literal", "accuracy", "fediht"), "tests"] == 3
    assert tests["family"].nunique() == 9


def test_stability_is_that_of_the_selected_genes(source: Source) -> None:
    table = made(CONFIG, "golub_stability", source).data.set_index(["experiment", "method"])
    runs = selected_features(source, "golub_splits", 3571)
    method_runs = runs[runs["method"] == "fedavg"]
    row = table.loc[("golub_splits", "fedavg")]
    assert row["jaccard"] == pytest.approx(
        np.mean([mean_jaccard(sets) for _, sets in method_runs.groupby("seed")["selected"]])
    )
    assert row["genes"] == pytest.approx(np.mean([len(chosen) for chosen in method_runs["selected"]]))
    assert row["different_genes"] == len(set().union(*method_runs["selected"]))
    assert (row["n"], table.loc[("golub_splits", "lasso"), "n"]) == (6, 3)


def test_every_finished_run_is_in_the_distribution_of_accuracies(source: Source) -> None:
    runs = source.runs("golub_runs")
    runs.loc[0, "accuracy"] = np.nan
    discs = distribution(runs)
    assert discs["n"].sum() == len(runs) - 1
    assert set(discs["value"]) == set(runs["accuracy"].dropna().round(6))


@pytest.mark.parametrize("phase", ["training", "final"])
def test_a_plotted_number_is_explained_by_its_runs(source: Source, phase: str) -> None:
    figure = made(CONFIG, "fig3", source)
    point = figure.data[figure.data["phase"] == phase].iloc[-1]
    behind = traced(CONFIG, "fig3", figure, point, "n").runs
    assert len(behind) == point["n"]
    if phase == "training":
        assert behind["value"].mean() == pytest.approx(point["mean"])
    else:
        assert behind["value"].round(6).eq(point["value"]).all()


def test_the_whole_figure_has_the_panels_numbers(source: Source) -> None:
    whole = made(CONFIG, "fig3", source).data
    panel = whole[whole["panel"] == "a"].drop(columns="panel").reset_index(drop=True)
    pd.testing.assert_frame_equal(panel, made(CONFIG, "fig3a", source).data)


def test_scalings_are_compared_by_the_same_genes(source: Source) -> None:
    data = made(CONFIG, "golub_scaling", source).data
    scalings = product_of(CONFIG, "golub_scaling").parameters["scalings"]
    names = golub_probes()
    row = data[data["experiment"] == "golub_scaling_log_gene"].iloc[0]
    runs = selected_features(source, row["experiment"], len(names))
    runs = runs[runs["method"] == row["method"]]
    wanted = set(names.index[names["label"] == row["gene"]])
    assert row["frequency"] == np.mean([bool(wanted & set(chosen)) for chosen in runs["selected"]])
    assert data.groupby("experiment")["scaling"].first().to_dict() == {
        name: words.replace("\n", " ") for name, words in scalings.items()
    }


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_products_are_byte_identical_when_made_again(source: Source, product: Product, tmp_path: Path) -> None:
    written = []
    for turn in ("first", "again"):
        out = [tmp_path / turn / Path(file).name for file in product.files]
        make(product_job(CONFIG, product), source.results, out)
        written.append([path.read_bytes() for path in out])
    assert written[0] == written[1]
    assert all(written[0])


def test_genes_are_those_of_the_config_in_use(tmp_path: Path) -> None:
    """An overlay that changes the filter keeps other genes, so that a feature's number means another gene."""
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("datasets: {golub: {min_fold: 20}}\n")
    config = read(ROOT / "config.yaml", overlay)
    names = named_features(config.datasets["golub"].model_dump()).rename(columns={"gene": "probe"})
    assert len(names) < len(golub_probes())
    gathered.write(config, tmp_path, ["golub_splits", "golub_runs"])
    table = made(config, "gene_frequency", Source(tmp_path))
    kept = pd.read_csv(tmp_path / "gathered/golub_splits.supports.csv")["support"].str.split().explode().astype(int)
    assert set(table.data["probe"]) == set(names["probe"].iloc[kept.unique()])
