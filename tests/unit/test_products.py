"""Tables and figures as entries: what they depend on, what they may read, and what they say when little was run."""

import importlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from matplotlib import rcParams, rcParamsDefault

import gathered
from eflops.analysis.figure import Figure, canvas
from eflops.analysis.needs import judges, targets_of
from eflops.analysis.paper import read_paper
from eflops.analysis.scorecard import claims
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.make import build as build_scorecard
from eflops.analysis.scorecard.make import markdown
from eflops.analysis.source import Source
from eflops.analysis.style import PAGE
from eflops.config.load import check, merge
from eflops.config.messages import ConfigError
from eflops.config.models import Config
from eflops.config.products import product_job, products
from eflops.errors import UserError
from eflops.files import PROJECT
from eflops.provenance.explain.trace import Tracer
from made import made, traced

RAW = merge(*(yaml.safe_load((PROJECT / name).read_text()) for name in ("config.yaml", "config/smoke.yaml")))
NOT_HERE = {"scorecard.json"}
GENERAL = "eflops.analysis.products.general:summary"
MINE = {"kind": "table", "make": GENERAL, "title": "Mine", "experiments": ["mnist"]}


def blocks(page: str, language: str) -> list[str]:
    parts = (PROJECT / "docs" / page).read_text().split(f"```{language}\n")[1:]
    return [part.split("```")[0] for part in parts]


def config_with(**changes: Any) -> Config:
    return check(merge(RAW, changes))


def jobs(config: Config) -> dict[str, dict[str, Any]]:
    return {product.name: product_job(config, product) for product in products(config)}


