"""The paper's claims: each differs when what it says does not hold, and is inconclusive when one draw decides."""

from typing import Any

import numpy as np
import pytest

from eflops.analysis.scorecard.claims import judge_claim
from eflops.analysis.scorecard.verdict import Verdict

# What makes each claim fail: experiment, column, new value, and which runs get it.
SPOILT: dict[str, list[tuple[str, str, Any, dict[str, Any]]]] = {
    "syn-r2": [("support_recovery", "r2", 0.4, {"method": "eflops", "ratio": 1.36})],
    "syn-r2-fedavg": [("support_recovery", "r2", 0.5, {"method": "eflops", "ratio": 0.64})],
    "syn-support": [("support_recovery", "support_recovery", 0.5, {"method": "eflops", "ratio": 0.64})],
    "syn-lr": [("rates_phi", "r2", 0.2, {"set_gate_rate": 0.9})],
    "mnist-acc": [("mnist", "accuracy", 0.84, {"method": "eflops"})],
    "mnist-comm": [("mnist", "down_training", 1e6, {"method": "eflops"})],
    "mnist-macs": [("mnist", "macs", 500, {"method": "eflops"})],
    "golub-run": [("golub_runs", "accuracy", 0.99, {"method": "fedavg"})],
    "golub-split": [("golub_splits", "accuracy", 0.99, {"method": "fedavg"})],
    "target-density": [("golub_splits", "open_gates", 5956, {"method": "eflops"})],
}


@pytest.mark.parametrize("claim", SPOILT)
def test_a_claim_that_fails_differs(claim: str, paper_like) -> None:
    for experiment, column, value, where in SPOILT[claim]:
        paper_like.change(experiment, column, value, **where)
    assert paper_like.claim(claim) == Verdict.DIFFERS


def test_a_better_mean_within_chance_cannot_be_told(paper_like) -> None:
    runs = paper_like.runs["golub_splits"]
    for method in ("fediht", "fediterht"):
        runs.loc[runs["method"] == method, "accuracy"] += 0.1 * (runs["draw"] % 2 - 0.5)
    assert paper_like.claim("golub-split") == Verdict.INCONCLUSIVE


def test_splits_that_overlap_need_a_larger_difference(paper_like) -> None:
    runs = paper_like.runs["golub_splits"]
    for method in ("fediht", "fediterht"):
        runs.loc[runs["method"] == method, "accuracy"] += 0.04 * (runs["draw"] % 2 - 0.5)
    # Thirty independent pairs would show it: .0138 with a standard deviation of .02 has t = 3.7.
    wide = runs[runs["method"].isin(["eflops", "fediht"])].groupby(["draw", "method"])["accuracy"].mean().unstack()
    difference = wide["eflops"] - wide["fediht"]
    assert difference.mean() / (difference.std() / np.sqrt(30)) > 3
    assert paper_like.claim("golub-split") == Verdict.INCONCLUSIVE


def test_two_meanings_of_the_baselines_name_stand_there_both(paper_like) -> None:
    paper_like.change("support_recovery", "r2", 0.9, method="fediterht")
    assert paper_like.claim("syn-r2") == Verdict.INCONCLUSIVE
    reason = paper_like.reason("syn-r2")
    assert "Against Fed-IHT agrees: " in reason
    assert "Against FedIter-HT differs: " in reason


def test_margin_family_and_draws_are_printed(paper_like) -> None:
    assert "(7 comparisons: R2 at each N/d; margin 0.02; 12 draws.)" in paper_like.reason("syn-r2")


def test_auc_stands_beside_accuracy(paper_like) -> None:
    assert "AUC: Fed-IHT +0.014 " in paper_like.reason("golub-split")


def test_what_one_draw_turns_cannot_be_told(paper_like) -> None:
    # Without draw 0 every draw has the same accuracy; with it the mean is 3 points lower and hardly known.
    paper_like.change("mnist", "accuracy", 0.89, status="finished")
    assert paper_like.claim("mnist-acc") == Verdict.AGREES
    paper_like.change("mnist", "accuracy", 0.883, method="eflops")
    paper_like.change("mnist", "accuracy", 0.85, method="eflops", draw=0)
    assert paper_like.claim("mnist-acc") == Verdict.INCONCLUSIVE


