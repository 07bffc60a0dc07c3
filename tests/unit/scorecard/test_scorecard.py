"""The scorecard as a whole: complete, honest about what is missing, and the same in its three forms."""

import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eflops.analysis import claims
from eflops.analysis.paper import Paper
from eflops.analysis.scorecard import make, ttest
from eflops.analysis.scorecard.needs import judges, needs
from eflops.analysis.scorecard.verdict import Verdict


def test_runs_like_the_papers_reproduce_everything(paper_like) -> None:
    card = paper_like.card()
    other = {line.id: line.judgement for line in card.lines if line.judgement.verdict != Verdict.REPRODUCED}
    assert other == {}


def test_every_number_and_claim_of_the_paper_appears_exactly_once(paper: Paper, nothing_run) -> None:
    expected = [f"table1/{ratio:.2f}/{method}" for ratio, row in paper.recovery.items() for method in row]
    expected += [f"table2/{method}/{gene}" for method, column in paper.genes.items() for gene in column]
    expected += ["golub-test/t", "golub-test/p", *(f"claim/{claim}" for claim in paper.claims)]
    assert Counter(line.id for line in nothing_run.card().lines) == Counter(expected)
    assert len(expected) == 28 + 28 + 2 + 10


def test_nothing_is_judged_without_runs_and_every_line_says_why(nothing_run) -> None:
    card = nothing_run.card()
    assert card.counts[Verdict.UNJUDGED] == len(card.lines)
    assert all("was not" in line.judgement.reason for line in card.lines)


def test_every_claim_has_one_module_and_every_module_one_claim(paper: Paper, targets: Path) -> None:
    modules = {path.stem for path in Path(claims.__file__).parent.glob("*.py")} - {"__init__"}
    assert modules == {claim.replace("-", "_") for claim in paper.claims}
    assert len(judges(targets)) == len(modules) + 3


def test_what_the_judges_read_is_known_without_running_them(targets: Path) -> None:
    assert {"support_recovery", "draws", "golub_runs", "mnist"} <= set(needs(targets, "EXPERIMENTS"))
    assert needs(targets, "TABLES") == ["gene_frequency"]


@pytest.mark.parametrize(
    ("experiment", "left", "untouched"),
    [
        ("support_recovery", 29, {"table2", "golub-test", "claim/golub-run", "claim/mnist-acc", "claim/syn-lr"}),
        ("golub_runs", 29, {"table1", "claim/syn-r2", "claim/golub-split"}),
        ("golub_splits", 29, {"table1", "table2", "golub-test", "claim/golub-run"}),
        ("rates_phi", 4, {"table1", "table2", "golub-test", "claim/syn-r2"}),
        ("mnist", 9, {"table1", "table2", "golub-test", "claim/syn-r2"}),
    ],
)
def test_a_missing_run_makes_what_needs_it_not_judged_and_nothing_else(
    experiment: str, left: int, untouched: set[str], paper_like
) -> None:
    runs = paper_like.runs[experiment]
    paper_like.runs[experiment] = runs[runs["seed"] < left]
    found = paper_like.verdicts()
    assert set(found.values()) == {Verdict.REPRODUCED, Verdict.UNJUDGED}
    kept = {name for name in found if name.startswith(tuple(untouched))}
    assert kept <= {name for name, verdict in found.items() if verdict == Verdict.REPRODUCED}


def test_a_run_without_its_pair_leaves_a_claim_unjudged(paper_like) -> None:
    runs = paper_like.runs["golub_runs"]
    extra = runs[(runs["method"] == "eflops") & (runs["seed"] == 0)].assign(seed=30)
    paper_like.runs["golub_runs"] = pd.concat([runs, extra])
    assert paper_like.claim("golub-run") == Verdict.UNJUDGED


def test_runs_of_another_size_are_shown_but_not_judged(paper_like) -> None:
    paper_like.change("support_recovery", "parameters", 100, method="eflops")
    line = paper_like.card().line("table1/0.64/eflops")
    assert line.judgement.verdict == Verdict.UNJUDGED
    assert line.judgement.values[0].mean == pytest.approx(0.626)
    assert "1000" in line.judgement.reason


def test_only_the_configs_experiments_count_whatever_else_lies_in_the_folder(paper_like, targets: Path) -> None:
    paper_like.card()
    card = make.scorecard(paper_like.folder, targets, {}, ["golub_runs"], ["gene_frequency"])
    assert card.line("table1/0.64/eflops").judgement.verdict == Verdict.UNJUDGED
    assert card.line("golub-test/t").judgement.verdict == Verdict.REPRODUCED