def changed(config: Config) -> set[str]:
    before, after = jobs(check(RAW)), jobs(config)
    return {name for name in {**before, **after} if before.get(name) != after.get(name)}


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules can be imported, as those beside the Snakefile."""
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return tmp_path


def test_the_table_of_the_docs_is_made_and_explained(beside: Path) -> None:
    (beside / "quartiles.py").write_text(blocks("adding-a-table.md", "python")[0])
    config = config_with(**yaml.safe_load(blocks("adding-a-table.md", "yaml")[0]))
    gathered.write(config, beside, ["golub_runs"])
    table = made(config, "accuracy_quartiles", Source(beside))
    runs = Source(beside).runs("golub_runs")
    expected = runs[runs["method"] == "eflops"]["accuracy"].median()
    row = table.data[table.data["method"] == "eflops"].iloc[0]
    assert row["median"] == expected
    assert table.markdown().startswith("**Quartiles of the accuracy**")
    behind = traced(config, "accuracy_quartiles", table, row, "median")
    assert behind.recomputed == pytest.approx(expected)
    assert set(behind.runs["method"]) == {"eflops"}


def test_the_figure_of_the_docs_is_drawn(beside: Path) -> None:
    (beside / "points_of_runs.py").write_text(blocks("adding-a-table.md", "python")[1])
    entry = {"kind": "figure", "make": "points_of_runs:make", "title": "Runs", "experiments": ["golub_runs"]}
    config = config_with(products={"fig_points": entry})
    gathered.write(config, beside, ["golub_runs"])
    made(config, "fig_points", Source(beside)).write(beside / "points.svg")
    assert "<svg" in (beside / "points.svg").read_text()


def test_the_claim_of_the_docs_is_judged(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (beside / "golub_sparse.py").write_text(blocks("adding-a-claim.md", "python")[0])
    monkeypatch.setattr(claims, "__path__", [*claims.__path__, str(beside)])
    snippet = blocks("adding-a-claim.md", "yaml")[0]
    (beside / "targets.yaml").write_text(targets_of(beside).read_text() + snippet)
    entry = eval(f"{{{blocks('adding-a-claim.md', 'python')[1]}}}", {"Check": claims.Check})
    monkeypatch.setattr(claims, "CHECKS", claims.CHECKS | entry)
    assert "eflops.analysis.scorecard.claims.golub_sparse" in judges(beside / "targets.yaml")
    gathered.write(check(RAW), beside, ["golub_runs"])
    paper = read_paper(beside / "targets.yaml")
    evidence = Evidence(Source(beside), frozenset({"golub_runs"}), paper)
    card = build_scorecard(evidence)
    (line,) = card.section("Your claims")
    assert line.id == "own-claim/golub-sparse"
    assert (line.judgement.verdict, line.judgement.reason) == ("agrees", "7 weights against 7.")
    assert sum(card.counts.values()) == len(card.lines) - 1
    assert [each.row for each in card.section("Claims")] == list(paper.claims)
    assert markdown(card).count("golub-sparse") >= 1


def test_a_new_entry_or_title_makes_nothing_else_again() -> None:
    assert changed(config_with(products={"mine": MINE, "fig1a": {"title": "Another"}})) == {"mine", "fig1a"}
    assert changed(config_with(products={"fig1a": None})) == {"fig1a"}


def test_a_new_method_makes_again_only_what_shows_it() -> None:
    method = {"method": "eflops", "label": "Mine"}
    assert changed(config_with(methods={"mine": method})) == set()
    methods = [*RAW["experiments"]["rates_phi"]["methods"], "mine"]
    assert changed(config_with(methods={"mine": method}, experiments={"rates_phi": {"methods": methods}})) == {
        "fig1d",
        "fig1",
    }


def test_an_experiment_of_ones_own_has_a_table_tests_and_a_figure() -> None:
    own_experiment = {"dataset": "synthetic", "methods": ["fediht"], "ratios": [0.64]}
    assert changed(config_with(experiments={"d300": own_experiment})) == {"d300", "d300_tests", "fig_d300"}


def test_hundreds_of_cases_are_a_table_and_no_picture_of_metres(tmp_path: Path) -> None:
    entry = {"dataset": "synthetic", "methods": ["fediht"], "ratios": [0.64], "seeds": 1}
    config = config_with(
        experiments={"varied": entry | {"vary": {"rate": [round(0.001 * case, 3) for case in range(1, 202)]}}}
    )
    gathered.write(config, tmp_path, ["varied"])
    figure = made(config, "fig_varied", Source(tmp_path))
    assert isinstance(figure, Figure)
    assert len(figure.data) == 201 * 3
    (axes,) = figure.drawing.axes
    assert axes.texts[0].get_text().startswith("201 cells are too many to draw")


def test_each_variant_is_tested_against_the_first_one_of_its_method(tmp_path: Path) -> None:
    entry = {"dataset": "synthetic", "methods": ["fediht"], "ratios": [0.64, 1.0], "draws": [0, 1, 2, 3], "seeds": 2}
    config = config_with(experiments={"varied": entry | {"vary": {"rate": [0.1, 0.2, 0.3]}}})
    gathered.write(config, tmp_path, ["varied"])
    source = Source(tmp_path)
    table = made(config, "varied_tests", source)
    tests = table.data[table.data["metric"] == "r2"].set_index(["ratio", "other_variant"])
    assert len(tests) == 2 * 2
    row = tests.loc[(1.0, "rate=0.3")]
    runs = source.runs("varied").query("ratio == 1.0").groupby(["variant", "draw"])["r2"].mean()
    assert row["difference"] == pytest.approx((runs["rate=0.1"] - runs["rate=0.3"]).mean())
    assert (row["variant"], row["n"], row["df"]) == ("rate=0.1", 4, 3)
    assert "Fed-IHT, rate=0.3" in table.markdown()
    (product,) = [each for each in products(config) if each.name == "varied_tests"]
    keys = {"ratio": 1.0, "reference": "fediht", "variant": "rate=0.1", "other_variant": "rate=0.3"}
    behind = Tracer(product, table).rows(keys, "r2")
    assert table.runs.loc[behind, "variant"].unique().tolist() == ["rate=0.1", "rate=0.3"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"experiments": ["mnits"]}, "products.mine.experiments: 'mnits' is not known; did you mean 'mnist'?"),
        ({"make": "nowhere:make"}, "products.mine.make: there is no module nowhere"),
        ({"kind": "tabel"}, "products.mine.kind: 'tabel' is wrong"),
        ({"titel": "Mine"}, "products.mine.titel: 'titel' is not known; did you mean 'title'?"),
    ],
)
def test_a_mistake_in_an_entry_is_said(entry: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as error:
        config_with(products={"mine": MINE | entry})
    assert words in str(error.value)


def test_a_source_refuses_what_was_not_declared(tmp_path: Path) -> None:
    config = check(RAW)
    gathered.write(config, tmp_path, ["mnist", "curves"])
    source = Source(tmp_path).limited(jobs(config)["fig1a"])
    assert len(source.runs("curves"))
    with pytest.raises(UserError, match=r"gathered/mnist\.csv: this file is not declared"):
        source.runs("mnist")
    with pytest.raises(UserError, match=r"gathered/curves\.supports\.csv"):
        source.supports("curves")


LITTLE = {
    "one method": {"methods": ["eflops"]},
    "no eflops": {"methods": ["flops", "centralized"]},
    "one seed": {"seeds": 1, "draws": [0]},
    "all diverged": {},
}


@pytest.mark.parametrize(
    "little", [pytest.param(name, marks=() if name == "no eflops" else pytest.mark.slow) for name in LITTLE]
)
def test_every_product_says_what_is_missing_and_does_not_fail(little: str, tmp_path: Path) -> None:
    experiments = {
        name: entry | {key: LITTLE[little][key] for key in LITTLE[little] if not (key == "draws" and "ratios" in entry)}
        for name, entry in RAW["experiments"].items()
        if not name.startswith("beyond")
    }
    experiments["general"] = {"dataset": "synthetic", "methods": ["eflops", "fedavg"], "ratios": [0.64], "seeds": 2}
    experiments["general"] |= LITTLE[little]
    config = check({**RAW, "experiments": experiments})
    gathered.write(config, tmp_path, experiments, diverged=little == "all diverged")
    for product in products(config):
        if NOT_HERE & set(product.inputs):
            continue
        shown = made(config, product.name, Source(tmp_path))
        for end in ("csv", "md", "tex", "html") if product.kind == "table" else ("csv", "svg"):
            shown.write(tmp_path / f"{product.name}.{end}")
        if product.kind == "table":
            text = (tmp_path / f"{product.name}.md").read_text()
            assert "nan" not in text, (product.name, text)
            assert "1 run seeds" not in text, product.name
    tests = (tmp_path / "general_tests.md").read_text()
    expected = {
        "one method": "Only E-FLoPS ran, so there is no pair to test.",
        "no eflops": "Differences are FLoPS (T = 0) minus",
    }
    assert expected.get(little, "") in tests
    if little == "all diverged":
        assert "all 2 diverged" in (tmp_path / "general.md").read_text()


def test_no_two_products_share_a_file() -> None:
    files = pd.Series([path for product in products(check(RAW)) for path in product.files])
    assert files.is_unique


def test_a_figure_of_both_E_FLoPS_and_T_0_says_that_they_differ_in_more_than_T() -> None:
    config = check(RAW)
    for product in products(config):
        lines = product.parameters.get("lines", {}).values()  # some figures draw chosen methods alone
        shown = {method for _, method in lines} or {
            method for name in product.experiments for method in config.experiments[name].methods
        }
        # golub_scaling shows the methods that every experiment of it ran, and FLoPS is not among them.
        general = product.make.startswith("eflops.analysis.products.general")
        if product.kind == "figure" and not general and product.name != "golub_scaling":
            assert ("differ in more than T" in product.note) == ({"eflops", "flops"} <= shown), product.name


def test_no_settings_file_of_matplotlib_changes_a_picture_or_starts_latex(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matplotlib reads the user's, and one in the working folder, which may be a folder that somebody sent."""
    for name, value in (("text.usetex", True), ("figure.dpi", 50.0), ("font.family", ["serif"])):
        monkeypatch.setitem(rcParams, name, value)
    for name in ("text.usetex", "figure.dpi", "font.family"):
        canvas()
        assert rcParams[name] == rcParamsDefault[name]
    assert rcParams["savefig.dpi"] == PAGE["savefig.dpi"]
