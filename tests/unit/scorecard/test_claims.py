"""The paper's claims: each fails when what it says does not hold, and is direction only when it holds by chance."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from eflops.analysis.scorecard.verdict import Verdict

# What makes each claim fail: experiment, column, new value, and which runs get it.
SPOILT: dict[str, list[tuple[str, str, Any, dict[str, Any]]]] = {
    "syn-r2": [("support_recovery", "r2", 0.4, {"method": "eflops", "ratio": 1.36})],
    "syn-r2-fedavg": [("support_recovery", "r2", 0.5, {"method": "eflops", "ratio": 0.64})],
    "syn-support": [("support_recovery", "support_recovery", 0.5, {"method": "eflops", "ratio": 0.64})],
    "syn-lr": [("rates_phi", "r2", 0.2, {"set_gate_rate": 0.9})],
    "mnist-acc": [("mnist", "accuracy", 0.86, {"method": "eflops"})],
    "mnist-comm": [
        ("mnist", "down_training", 1e6, {"method": "eflops"}),
        ("mnist", "last_round_training", 81, {"method": "eflops"}),
    ],
    "mnist-macs": [("mnist", "macs", 500, {"method": "eflops"})],
    "golub-run": [("golub_runs", "accuracy", 0.99, {"method": "fedavg"})],
    "golub-split": [("golub_splits", "accuracy", 0.99, {"method": "fediht"})],
}


@pytest.mark.parametrize("claim", SPOILT)
def test_a_claim_that_fails_is_reported_as_failed(claim: str, paper_like) -> None:
    for experiment, column, value, where in SPOILT[claim]:
        paper_like.change(experiment, column, value, **where)
    assert paper_like.claim(claim) == Verdict.FAILED


def test_a_gene_that_is_never_selected_is_not_among_the_most_selected(paper_like) -> None:
    genes = paper_like.tables["gene_frequency"]
    paper_like.tables["gene_frequency"] = genes[genes["gene"].isin(["cystatin C", "interleukin 8"])]
    found = paper_like.verdicts()
    assert found["claim/golub-genes"] == Verdict.FAILED
    assert found["table2/eflops/myeloperoxidase"] == Verdict.FAILED


def test_no_gene_is_reproduced_by_never_selecting_it(paper_like) -> None:
    genes = paper_like.tables["gene_frequency"]
    paper_like.tables["gene_frequency"] = genes.assign(frequency=0.0)
    numbers = {name: verdict for name, verdict in paper_like.verdicts().items() if name.startswith("table2/")}
    assert set(numbers.values()) == {Verdict.FAILED}


def test_genes_among_the_seven_but_not_the_three_are_direction_only(paper_like) -> None:
    genes = paper_like.tables["gene_frequency"]
    genes.loc[(genes["method"] == "eflops") & (genes["gene"] == "myeloperoxidase"), "frequency"] = 0.3
    assert paper_like.claim("golub-genes") == Verdict.DIRECTION


def test_a_better_mean_within_chance_is_direction_only(paper_like) -> None:
    for method in ("eflops", "fediht"):
        paper_like.change("golub_splits", "accuracy", 0.95, method=method)
    paper_like.change("golub_splits", "accuracy", 0.96, method="eflops", seed=0)
    assert paper_like.claim("golub-split") == Verdict.DIRECTION


def test_equal_differences_leave_nothing_to_test_and_are_direction_only(paper_like) -> None:
    paper_like.change("golub_splits", "accuracy", 14 / 15, method="eflops")
    paper_like.change("golub_splits", "accuracy", 13 / 15, method="fediht")
    paper_like.change("golub_splits", "accuracy", 12 / 15, method="fedavg")
    assert paper_like.claim("golub-split") == Verdict.DIRECTION


def test_an_order_with_a_diverged_run_is_direction_only(paper_like) -> None:
    paper_like.change("support_recovery", "status", "diverged", method="eflops", ratio=0.64, seed=3)
    paper_like.change("support_recovery", ["r2", "support_recovery"], np.nan, method="eflops", ratio=0.64, seed=3)
    for claim in ("syn-r2", "syn-support", "syn-r2-fedavg"):
        assert paper_like.claim(claim) == Verdict.DIRECTION


def test_a_lower_curve_in_most_training_rounds_is_direction_only(paper_like) -> None:
    curves = paper_like.curves["support_recovery"]
    early = (curves["phase"] == "training") & (curves["round"] == 1) & curves["record"].str.contains("eflops")
    more = curves[curves["round"] == 1].assign(round=0)
    curves.loc[early, "r2"] = -1.0
    more.loc[more["record"].str.contains("eflops"), "r2"] = -1.0
    paper_like.curves["support_recovery"] = pd.concat([more, curves])
    assert paper_like.claim("syn-r2-fedavg") == Verdict.DIRECTION


def test_another_first_method_where_the_paper_has_fedavg_makes_support_direction_only(paper_like) -> None:
    paper_like.change("support_recovery", "support_recovery", 0.5, method="eflops", ratio=0.24)
    assert paper_like.claim("syn-support") == Verdict.DIRECTION


def test_rates_that_do_not_reach_the_papers_ends_are_not_judged(paper_like) -> None:
    runs = paper_like.runs["rates_theta"]
    paper_like.runs["rates_theta"] = runs[runs["set_rate"] < 0.5]
    assert paper_like.claim("syn-lr") == Verdict.UNJUDGED


def test_a_scan_at_another_rate_than_the_papers_is_not_judged(paper_like) -> None:
    paper_like.runs["rates_phi"]["set_rate"] = 0.05
    assert paper_like.claim("syn-lr") == Verdict.UNJUDGED


def test_r2_that_sinks_but_is_not_lost_is_direction_only(paper_like) -> None:
    paper_like.change("rates_phi", "r2", 0.4, set_gate_rate=0.9)
    assert paper_like.claim("syn-lr") == Verdict.DIRECTION


def test_two_networks_that_learnt_nothing_are_not_similar(paper_like) -> None:
    paper_like.runs["mnist"]["accuracy"] = 0.1
    assert paper_like.claim("mnist-acc") == Verdict.FAILED


def test_a_network_two_points_better_is_direction_only(paper_like) -> None:
    paper_like.change("mnist", "accuracy", 0.92, method="eflops")
    assert paper_like.claim("mnist-acc") == Verdict.DIRECTION


def test_few_bytes_after_the_cut_alone_are_direction_only(paper_like) -> None:
    paper_like.change("mnist", "down_training", 1000, method="eflops")
    assert paper_like.claim("mnist-comm") == Verdict.DIRECTION
