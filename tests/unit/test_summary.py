"""The closing summary: its numbers and words follow the scorecard and the tables."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eflops.analysis.needs import BEYOND, ENTROPY_GRID, ENTROPY_TRIALS, RECOVERY, REGIMES, SCALING, SCORECARD, SEARCHED
from eflops.analysis.scorecard.sections import SECTIONS
from eflops.analysis.source import Source
from eflops.analysis.summary import (
    LINES,
    beyond,
    constraint,
    entropy,
    golub_scaling,
    papers_settings,
    sparse_messages,
    text,
    the_paper,
    what_does_not,
    what_holds,
    wire_format,
    with_places,
)
from eflops.errors import UserError


@pytest.fixture
def made(tmp_path: Path) -> Source:
    """A results folder with a scorecard that has no line."""
    for folder in ("tables", "figures"):
        (tmp_path / folder).mkdir()
    return judged(Source(tmp_path, files=frozenset({SCORECARD})))


def judged(made: Source, lines: list[dict[str, Any]] | None = None, **facts: list[dict[str, Any]]) -> Source:
    """The same folder with these lines in its scorecard."""
    lines = [{"id": "", "column": "", "text": "", "reason": "", "ours": [], **line} for line in lines or []]
    counts: dict[str, dict[str, int]] = {section.name: {} for section in SECTIONS}
    for line in lines:
        own = counts[line["section"]]
        own[line["verdict"]] = own.get(line["verdict"], 0) + 1
    card = {"lines": lines, "sections": counts, "chance": "By chance.", "labels": {"fedavg": "FedAvg"}}
    card["facts"] = {"entropy": [], "nearest": [], **facts}
    (made.results / SCORECARD).write_text(json.dumps(card))
    return made


def having(made: Source, path: str, rows: list[dict[str, object]]) -> Source:
    """The same folder with one more table."""
    pd.DataFrame(rows).to_csv(made.results / path, index=False)
    return Source(made.results, files=made.files | {path})


def test_entropy_over_draws_over_all_settings_and_alone(made: Source) -> None:
    assert "Not run here" in entropy(made)
    fact = {"metric": "support recovery", "mean": -0.001, "low": -0.012, "high": 0.01, "draws": 20}
    judged(made, entropy=[fact])
    assert (
        "entropy changes nothing that is clear: E-FLoPS minus T = 0 is support recovery -0.001 (-0.012 to +0.010) "
        in (entropy(made))
    )
    judged(made, entropy=[fact | {"low": -0.002, "high": -0.0005}])
    assert "makes a difference" in entropy(made)
    row = {"metric": "r2", "mean": -0.03, "mean_low": -0.05, "mean_high": -0.01, "median": -0.001, "settings": 128}
    rows = [row | {"by": by, "group": group, "helps": 54, "hurts": 70} for by, group in (("all", ""), ("T", "T <= .1"))]
    made = having(made, ENTROPY_TRIALS, rows)
    line = entropy(made)
    assert "Over all 128 settings of the search, paired by setting, it changes test R2 by -0.030" in line
    assert "helps in 54 of 124 that it changes" in line
    assert "By T: T <= .1 -0.030 (-0.050 to -0.010)." in line
    cell = {"metric": "support_recovery", "ratio": 0.64, "set_temperature": 0.1, "set_gate_rate": 1.5}
    gains = [cell | {"gain": gain, "gain_low": gain - 0.01, "gain_high": gain + 0.01} for gain in (0.035, 0.0, -0.02)]
    line = entropy(having(made, ENTROPY_GRID, gains))
    assert "clearly higher than at T = 0 in 1 and clearly lower in 1 of 3 cells; the most is +0.035" in line


def test_what_sparse_messages_cost_is_told_by_regime(made: Source) -> None:
    assert "Not run here" in sparse_messages(made)
    row = {"metric": "support_recovery", "ratio": 0.64, "difference": -0.2, "low": -0.25, "high": -0.15}
    rows = [row | {"experiment": name, "method": "eflops"} for name in ("sparse_both", "support_recovery")]
    line = sparse_messages(having(made, REGIMES, [*rows, rows[0] | {"method": "fediht", "difference": 0.9}]))
    assert line.endswith(
        "sparse both ways at N/d 0.64 \N{MINUS SIGN}0.200 (\N{MINUS SIGN}0.250 to \N{MINUS SIGN}0.150)."
    )


def test_settings_that_no_search_would_choose_are_named(made: Source) -> None:
    column = {"table": "Table 2", "method": "fedavg", "searched": 0.036, "nearest": 0.000125}
    judged(made, [{"section": "Table 2", "row": "1", "verdict": "agrees at nearest settings"}], nearest=[column])
    line = papers_settings(made)
    assert line.startswith("1 of the paper's numbers come out only at the nearest settings")
    assert "FedAvg of Table 2 at a weights' rate of 0.00013 where the search chose 0.036" in line
    judged(made, nearest=[column | {"nearest": 0.01}])
    assert "None of the columns needs" in papers_settings(made)


def test_the_constraint_is_told_from_its_claim(made: Source) -> None:
    assert "Not run here" in constraint(made)
    value = {"name": "MNIST (times the target)", "mean": 1.3, "low": 1.2, "high": 1.4}
    line = {"id": "claim/target-density", "section": "Claims", "row": "target-density", "ours": [value]}
    judged(made, [line | {"verdict": "agrees"}])
    assert constraint(made) == (
        "The target density is reached. Open gates at the end of training: MNIST (times the target) 1.3 (1.2 to 1.4)."
    )
    judged(made, [line | {"verdict": "differs"}])
    assert constraint(made).startswith("The target density is not reached everywhere.")


def test_the_order_of_methods_elsewhere_is_held_against_that_over_splits(made: Source) -> None:
    names = ("eflops", "fedavg", "fediht")
    golub = [{"experiment": "golub_splits", "metric": "accuracy", "method": m, "mean": 0.9 - i / 10} for i, m in
             enumerate(names)]  # fmt: skip
    cells = [{"data": "ALL", "method": m, "federated": True, "accuracy_mean": 0.8 - i / 10} for i, m in
             enumerate(names)]  # fmt: skip
    cells.append({"data": "ALL", "method": "lasso", "federated": False, "accuracy_mean": 1.0})
    assert beyond(made) == ""
    line = beyond(having(having(made, SEARCHED, golub), BEYOND, cells))
    assert "the order of methods by accuracy holds: " in line
    assert "1.00 on ALL; E-FLoPS is first on 1 of 1." in line


def test_the_scaling_line_follows_the_genes_that_stay_in_all_three_comparisons(made: Source) -> None:
    genes = {"golub_runs": "abcde", "golub_scaling_array": "abcde", "golub_scaling_log_gene": "axyzw", "x": "vwxyz"}
    rows = [
        {"experiment": name, "scaling": name, "method": "eflops", "gene": gene, "frequency": 1 - 0.1 * place}
        for name, listed in genes.items()
        for place, gene in enumerate(listed)
    ]
    line = golub_scaling(having(made, SCALING, [row | {"accuracy": 0.9} for row in rows]))
    assert line.endswith(
        "5 on golub_scaling_array (accuracy 0.900), 1 on golub_scaling_log_gene (accuracy 0.900), "
        "0 on x (accuracy 0.900)."
    )


def test_the_wire_line_tells_both_recoveries(made: Source) -> None:
    rows = [
        {"set_gate_recovery": name, "metric": "support_recovery", "mean": mean}
        for name, mean in (("paper", 0.5), ("exact", 0.25))
    ]
    assert "as printed find 0.500 of the true support, recovered exactly 0.250" in wire_format(
        having(made, RECOVERY, rows)
    )


def test_the_first_lines_count_verdicts_and_name_claims(made: Source) -> None:
    rows = [("Table 1", "0.64", "agrees"), ("Table 1", "1.00", "differs"), ("Claims", "golub-run", "agrees")]
    lines = [{"section": section, "row": row, "verdict": verdict} for section, row, verdict in rows]
    lines[1] |= {"id": "table1/1.00/fedavg", "column": "fedavg"}
    lines[2] |= {"text": "it beats all"}
    judged(made, lines)
    said = the_paper(made)
    assert said.startswith("Of Table 1's 2 numbers 1 agrees, 1 differs; ")
    assert said.endswith("of 1 claims 1 agrees. By chance.")
    assert what_holds(made) == "It beats all."
    assert what_does_not(made) == "Numbers of Table 1 that differ: 1.00 FedAvg."
    judged(made, [lines[2] | {"verdict": "differs", "reason": "Not shown."}])
    assert what_does_not(made) == "It beats all: Not shown."


def test_what_was_not_run_is_said_and_what_the_study_lacks_is_left_out(made: Source) -> None:
    lines = text(made).splitlines()
    assert sum(line.startswith("- **") for line in lines) == len(LINES) - 2
    assert sum("Not run here" in line for line in lines) == 6


def test_the_end_of_a_run_says_where_to_look_and_what_was_found(small_results: Path) -> None:
    said = with_places(small_results)
    assert f"{small_results / 'scorecard.md'}" in said
    assert (small_results / "summary.md").read_text().rstrip() in said


def test_an_unfinished_run_has_no_end(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the run is not complete"):
        with_places(tmp_path)
