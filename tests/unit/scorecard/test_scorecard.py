"""The scorecard as a whole: complete, honest about what is missing, and the same in both forms."""

import json
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from eflops.analysis.needs import judges, needs
from eflops.analysis.paper import Paper
from eflops.analysis.scorecard import claims, make
from eflops.analysis.scorecard.verdict import Verdict
from paper_like import golub, golub_supports, line_of, synthetic


def test_runs_like_the_papers_agree_with_everything(paper_like) -> None:
    card = paper_like.card()
    other = {line.id: line.judgement for line in card.lines if line.judgement.verdict != Verdict.AGREES}
    assert other == {}
    assert card.summary.startswith("Of Table 1's 28 numbers, 28 agree. Of its 4 columns, tested jointly, 4 agree. ")
    assert card.summary.endswith("Of 1 paired t-test, 1 agrees. Of 14 claims, 14 agree.")


def test_every_number_and_claim_of_the_paper_appears_exactly_once(paper: Paper, nothing_run) -> None:
    cells = [(ratio, method) for ratio, row in paper.recovery.items() for method in row]
    expected = [f"table1/{ratio:.2f}/{method}" for ratio, method in cells]
    expected += [f"table1-difference/{ratio:.2f}/{method}" for ratio, method in cells if method != "eflops"]
    expected += [f"table1-column/{method}" for method in paper.recovery_methods]
    expected += [f"table1-spread/{method}" for method in paper.recovery_methods]
    expected += [f"table2/{method}/{gene}" for method, column in paper.genes.items() for gene in column]
    expected += [f"table2-list/{method}" for method in paper.genes]
    expected += ["golub-test/t", *(f"claim/{claim}" for claim in paper.claims)]
    assert Counter(line.id for line in nothing_run.card().lines) == Counter(expected)
    assert len(expected) == 28 + 4 + 21 + 4 + 28 + 4 + 1 + 14


def test_nothing_is_judged_without_runs_and_every_line_says_why(nothing_run) -> None:
    card = nothing_run.card()
    assert card.counts[Verdict.UNJUDGED] == len(card.lines)
    assert all("was not" in line.judgement.reason for line in card.lines)


def test_every_claim_has_one_check_and_every_check_one_claim(paper: Paper, targets: Path) -> None:
    assert list(claims.CHECKS) == list(paper.claims)
    for name in paper.claims:
        assert callable(getattr(import_module(claims.module_of(name)), name.replace("-", "_")))
    modules = {f"{claims.__name__}.{path.stem}" for path in Path(claims.__file__).parent.glob("[a-z]*.py")}
    assert modules <= set(judges(targets))


def test_what_the_judges_read_is_known_without_running_them(targets: Path) -> None:
    assert {"support_recovery", "nearest", "golub_splits", "golub_nearest", "mnist"} <= set(needs(targets))


@pytest.mark.parametrize(
    ("experiment", "untouched"),
    [
        ("support_recovery", {"table2", "golub-test", "claim/golub-run", "claim/mnist-acc", "claim/syn-lr"}),
        ("golub_runs", {"table1", "table2", "claim/syn-r2", "claim/golub-split"}),
        ("golub_splits", {"table1", "claim/golub-run"}),
        ("rates_phi", {"table1", "table2", "golub-test", "claim/syn-r2"}),
        ("mnist", {"table1", "table2", "golub-test", "claim/syn-r2"}),
    ],
)
def test_a_missing_run_makes_what_needs_it_not_judged_and_nothing_else(
    experiment: str, untouched: set[str], paper_like
) -> None:
    runs = paper_like.runs[experiment]
    last = (runs["method"] == "eflops") & (runs["seed"] == runs["seed"].max()) & (runs["draw"] == runs["draw"].max())
    paper_like.runs[experiment] = runs.drop(index=runs.index[last][0])
    verdicts = paper_like.verdicts()
    assert set(verdicts.values()) == {Verdict.AGREES, Verdict.UNJUDGED}
    kept = {name for name in verdicts if name.startswith(tuple(untouched))}
    assert kept <= {name for name, verdict in verdicts.items() if verdict == Verdict.AGREES}


