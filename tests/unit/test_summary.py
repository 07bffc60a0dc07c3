"""The closing summary: its numbers and words follow the scorecard and the tables."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import pytest
from docutils import nodes
from docutils.core import publish_doctree

from eflops.analysis.needs import (
    BEYOND,
    BYTES,
    COMMUNICATION,
    FEEDBACK,
    GENE_GATES,
    RECOVERY,
    REGIMES,
    SCALING,
    SCORECARD,
    SEARCHED,
    TEMPERATURE,
    TEMPERATURE_GOLUB,
    TEMPERATURE_MNIST,
    UNIT_GATES,
)
from eflops.analysis.scorecard.sections import SECTIONS
from eflops.analysis.source import Source
from eflops.analysis.summary.effects import tau
from eflops.analysis.summary.point import HEADLINES, Summary
from eflops.analysis.summary.write import closing, form, summarise
from eflops.errors import UserError

MINUS = "\N{MINUS SIGN}"


@pytest.fixture
def made(tmp_path: Path) -> Source:
    """A results folder with a scorecard that has no line."""
    for folder in ("tables", "figures"):
        (tmp_path / folder).mkdir()
    return write_card(Source(tmp_path, files=frozenset({SCORECARD})))


def write_card(made: Source, *lines: dict[str, Any], **facts: list[dict[str, Any]]) -> Source:
    """The same folder with these lines in its scorecard."""
    empty = {"id": "", "row": "", "column": "", "text": "", "reason": "", "ours": [], "difference": None}
    full = [empty | line for line in lines]
    counts: dict[str, dict[str, int]] = {section.name: {} for section in SECTIONS}
    for line in full:
        verdicts = counts[line["section"]]
        verdicts[line["verdict"]] = verdicts.get(line["verdict"], 0) + 1
    card = {"lines": full, "sections": counts, "chance": "By chance.", "labels": {"fedavg": "FedAvg"}}
    card["facts"] = {"entropy": [], "nearest": [], "lists": [], **facts}
    (made.results / SCORECARD).write_text(json.dumps(card))
    return made


def claim(verdict: str, *grounds: dict[str, Any], name: str = "claim/it", **line: Any) -> dict[str, Any]:
    """A line about a claim; grounds: what differs from a single comparison."""
    usual = {
        "verdict": verdict,
        "figure": "its lead is +0.2 (+0.1 to +0.3), over 6 draws",
        "effect": "its lead is +0.2 (+0.1 to +0.3)",
        "failing": 0,
        "of": 1,
        "because": "",
        "against": "",
    }
    rationales = [usual | ground for ground in grounds or ({},)]
    return {"id": name, "section": "Claims", "short": "It wins", "verdict": verdict, "grounds": rationales} | line


def having(made: Source, path: str, rows: list[dict[str, object]]) -> Source:
    """The same folder with one more table."""
    pd.DataFrame(rows).to_csv(made.results / path, index=False)
    return Source(made.results, files=made.files | {path})


def points(made: Source, subject: str) -> list[str]:
    """What the summary says of a subject, point by point."""
    return [point.text for each in summarise(made).subjects if each.name == subject for point in each.points]


def trials_of(made: Source, name: str, rows: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> Source:
    """The same folder beside the trials of a search."""
    path = made.results / "resources" / "search" / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)
    monkeypatch.setattr("eflops.analysis.source.locate", lambda file: made.results / file)
    return Source(made.results, files=made.files, resources=(f"resources/search/{name}.csv",))


def test_verdicts_are_counted_in_a_sentence_per_section(made: Source) -> None:
    write_card(
        made,
        {"section": "Table 1", "verdict": "agrees"},
        {"section": "Table 1", "verdict": "agrees at nearest settings"},
        {"section": "Table 1, spreads", "verdict": "agrees"},
        claim("agrees"),
    )
    assert points(made, "The paper's numbers and claims") == [
        "Of Table 1's 2 numbers, 1 agrees and 1 agrees at nearest settings. Of its 0 columns, tested jointly, "
        "none is judged. Of Table 2's 0 shares, none is judged.",
        "Of 1 claims, 1 agrees.",
    ]


def test_a_claim_that_holds_has_its_weakest_comparison(made: Source) -> None:
    write_card(made, claim("agrees"), claim("agrees", {"of": 3}))
    assert points(made, "Holds") == [
        "It wins: its lead is +0.2 (+0.1 to +0.3), over 6 draws.",
        "It wins. In the weakest of 3 comparisons, its lead is +0.2 (+0.1 to +0.3), over 6 draws.",
    ]


def test_a_claim_that_does_not_hold_is_told_with_what_we_think_is_the_reason(made: Source) -> None:
    write_card(made, claim("differs", {"because": "it is so", "failing": 1, "of": 2}))
    assert points(made, "Does not hold") == [
        "Claim: It wins. Our runs: its lead is +0.2 (+0.1 to +0.3), over 6 draws. The likely reason: it is so."
    ]
    write_card(made, claim("differs", reason="It loses.", grounds=[]))
    assert points(made, "Does not hold") == ["Claim: It wins. Our runs: It loses."]


def test_of_numbers_that_differ_the_furthest_is_told_with_its_interval(made: Source) -> None:
    line = {"section": "Table 1", "verdict": "differs", "column": "fedavg", "paper": {"value": 0.5, "sd": None}}
    value = {"name": "fedavg", "mean": 0.2, "low": 0.1, "high": 0.3}
    near, far = ({"row": row, "difference": size, "ours": [value]} for row, size in (("0.64", 0.1), ("1.00", -0.3)))
    agreeing = {"section": "Table 1", "verdict": "agrees"}
    write_card(made, line | near, line | far, agreeing)
    assert points(made, "Does not hold") == [
        "Table 1: 2 of 3 differ. The furthest is FedAvg, N/d 1.00, with 0.200 (0.100 to 0.300) here and 0.500 in the "
        "paper."
    ]
    diverged = {"ours": [value | {"mean": None, "low": None, "high": None}], "row": "0.64"}
    write_card(made, line | diverged)
    assert points(made, "Does not hold")[0].startswith(
        "Table 1: 1 of 1 differs: FedAvg, N/d 0.64, with \N{EN DASH} here"
    )


def test_columns_that_differ_as_wholes_are_named_with_their_p(made: Source) -> None:
    line = {"section": "Table 1, columns", "id": "table1-column/fedavg", "column": "fedavg", "paper": None}
    write_card(made, line | {"verdict": "differs", "ours": [{"mean": 0.0051}]}, line | {"verdict": "agrees"})
    assert points(made, "Does not hold") == ["Table 1, columns tested jointly: 1 of 2 differs: FedAvg (p 0.0051)."]


def test_inconclusive_claims_say_why(made: Source) -> None:
    turns = {"failing": 1, "of": 7}
    names = [{"verdict": "agrees", "against": "Fed-IHT"}, {"verdict": "differs", "against": "FedIter-HT"}]
    write_card(
        made,
        claim("inconclusive", short="A"),
        claim("inconclusive", turns, short="B"),
        claim("inconclusive", *names, short="C"),
        claim("inconclusive", {"of": 3}, short="D"),
    )
    figure = "its lead is +0.2 (+0.1 to +0.3), over 6 draws."
    assert points(made, "Inconclusive") == [
        f"Claim: A. Our runs: {figure}",
        f"Claim: B. 1 of 7 comparisons do not show it. In the weakest, {figure}",
        f"Claim: C. Against Fed-IHT it holds: {figure} Against FedIter-HT it does not hold: {figure} The paper uses "
        "both names for one method.",
        f"Claim: D. Our runs: {figure}",
    ]


def lists(shared: int, *missing: tuple[str, float, float], settings: str = "searched") -> dict[str, Any]:
    """What is known of the list of E-FLoPS."""
    lacking = [dict(zip(("gene", "ours", "paper"), each, strict=True)) for each in missing]
    counts = {"genes": 7, "among_ours": 5.59, "with_paper": 4.03, "shared": shared}
    return {"method": "eflops", "settings": settings, **counts, "missing": lacking}


def test_the_genes_that_are_missing_are_named_with_their_shares(made: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    outlier = {"id": "table2-list/eflops", "section": "Table 2, lists", "column": "eflops", "verdict": "differs"}
    first, second = ("ferritin", 0.06, 0.8), ("defensin", 0.0, 0.43)
    write_card(made, outlier, lists=[lists(4, first, second), lists(4, first, second, settings="nearest")])
    assert not points(made, "Does not hold")
    texts = points(made, "Selected genes, Table 2")
    assert texts == [
        "The paper's list of eflops is an outlier. The lists of two of our splits share 5.6 of 7 genes on average; the "
        "paper's list and one of ours share 4.0.",
        "Of the paper's 7 genes of eflops, 4 are among our 7.",
        "Missing, with the share of our runs and of the paper's: ferritin (0.06 and 0.80); defensin (0.00 and 0.43).",
        "At nearest settings, 4 of the 7 are. The same are missing.",
    ]
    write_card(made, outlier | {"verdict": "agrees"}, lists=[lists(6, first), lists(7, settings="nearest")])
    assert points(made, "Selected genes, Table 2")[2:] == ["At nearest settings, 7 of the 7 are. Missing: none."]
    row = {"method": "eflops", "share@ferritin": 0.3}
    trials = trials_of(made, "golub", [row | {"listed": 5}, row | {"listed": 4}], monkeypatch)
    best = "Of the search's {} settings, none has more than 5 of the 7 genes; 1 setting has 5."
    assert points(trials, "Selected genes, Table 2")[3:] == [
        "None of the search's 2 settings selects ferritin in more than 0.30 of its runs.",
        best.format(2),
    ]
    trials = trials_of(made, "golub", [row | {"listed": 5, "share@ferritin": 0.9}], monkeypatch)
    assert points(trials, "Selected genes, Table 2")[3:] == [best.format(1)]
    assert len(points(trials_of(made, "golub", [row], monkeypatch), "Selected genes, Table 2")) == 3


def test_what_is_not_judged_is_counted_with_the_usual_reason(made: Source) -> None:
    small = {"section": "Table 1", "verdict": "not judged", "reason": "It is too small."}
    write_card(made, small, small, {"section": "Table 2", "verdict": "not judged", "reason": "It was not run."})
    assert points(made, "Not judged") == ["3 of 3 numbers and claims; most frequent reason: It is too small."]


def test_the_constraint_is_told_from_its_claim_by_kind_of_data(made: Source) -> None:
    subject = "The constraint on open gates"
    assert not points(made, subject)
    values = [
        {"data": "synthetic", "at": f"N/d {ratio}", "scale": "times the target"}
        | {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}
        for ratio, mean in (("0.24", 2.5), ("0.64", 1.5), ("2.00", 1.1))
    ]
    leukaemia = {"data": "leukaemia", "at": "", "scale": "times the target"}
    values.append(leukaemia | {"mean": 7.8, "low": 7.8, "high": 7.8})
    write_card(made, claim("differs", name="claim/target-density", ours=values))
    first, second = points(made, subject)
    assert first == ("Open gates exceed our limits: at most 2 times the target; on leukaemia data, 1% of all gates.")
    assert second == (
        "Open gates after training, in times of the target: synthetic 1.1 (1 to 1.2) at N/d 2.00 to 2.5 (2.4 to 2.6) "
        "at N/d 0.24; leukaemia 7.8."
    )
    assert not points(made, "Does not hold")
    write_card(made, claim("agrees", name="claim/target-density", ours=values))
    assert points(made, subject)[0].startswith("Open gates end within our limits: ")


def effect(metric: str, temperature: float, mean: float, **cell: object) -> dict[str, object]:
    """A row of the table of T: an effect with an interval of +- .01."""
    clear = 1e-9 if abs(mean) > 0.01 else 0.5
    row = {"metric": metric, "by": "all", "group": "all settings", "ratio": None, "temperature": temperature}
    return row | {"mean": mean, "low": mean - 0.01, "high": mean + 0.01, "p": clear, "settings": 128} | cell


def by_ratio(*means: tuple[float, float]) -> list[dict[str, object]]:
    """Effects of T = .01 and .1 on R2 at N/d .24 and 1.36, and the first less the second."""
    rows = [
        effect("r2", temperature, mean, by="N/d", group=f"N/d {ratio}", ratio=ratio)
        for ratio, of_ratio in zip((0.24, 1.36), means, strict=True)
        for temperature, mean in zip((0.01, 0.1), of_ratio, strict=True)
    ]
    contrasts = [one - other for one, other in zip(*means, strict=True)]
    return rows + [effect("r2", t, size, by="contrast") for t, size in zip((0.01, 0.1), contrasts, strict=True)]


def test_entropy_is_summed_up_by_the_best_T_by_N_over_d_and_by_data(made: Source) -> None:
    assert not points(made, "Entropy")
    rows = [effect(metric, *each) for metric in ("support_recovery", "r2") for each in ((0.01, 0.02), (0.1, -0.05))]
    rows += by_ratio((-0.005, 0.03), (0.004, -0.06))
    over_all, sizes, advice = points(having(made, TEMPERATURE, rows), "Entropy")
    assert over_all == (
        "The best T above 0 is 0.01: compared with T = 0, it changes test R2 by +0.020 (+0.010 to +0.030) and support "
        "recovery by +0.020 (+0.010 to +0.030), averaged over 128 settings and all N/d."
    )
    assert sizes == (
        "T clearly raises test R2 at N/d 0.24, by +0.030 (+0.020 to +0.040) with T = 0.1; it clearly lowers it at N/d "
        f"1.36, with T of at least 0.1, by {MINUS}0.060 ({MINUS}0.070 to {MINUS}0.050) with T = 0.1."
    )
    assert advice == "The paper's advice to raise T as N decreases holds."


@pytest.mark.parametrize(
    ("golub", "mnist", "words"),
    [
        (-0.002, 0.001, "no T clearly changes accuracy: the clearest changes are"),
        (-0.002, 0.1, "some T clearly changes accuracy on MNIST alone: the clearest changes are"),
        (-0.02, 0.1, "some T clearly changes accuracy on leukaemia data and MNIST: the clearest changes are"),
        (None, 0.001, "no T clearly changes accuracy: the clearest change is"),
    ],
)
def test_entropy_in_overparameterised_models_is_clear_or_not_by_data(
    made: Source, golub: float | None, mnist: float, words: str
) -> None:
    if golub is not None:
        made = having(made, TEMPERATURE_GOLUB, [effect("accuracy", 0.01, golub)])
    (text,) = points(having(made, TEMPERATURE_MNIST, [effect("accuracy", 1e-5, mnist)]), "Entropy")
    assert f"In overparameterised models, which the paper leaves for future work, {words} " in text
    assert text.endswith(f"+{mnist:.3f} ({mnist - 0.01:+.3f} to {mnist + 0.01:+.3f}) on MNIST.".replace("-", MINUS))


@pytest.mark.parametrize(
    ("means", "words"),
    [
        (((-0.03, -0.05), (0.02, 0.03)), "does not hold"),
        (((-0.03, -0.05), (-0.02, -0.03)), "does not hold"),
        (((0.02, 0.005), (0.03, 0.02)), "does not hold"),
        (((0.0, 0.005), (0.003, 0.002)), "is undecided"),
    ],
)
def test_the_advice_on_T_is_judged_whichever_way_the_effects_go(
    made: Source, means: tuple[tuple[float, float], ...], words: str
) -> None:
    rows = [effect(metric, 0.01, 0.0) for metric in ("support_recovery", "r2")]
    _, sizes, advice = points(having(made, TEMPERATURE, rows + by_ratio(*means)), "Entropy")
    assert advice == f"The paper's advice to raise T as N decreases {words}."
    assert ("T clearly raises test R2 at no N/d; " in sizes) == (max(map(max, means)) < 0.01)


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ((0.001, 0.002), "T = 0 is as good within 0.02"),
        ((0.015, 0.002), "E-FLoPS is clearly better in support recovery"),
        ((-0.03, -0.04), "T = 0 is clearly better in support recovery and test R2"),
        ((0.03, -0.04), "E-FLoPS is clearly better in support recovery and T = 0 is clearly better in test R2"),
        ((0.0, 0.012), "E-FLoPS is clearly better in test R2"),
        ((0.013, 0.009), "E-FLoPS is clearly better in support recovery"),
    ],
)
def test_with_equal_tuning_the_better_one_is_named_only_where_it_is_clear(
    made: Source, means: tuple[float, float], verdict: str
) -> None:
    facts = [
        {"metric": metric, "mean": mean, "low": mean - 0.01, "high": mean + 0.01, "draws": 20}
        for metric, mean in zip(("support recovery", "test R2"), means, strict=True)
    ]
    write_card(made, entropy=facts)
    (text,) = points(made, "Entropy")
    assert text.startswith(
        f"With equal tuning, {verdict}: E-FLoPS minus FLoPS (T = 0) is {means[0]:+.3f} (".replace("-0", f"{MINUS}0")
    )
    assert text.endswith(" in test R2, over 20 draws.")
    write_card(made, entropy=[facts[0] | {"mean": 0.0, "low": -0.03, "high": 0.03}])
    assert points(made, "Entropy")[0].startswith("With equal tuning, it is inconclusive whether T = 0 is as good: ")


def test_settings_far_from_the_searched_ones_are_named(made: Source) -> None:
    column = {"table": "Table 2", "method": "fedavg", "searched": 0.036, "nearest": 0.000125}
    write_card(made, {"section": "Table 2", "verdict": "agrees at nearest settings"}, nearest=[column])
    first, far = points(made, "The paper's settings")
    assert first.startswith("1 of the paper's numbers is reproduced only at the tried settings")
    assert far.startswith(
        "The settings nearest to Table 2's column of FedAvg have a weight learning rate of 0.00013; the search chose "
        "0.036"
    )
    write_card(made, nearest=[column | {"nearest": 0.01}])
    assert points(made, "The paper's settings")[1].startswith("No column needs")


def test_what_the_printed_rule_costs_is_told_with_its_interval(made: Source) -> None:
    rows = [
        {"set_gate_recovery": "paper", "metric": "support_recovery", "mean": 0.5},
        {"set_gate_recovery": "exact", "metric": "support_recovery", "mean": 0.6}
        | {"gain": 0.1, "gain_low": 0.05, "gain_high": 0.15},
    ]
    assert points(having(made, RECOVERY, rows), "The paper's settings") == [
        "Recovering gate parameters from mean gates exactly, not by the printed rule, changes support recovery by "
        "+0.100 (+0.050 to +0.150)."
    ]
    rows[0] |= {"mean": float("nan")}
    assert "every run diverges" in points(having(made, RECOVERY, rows), "The paper's settings")[0]


def test_the_scaling_line_follows_the_genes_that_stay_in_all_three_comparisons(made: Source) -> None:
    genes = {"golub_runs": "abcde", "golub_scaling_array": "abcde", "golub_scaling_log_gene": "axyzw", "x": "vwxyz"}
    rows = [
        {"experiment": name, "scaling": name, "method": "eflops", "gene": gene, "frequency": 1 - 0.1 * rank}
        for name, listed in genes.items()
        for rank, gene in enumerate(listed)
    ]
    (line,) = points(having(made, SCALING, rows), "The paper's settings")
    kept = "5 remain under golub_scaling_array; 1 remain under golub_scaling_log_gene; 0 remain under x."
    assert line.endswith(f"intensities are scaled as a whole, {kept}")


def test_what_sparse_messages_cost_is_told_by_regime(made: Source) -> None:
    row = {"ratio": 0.64, "difference": -0.2, "low": -0.25, "high": -0.15, "mean": 0.14, "method": "eflops"}
    rows = [
        row | {"experiment": name, "metric": metric, "same_as": "feedback14" if name == "feedback27" else None}
        for name in ("sparse_both", "feedback14", "feedback27", "support_recovery")
        for metric in ("support_recovery", "share_training")
    ]
    other = rows[0] | {"method": "fediht", "difference": 0.9}
    sent = [
        {"method": "eflops", "metric": f"share_{name}", "mean": mean}
        for name, mean in (("training", 0.1), ("formula", 0.08))
    ]
    elsewhere = rows[0] | {"ratio": 2.0, "difference": 0.8}
    server = [each | {"experiment": "sparse_server"} for each in rows[:2]]
    made = having(having(having(made, COMMUNICATION, [*rows, other, elsewhere]), REGIMES, server), BYTES, sent)
    more = [
        {"ratio": ratio, "experiment": "support_recovery", "metric": "share_training", "method": method, "mean": share}
        for ratio in (0.24, 2.0)
        for method, share in (("eflops", 1.5 + 0.1 * ratio), ("fediht", 0.9), ("fedavg", 1.0))
    ]
    dense, *_ = points(having(made, COMMUNICATION, more), "Sparse messages throughout")
    assert dense == (
        "In the runs of Table 1, E-FLoPS sends more than dense FedAvg: 161% of dense training's bytes; fediht sends "
        "90%."
    )
    made = having(made, COMMUNICATION, [*rows, other, elsewhere])
    dense, regime, feedback, more_bytes, from_server, formula = points(made, "Sparse messages throughout")
    assert dense.startswith("In the runs of Table 1, E-FLoPS sends no more than dense FedAvg: 14% of")
    assert regime == (
        "With sparse messages throughout, as the paper describes, at 14% of dense bytes, E-FLoPS's support "
        f"recovery changes from Table 1's by {MINUS}0.200 ({MINUS}0.250 to {MINUS}0.150) at N/d 0.64."
    )
    assert feedback.startswith("With error feedback (ours), at 14% of dense bytes, ")
    assert more_bytes == (
        "With error feedback and at most 27 % of dense bytes, the search chooses the same settings for E-FLoPS."
    )
    assert from_server.startswith("With messages sparse from the server only")
    assert "take 10.0% of dense training's bytes; the paper's formula counts 8.0%" in formula


def test_the_aims_of_error_feedback_are_told_with_those_not_met(made: Source) -> None:
    row = {"metric": "support_recovery", "ratio": 0.64, "reference": "Ours", "other": "dense", "aim": "at least 1"}
    row |= {"draws": "all", "difference": 0.1, "low": 0.05, "high": 0.15, "met": True}
    missed = row | {"draws": "10 to 19", "difference": -0.1, "low": -0.15, "high": -0.05, "met": False}
    on_mnist = row | {"metric": "accuracy", "ratio": 0.0, "aim": None, "met": None}
    shown = [on_mnist | {"shows": "feedback and gates", "mean_reference": 0.95, "mean_other": 0.85}]
    shown += [on_mnist | {"shows": "gates, with feedback", "difference": 0.06}]
    shown += [on_mnist | {"shows": "feedback, without gates", "difference": 0.04}]
    aims, alone, parts = points(having(made, FEEDBACK, [row, missed, *shown]), "Sparse messages throughout")
    assert aims == "Of 1 aims of error feedback, fixed before its runs, 1 are met over all draws."
    assert alone == (
        "Of 1 aims of error feedback, fixed before its runs, 0 are met on draws 10 to 19 alone, which its prototype "
        f"never saw. Not met: “Ours” minus “dense” at N/d 0.64 is {MINUS}0.100 ({MINUS}0.150 to {MINUS}0.050); the aim "
        "was: at least 1."
    )
    assert parts == (
        "On MNIST, E-FLoPS with error feedback has an accuracy of 0.950 and dense FedAvg one of 0.850, a difference of "
        "+0.100 (+0.050 to +0.150). The feedback's part of it is +0.040 (+0.050 to +0.150): FedAvg with error feedback "
        "minus dense FedAvg. The gates' part is +0.060 (+0.050 to +0.150): E-FLoPS minus FedAvg, both with error "
        "feedback."
    )


def test_shared_gates_are_told_beside_those_of_weights(made: Source) -> None:
    row = {"kept": 14.0, "accuracy_mean": 0.95, "genes": 7.0, "nogueira": 0.5, "n": 10}
    of_genes = [row | {"method": "eflops", "genes": 12.0}, row | {"method": "eflops_features"}]
    values = {"accuracy": 0.9, "kept": 4400.0, "macs_removed": 0.8}
    of_units = [{"method": "eflops_units", "metric": metric, "mean": mean} for metric, mean in values.items()]
    made = having(having(made, GENE_GATES, of_genes), UNIT_GATES, of_units)
    genes, units = points(made, "Gates that weights share (ours, beyond the paper)")
    assert genes == (
        "Accuracy on leukaemia data, 10 runs each: 0.950 (12.0 genes per run, Nogueira's index 0.50) with a gate per "
        "weight and 14 weights; 0.950 (7.0 genes per run, Nogueira's index 0.50) with a gate per gene."
    )
    assert units.endswith("at the end: 0.900 (4400 weights, 80.0% of operations removed) with a gate per unit.")


SEARCHED_MEANS = pd.Series({"eflops": 0.95, "fedavg": 0.93, "fediht": 0.90, "flops": 0.80})


@pytest.mark.parametrize(
    ("means", "value"),
    [([0.9, 0.8, 0.7, 0.6], 1.0), ([0.6, 0.7, 0.8, 0.9], -1.0), ([0.8, 0.9, 0.7, 0.6], 2 / 3), ([0.5] * 4, 0.0)],
)
def test_tau_is_one_for_the_same_order_and_minus_one_for_the_reverse(means: list[float], value: float) -> None:
    assert tau(SEARCHED_MEANS, pd.Series(means, index=SEARCHED_MEANS.index)) == pytest.approx(value)


@pytest.mark.parametrize(("reverse", "words", "first"), [(False, "holds", 1), (True, "does not hold", 0)])
def test_the_order_of_methods_elsewhere_is_held_against_that_over_splits(
    made: Source, reverse: bool, words: str, first: int
) -> None:
    golub = [
        {"experiment": "golub_splits", "metric": "accuracy", "method": name, "mean": mean}
        for name, mean in SEARCHED_MEANS.items()
    ]
    cells = [
        {"data": "ALL", "method": name, "federated": True, "accuracy_mean": -mean if reverse else mean}
        for name, mean in SEARCHED_MEANS.items()
    ]
    cells.append({"data": "ALL", "method": "lasso", "federated": False, "accuracy_mean": 1.0})
    order, leads = points(having(having(made, SEARCHED, golub), BEYOND, cells), "Held-out data sets")
    assert order.startswith(f"The methods' order on the leukaemia data {words}: Kendall's tau")
    assert leads == f"E-FLoPS is first on {first} of 1 of these data sets."


def test_a_study_without_a_subject_says_nothing_of_it(made: Source) -> None:
    assert [subject.name for subject in summarise(made).subjects] == ["The paper's numbers and claims"]


def test_the_end_of_a_run_says_what_was_found_and_names_the_explorer(small_results: Path) -> None:
    lines = closing(small_results).splitlines()
    assert any(line.startswith("Reproduction: Of Table 1's 28 numbers") for line in lines)
    assert f"open {small_results / 'explorer.html'} in a browser" in lines[-1]
    assert len(lines) <= 10


def test_claims_have_their_verdict_and_effect_as_fields(made: Source) -> None:
    names = [{"against": "Fed-IHT"}, {"against": "FedIter-HT", "effect": "it is 0.5 (0.4 to 0.6)"}]
    unjudged = claim("not judged", grounds=[], reason="No run.")
    write_card(made, claim("agrees", row="syn-lr"), claim("differs", *names, name="claim/two"), unjudged)
    one, two, none = summarise(made).claims
    assert (one.short, one.verdict, one.effect) == ("It wins", "agrees", "its lead is +0.2 (+0.1 to +0.3)")
    assert two.effect == "its lead is +0.2 (+0.1 to +0.3); it is 0.5 (0.4 to 0.6)"
    assert two.link == "scorecard?line=claim/two"
    assert none.effect == "No run."


def test_points_of_one_headline_are_joined_in_the_order_of_the_front_page(made: Source) -> None:
    fact = {"metric": "support recovery", "mean": -0.001, "low": -0.012, "high": 0.01, "draws": 20}
    write_card(made, entropy=[fact], lists=[])
    first, second = summarise(made).headlines
    assert [first.headline, second.headline] == list(HEADLINES)[:2]
    assert second.text == points(made, "Entropy")[0]
    assert second.link == "tables/support_recovery_tests"


def test_the_summary_is_the_same_after_its_json(small_results: Path) -> None:
    summary = Summary.of(json.loads((small_results / "summary.json").read_text()))
    for name in ("json", "md", "rst"):
        assert (small_results / f"summary.{name}").read_text() == form(summary, f".{name}")


def test_every_point_links_to_what_it_is_about(small_results: Path) -> None:
    lines = [line for line in (small_results / "summary.md").read_text().splitlines() if line.startswith("  - ")]
    places = [re.fullmatch(r"  - .* \[runs\]\(explorer\.html#([^)]+)\)", line)[1] for line in lines]  # type: ignore[index]
    ids = {line["id"] for line in json.loads((small_results / "scorecard.json").read_text())["lines"]}
    for folder in places:
        kind, _, name = folder.partition("?line=" if "?line=" in folder else "/")
        known = unquote(name) in ids if kind == "scorecard" and name else (small_results / f"{folder}.csv").exists()
        assert known or folder == "scorecard", folder


def test_the_form_without_links_is_a_nested_list_in_restructured_text(small_results: Path) -> None:
    document = publish_doctree((small_results / "summary.rst").read_text(), settings_overrides={"report_level": 2})
    title, subjects = document.children
    assert title.astext() == "What this run found"
    for subject in subjects.children:
        lead, points = subject.children
        assert isinstance(lead.children[0], nodes.strong)
        assert isinstance(points, nodes.bullet_list)


def test_an_unfinished_run_has_no_end(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the run is not complete"):
        closing(tmp_path)