def test_a_method_without_runs_leaves_the_other_cells_of_its_row_judged(paper_like) -> None:
    runs = paper_like.runs["support_recovery"]
    paper_like.runs["support_recovery"] = runs[runs["method"] != "centralized"]
    found = paper_like.verdicts()
    assert found["table1/1.00/centralized"] == Verdict.UNJUDGED
    assert found["table1/1.00/eflops"] == Verdict.REPRODUCED


def test_a_cell_with_a_diverged_run_is_at_best_direction_only_and_counts_it(paper_like) -> None:
    paper_like.change("support_recovery", "status", "diverged", method="eflops", ratio=0.64, seed=3)
    paper_like.change("support_recovery", "support_recovery", np.nan, method="eflops", ratio=0.64, seed=3)
    judgement = paper_like.card().line("table1/0.64/eflops").judgement
    assert judgement.verdict == Verdict.DIRECTION
    assert (judgement.values[0].n, judgement.values[0].diverged) == (30, 1)


def test_a_cell_whose_every_run_diverged_is_not_reproduced(paper_like) -> None:
    paper_like.change("support_recovery", "status", "diverged", method="fediht", ratio=0.24)
    paper_like.change("support_recovery", "support_recovery", np.nan, method="fediht", ratio=0.24)
    assert paper_like.verdicts()["table1/0.24/fediht"] == Verdict.FAILED


def test_a_t_of_another_size_is_direction_only_and_of_another_sign_not_reproduced(paper_like) -> None:
    paper_like.change("golub_runs", "accuracy", lambda accuracy: accuracy + 0.1, method="eflops")
    assert {line.judgement.verdict for line in ttest.lines(paper_like.evidence())} == {Verdict.DIRECTION}
    paper_like.change("golub_runs", "accuracy", lambda accuracy: accuracy - 0.2, method="eflops")
    assert {line.judgement.verdict for line in ttest.lines(paper_like.evidence())} == {Verdict.FAILED}


def test_the_spread_over_draws_stands_beside_the_spread_over_seeds(paper_like) -> None:
    paper_like.change("support_recovery", "support_recovery", lambda share: share + 0.01, method="eflops")
    card = paper_like.card()
    line = card.line("table1/0.64/eflops")
    assert line.draw_sd == pytest.approx(0.05)
    both = math.sqrt(line.paper.sd**2 + line.judgement.values[0].sd ** 2 + 2 * 0.05**2)
    assert line.with_draws == pytest.approx(line.difference / both)
    assert "3 draws" in card.uncertainty
    assert "0.050" in card.uncertainty
    del paper_like.runs["draws"]
    card = paper_like.card()
    assert card.line("table1/0.64/eflops").draw_sd is None
    assert "not run" in card.uncertainty


def test_markdown_json_and_html_agree_line_by_line(paper_like) -> None:
    del paper_like.runs["golub_splits"]
    paper_like.change("support_recovery", ["r2", "support_recovery"], 0.4, method="eflops", ratio=1.36)
    card = paper_like.card()
    paths = {suffix: paper_like.folder / f"scorecard.{suffix}" for suffix in ("md", "json", "html")}
    for path in paths.values():
        make.write(card, path)
    text, page, values = paths["md"].read_text(), paths["html"].read_text(), json.loads(paths["json"].read_text())
    from_json = {line["id"]: line["verdict"] for line in values["lines"]}
    rows = re.findall(r"^\| ((?:table\d|golub-test|claim)/[^|]*?) \|.*?\| \S ([a-z ]+?) \| ", text, re.MULTILINE)
    marks = re.findall(r'data-id="([^"]*)" data-verdict="([^"]*)"', page)
    assert len(rows) == len(marks) == len(from_json) == len(card.lines)
    assert dict(rows) == dict(marks) == from_json == paper_like.verdicts()
    assert values["counts"] == {str(verdict): list(from_json.values()).count(verdict) for verdict in Verdict}
    assert values["summary"] in text
    assert values["summary"] in page


def test_the_page_needs_no_network_and_names_every_verdict_in_words(paper_like) -> None:
    path = paper_like.folder / "scorecard.html"
    make.write(paper_like.card(), path)
    page = path.read_text()
    assert not re.search(r"https?://|<script|<link|url\(|src=", page)
    assert all(str(verdict) in page for verdict in Verdict)


def test_the_same_runs_give_the_same_bytes(paper_like) -> None:
    cards = {"first": paper_like.card(), "again": paper_like.card()}
    for suffix in ("md", "json", "html"):
        for name, card in cards.items():
            make.write(card, paper_like.folder / f"{name}.{suffix}")
        first, again = (paper_like.folder / f"{name}.{suffix}" for name in cards)
        assert first.read_bytes() == again.read_bytes()