def test_runs_of_another_size_are_not_judged(paper_like) -> None:
    paper_like.change("support_recovery", "parameters", 100, method="eflops")
    line = line_of(paper_like.card(), "table1/0.64/eflops")
    assert line.judgement.verdict == Verdict.UNJUDGED
    assert "1000" in line.judgement.reason


def test_only_the_configs_experiments_count_whatever_else_lies_in_the_folder(paper_like, targets: Path) -> None:
    paper_like.card()
    card = make.scorecard(paper_like.folder, targets, {}, ["golub_runs", "golub_splits"])
    assert line_of(card, "table1/0.64/eflops").judgement.verdict == Verdict.UNJUDGED
    assert line_of(card, "golub-test/t").judgement.verdict == Verdict.AGREES


def test_a_method_without_runs_leaves_the_other_cells_of_its_row_judged(paper_like) -> None:
    runs = paper_like.runs["support_recovery"]
    paper_like.runs["support_recovery"] = runs[runs["method"] != "centralized"]
    verdicts = paper_like.verdicts()
    assert verdicts["table1/1.00/centralized"] == verdicts["table1-difference/1.00/centralized"] == Verdict.UNJUDGED
    assert verdicts["table1/1.00/eflops"] == verdicts["table1-difference/1.00/fedavg"] == Verdict.AGREES


def test_one_method_alone_is_judged_as_far_as_it_goes(paper_like) -> None:
    paper_like.runs = {name: runs[runs["method"] == "eflops"] for name, runs in paper_like.runs.items()}
    verdicts = paper_like.verdicts()
    assert (
        verdicts["table1/0.64/eflops"] == verdicts["claim/syn-lr"] == verdicts["table2-list/eflops"] == Verdict.AGREES
    )
    assert verdicts["table1/0.64/fedavg"] == verdicts["golub-test/t"] == verdicts["claim/mnist-acc"] == Verdict.UNJUDGED


def test_one_seed_per_draw_leaves_only_spreads_and_t_untold(paper: Paper, paper_like) -> None:
    for name in ("support_recovery", "golub_splits", "mnist"):
        runs = paper_like.runs[name]
        paper_like.runs[name] = runs[runs["seed"] == 0]
    paper_like.runs["support_recovery"], paper_like.curves["support_recovery"] = synthetic(paper, seeds=1)
    verdicts = paper_like.verdicts()
    assert verdicts["table1/0.64/eflops"] == Verdict.AGREES
    assert verdicts["table1-spread/eflops"] == Verdict.INCONCLUSIVE
    assert verdicts["golub-test/t"] == Verdict.UNJUDGED


def test_one_draw_alone_is_not_judged_and_says_so(paper_like) -> None:
    for name in ("support_recovery", "golub_splits", "mnist", "rates_theta"):
        runs = paper_like.runs[name]
        paper_like.runs[name] = runs[runs["draw"] == 0]
    card = paper_like.card()
    judged_lines = {line.id for line in card.lines if line.judgement.verdict != Verdict.UNJUDGED}
    assert judged_lines == {"claim/golub-run", "claim/sparse-fediht"}
    assert line_of(card, "table1/0.64/eflops").judgement.reason == "support_recovery has 1 draw; 2 are needed."


def test_runs_that_all_diverged_differ_or_say_so(paper_like) -> None:
    for name in ("support_recovery", "golub_splits", "golub_runs", "mnist", "rates_theta"):
        runs = paper_like.runs[name].assign(status="diverged")
        paper_like.runs[name] = runs.drop(columns=["r2", "support_recovery", "accuracy", "auc"], errors="ignore")
    line = line_of(paper_like.card(), "table1/0.64/eflops")
    assert line.judgement.reason == "Every run of support_recovery diverged."
    assert line.judgement.verdict == Verdict.UNJUDGED