def test_a_claim_of_order_with_a_diverged_run_of_e_flops_cannot_be_told(paper_like) -> None:
    paper_like.diverge("support_recovery", ["r2", "support_recovery"], method="eflops", ratio=0.64, draw=3, seed=1)
    for claim in ("syn-r2", "syn-support", "syn-r2-fedavg"):
        assert paper_like.claim(claim) == Verdict.INCONCLUSIVE
        assert "1 runs of E-FLoPS diverged" in paper_like.reason(claim)


def test_a_lower_curve_in_most_training_rounds_is_not_above_during_training(paper_like) -> None:
    curves = paper_like.curves["support_recovery"]
    early = (curves["phase"] == "training") & (curves["round"] == 50) & curves["record"].str.contains("/eflops/")
    curves.loc[early, "r2"] = -1.0
    assert paper_like.claim("syn-r2-fedavg") == Verdict.INCONCLUSIVE
    assert "share of training rounds above +0.500" in paper_like.reason("syn-r2-fedavg")


def test_rates_that_do_not_reach_the_papers_ends_are_not_judged(paper_like) -> None:
    runs = paper_like.runs["rates_theta"]
    paper_like.runs["rates_theta"] = runs[runs["set_rate"] < 0.5]
    assert paper_like.claim("syn-lr") == Verdict.UNJUDGED


def test_a_scan_at_another_rate_than_the_papers_is_not_judged(paper_like) -> None:
    paper_like.runs["rates_phi"]["set_rate"] = 0.05
    assert paper_like.claim("syn-lr") == Verdict.UNJUDGED


def test_a_rate_at_which_runs_diverge_is_not_stable(paper_like) -> None:
    paper_like.diverge("rates_phi", ["r2"], set_gate_rate=0.9)
    assert paper_like.claim("syn-lr") == Verdict.DIFFERS


def test_two_networks_that_learnt_nothing_are_not_similar(paper_like) -> None:
    paper_like.runs["mnist"]["accuracy"] = 0.1
    assert paper_like.claim("mnist-acc") == Verdict.DIFFERS


def test_bytes_in_the_reversed_order_differ(paper_like) -> None:
    paper_like.change("mnist", "down_training", 5000, method="eflops")
    assert paper_like.claim("mnist-comm") == Verdict.DIFFERS
    assert "In the last training round it sends 2.00 and 0.060 of their bytes." in paper_like.reason("mnist-comm")


def test_a_gene_that_is_never_selected_is_not_among_the_most_selected(paper_like) -> None:
    kept = paper_like.supports["golub_splits"]
    kept.loc[kept["record"].str.contains("/eflops/"), "support"] = "0 1 2 3"
    assert paper_like.claim("golub-genes") == Verdict.DIFFERS


def test_open_gates_near_the_limit_cannot_be_told(paper_like) -> None:
    runs = paper_like.runs["mnist"]
    runs["open_gates"] = 2220 + 300 * (runs["draw"] - 2.5)
    assert paper_like.claim("target-density") == Verdict.INCONCLUSIVE


def test_sparse_messages_that_cost_recovery_or_fall_behind_the_baseline_differ(paper_like) -> None:
    """Both claims are about the regime itself, so Table 1's lead does not save them."""
    paper_like.change("sparse_both", "support_recovery", lambda values: values - 0.2, method="eflops")
    assert paper_like.claim("sparse-performance") == Verdict.DIFFERS
    assert paper_like.claim("sparse-fediht") == Verdict.DIFFERS
    assert paper_like.claim("syn-support") == Verdict.AGREES
    assert "Bytes of training: " in paper_like.reason("sparse-fediht")


def test_a_small_loss_by_sparse_messages_is_no_compromise(paper_like) -> None:
    paper_like.change("sparse_both", ["support_recovery", "r2"], lambda values: values - 0.005, method="eflops")
    assert paper_like.claim("sparse-performance") == Verdict.AGREES


def test_four_times_the_baselines_bytes_are_not_comparable(paper_like) -> None:
    assert paper_like.claim("syn-comm") == Verdict.AGREES
    (ground, *_) = judge_claim("syn-comm", paper_like.evidence()).grounds
    assert "% of dense), E-FLoPS / " in ground.effect
    paper_like.change("support_recovery", "down_training", 400_000, method="eflops")
    assert paper_like.claim("syn-comm") == Verdict.DIFFERS