def test_a_cell_whose_every_run_diverged_differs_beside_others_that_agree(paper_like) -> None:
    paper_like.diverge("support_recovery", ["support_recovery", "r2"], method="fediht", ratio=0.24)
    card = paper_like.card()
    line = line_of(card, "table1/0.24/fediht")
    assert line.judgement.verdict == Verdict.DIFFERS
    assert "every run diverged" in line.judgement.reason
    assert line_of(card, "table1/0.24/eflops").judgement.verdict == Verdict.AGREES


def test_a_few_diverged_runs_are_counted_and_decide_nothing_alone(paper_like) -> None:
    paper_like.diverge("support_recovery", ["support_recovery", "r2"], method="eflops", ratio=0.64, draw=3, seed=1)
    judgement = line_of(paper_like.card(), "table1/0.64/eflops").judgement
    assert (judgement.verdict, judgement.values[0].diverged) == (Verdict.AGREES, 1)
    paper_like.diverge("support_recovery", ["support_recovery", "r2"], method="fediht", ratio=1.36, draw=3)
    paper_like.diverge("support_recovery", ["support_recovery", "r2"], method="fediht", ratio=1.36, draw=4)
    judgement = line_of(paper_like.card(), "table1/1.36/fediht").judgement
    assert judgement.verdict == Verdict.INCONCLUSIVE
    assert "changes the verdict" in judgement.reason


def test_a_number_that_differs_may_agree_at_nearest_settings(paper: Paper, paper_like) -> None:
    paper_like.change("support_recovery", "support_recovery", lambda share: share + 0.2, method="fedavg", ratio=0.64)
    assert paper_like.verdicts()["table1/0.64/fedavg"] == Verdict.DIFFERS
    near = synthetic(paper, draws=10, seeds=1)[0].assign(experiment="nearest")
    paper_like.runs["nearest"] = near[near["method"] != "fediterht"]
    line = line_of(paper_like.card(), "table1/0.64/fedavg")
    assert line.judgement.verdict == Verdict.NEAREST
    assert [round(value.mean, 3) for value in line.judgement.values] == [0.766, 0.566]
    assert line.difference == pytest.approx(0.2)


def test_shares_and_lists_may_agree_at_nearest_settings(paper: Paper, paper_like) -> None:
    kept = paper_like.supports["golub_splits"]
    # FedAvg keeps ten genes that the paper's column has not.
    other = kept["record"].str.contains("/fedavg/")
    kept.loc[other, "support"] = "0 1 2 3 4 5 6"
    verdicts = paper_like.verdicts()
    assert verdicts["table2/fedavg/cystatin C"] == verdicts["table2-list/fedavg"] == Verdict.DIFFERS
    near = golub("golub_nearest", 10, 10)
    paper_like.runs["golub_nearest"] = near
    paper_like.supports["golub_nearest"] = golub_supports(near, paper)
    verdicts = paper_like.verdicts()
    assert verdicts["table2/fedavg/cystatin C"] == verdicts["table2-list/fedavg"] == Verdict.NEAREST


def test_shares_that_the_split_decides_cannot_be_told(paper_like) -> None:
    kept = paper_like.supports["golub_splits"]
    odd = kept["record"].str.contains(r"/eflops/draw\d*[13579]-")
    kept.loc[odd, "support"] = ""
    assert paper_like.verdicts()["table2/eflops/interleukin 8"] == Verdict.INCONCLUSIVE


def test_a_spread_of_another_size_differs(paper_like) -> None:
    runs = paper_like.runs["support_recovery"]
    dense = runs["method"] == "fedavg"
    mean = runs.groupby(["ratio", "method", "draw"])["support_recovery"].transform("mean")
    runs.loc[dense, "support_recovery"] = mean + 0.2 * (runs["support_recovery"] - mean)
    judgement = line_of(paper_like.card(), "table1-spread/fedavg").judgement
    assert judgement.verdict == Verdict.DIFFERS
    assert "is 0.04" in judgement.reason


def test_t_differs_where_the_other_method_is_better_and_cannot_be_told_where_splits_decide(paper_like) -> None:
    paper_like.change("golub_splits", "accuracy", lambda accuracy: accuracy - 0.1, method="eflops")
    assert paper_like.verdicts()["golub-test/t"] == Verdict.DIFFERS
    paper_like.change("golub_splits", "accuracy", lambda accuracy: accuracy + 0.1, method="eflops")
    runs = paper_like.runs["golub_splits"]
    runs.loc[runs["method"] == "eflops", "accuracy"] += 0.02 * (runs["draw"] % 5 - 2)
    judgement = line_of(paper_like.card(), "golub-test/t").judgement
    assert judgement.verdict == Verdict.INCONCLUSIVE
    assert "t(29) = 3.79, p 0.00071 against Fed-IHT" in judgement.reason


def test_how_many_numbers_chance_puts_outside_is_told(paper_like) -> None:
    chance = paper_like.card().chance
    assert chance.startswith(
        "Of the 28 numbers 1.4 are expected outside by chance; each of our 12 draws, compared with the"
    )


def test_both_forms_agree_line_by_line(paper_like) -> None:
    del paper_like.runs["golub_splits"]
    paper_like.change("support_recovery", ["r2", "support_recovery"], 0.4, method="eflops", ratio=1.36)
    card = paper_like.card()
    paths = {suffix: paper_like.folder / f"scorecard.{suffix}" for suffix in ("md", "json")}
    for path in paths.values():
        make.write(card, path)
    text, values = paths["md"].read_text(), json.loads(paths["json"].read_text())
    from_json = {line["id"]: line["verdict"] for line in values["lines"]}
    rows = re.findall(r"^\| \[([^|\]]+/[^|\]]+)\]\([^|]+?\) \|.*?\| \S ([a-z ]+?) \| ", text, re.MULTILINE)
    assert len(rows) == len(from_json) == len(card.lines)
    assert dict(rows) == from_json == paper_like.verdicts()
    assert values["counts"] == {str(verdict): list(from_json.values()).count(verdict) for verdict in Verdict}
    assert values["summary"] in text
    assert values["chance"] in text


def test_both_readings_of_the_papers_fed_iht_have_a_label(paper_like) -> None:
    labels = paper_like.card().as_json()["labels"]
    assert (labels["fediht"], labels["fediterht"]) == ("Fed-IHT", "FedIter-HT")


def test_the_same_runs_give_the_same_bytes(paper_like) -> None:
    cards = {"first": paper_like.card(), "again": paper_like.card()}
    for suffix in ("md", "json"):
        for name, card in cards.items():
            make.write(card, paper_like.folder / f"{name}.{suffix}")
        first, again = (paper_like.folder / f"{name}.{suffix}" for name in cards)
        assert first.read_bytes() == again.read_bytes()


def test_a_run_without_its_pair_leaves_a_claim_unjudged(paper_like) -> None:
    runs = paper_like.runs["golub_runs"]
    extra = runs[(runs["method"] == "eflops") & (runs["seed"] == 0)].assign(seed=30)
    paper_like.runs["golub_runs"] = pd.concat([runs, extra])
    assert paper_like.claim("golub-run") == Verdict.UNJUDGED


def test_the_papers_t_stands_beside_ours_at_one_split_and_over_splits(paper_like) -> None:
    (line,) = [line for line in paper_like.card().lines if line.id == "golub-test/t"]
    reason = line.judgement.reason
    assert reason.startswith(
        "The paper has t(29) = 3.79, p 0.0007; at our split t(29) = 3.79, p 0.00071 against Fed-IHT"
    )
    assert "Over our 30 splits t ranges from 2.9 to 4.7" in reason
