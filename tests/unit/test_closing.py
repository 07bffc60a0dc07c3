"""The closing summary has five lines whose numbers and words follow the tables."""

import json
from pathlib import Path

import pandas as pd
import pytest

from eflops.analysis.catalogue.whole import PRUNE, RATES, RECOVERY, SCALING, SCORECARD, T0_TESTS
from eflops.analysis.closing import LINES, Made, golub_scaling, prune_start, text, the_paper, wire_format
from eflops.analysis.closing import without_entropy as line_on_entropy
from eflops.analysis.whereabouts import told
from eflops.errors import UserError


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A results folder that holds nothing yet."""
    for folder in ("tables", "figures"):
        (tmp_path / folder).mkdir()
    return Made(tmp_path, frozenset())


def having(made: Made, path: str, rows: list[dict[str, object]]) -> Made:
    """The same folder with one more table."""
    pd.DataFrame(rows).to_csv(made.results / path, index=False)
    return Made(made.results, made.sources | {path})


def entropy_tested(made: Made, differences: list[float], p: float) -> Made:
    rows = [{"reference": "eflops", "other": "flops", "difference": each, "p_holm": p} for each in differences]
    other = {"reference": "eflops", "other": "fediht", "difference": 0.9, "p_holm": 1e-9}
    return having(made, T0_TESTS, [*rows, other])


def test_entropy_helps_where_it_finds_clearly_more(made: Made) -> None:
    line = line_on_entropy(entropy_tested(made, [0.02, 0.04], 1e-4))
    assert line.startswith("The entropy term helps: with entropy 0.030 more ")
    assert "clearly more at 2 and clearly less at 0" in line


def test_t_0_is_better_where_entropy_finds_clearly_less(made: Made) -> None:
    line = line_on_entropy(entropy_tested(made, [-0.02, -0.04, 0.01], 1e-4))
    assert "at searched settings it is the better choice: with entropy 0.017 less " in line
    assert "over 3 N/d, clearly more at 1 and clearly less at 2" in line


def test_differences_within_chance_decide_nothing(made: Made) -> None:
    assert "does about as well" in line_on_entropy(entropy_tested(made, [0.05, 0.03], 0.2))


@pytest.mark.parametrize(("eflops", "words"), [(0.4, "it holds up better"), (0.2, "it does not hold up better")])
def test_the_entropy_line_also_looks_at_rates_that_nobody_chose(made: Made, eflops: float, words: str) -> None:
    for path in RATES:
        made = having(made, path, [{"method": "eflops", "mean": eflops}, {"method": "flops", "mean": 0.3}])
    line = line_on_entropy(entropy_tested(made, [0.01], 0.5))
    assert f"{words} with entropy: mean test R2 {eflops:.3f}, at T = 0 0.300." in line


def prune(made: Made, first: float | None, half: float) -> str:
    rows = [
        {"ratio": 0.64, "set_prune_from": start, "metric": metric, "mean": mean}
        for start, mean in ((0.0, first), (0.5, half))
        for metric in ("support_recovery", "r2")
    ]
    return prune_start(having(made, PRUNE, rows))


def test_the_prune_start_line_says_which_start_is_better(made: Made) -> None:
    assert "finds 0.390 of the true support at N/d 0.64, one from 50% of the rounds on finds 0.622" in prune(
        made, 0.39, 0.622
    )
    assert "finds 0.700" in prune(made, 0.7, 0.622)
    assert "and no later one more" in prune(made, 0.7, 0.622)
    assert "finds nothing (every run diverged)" in prune(made, None, 0.622)


def scaling(made: Made, after: str) -> str:
    genes = {"golub_runs": "abcde", "golub_scaling_log_gene": after}
    rows = [
        {"experiment": name, "method": "eflops", "gene": gene, "frequency": 1 - 0.1 * place, "accuracy": 0.9}
        for name, listed in genes.items()
        for place, gene in enumerate(listed)
    ]
    return golub_scaling(having(made, SCALING, rows))


def test_the_scaling_line_follows_the_genes_that_stay(made: Made) -> None:
    assert "decides the genes: of the 5 that E-FLoPS selects most on intensities 1 stay" in scaling(made, "axyzw")
    assert "hardly changes the genes" in scaling(made, "badec")
    assert "0 stay among the 5" in scaling(made, "vwxyzabcde")


def test_the_wire_line_tells_both_recoveries(made: Made) -> None:
    rows = [
        {"set_gate_recovery": name, "metric": "support_recovery", "mean": mean}
        for name, mean in (("paper", 0.5), ("exact", 0.25))
    ]
    assert "as printed find 0.500 of the true support, recovered exactly 0.250" in wire_format(
        having(made, RECOVERY, rows)
    )


def test_the_first_line_counts_verdicts_and_names_the_claims_that_failed(made: Made) -> None:
    lines = [("Table 1", "0.64", "reproduced"), ("Table 1", "1.00", "not reproduced"), ("Claims", "a", "reproduced")]
    card = [{"section": section, "row": row, "verdict": verdict} for section, row, verdict in lines]
    (made.results / SCORECARD).write_text(json.dumps({"lines": card}))
    assert the_paper(made) == "Of its 2 numbers 1 reproduced, 1 not reproduced; of its 1 claims 1 reproduced."
    card.append({"section": "Claims", "row": "golub-run", "verdict": "not reproduced"})
    (made.results / SCORECARD).write_text(json.dumps({"lines": card}))
    assert the_paper(made).endswith("The claims that failed: golub-run.")


def test_what_was_not_run_is_said_and_leaves_five_lines(made: Made) -> None:
    (made.results / SCORECARD).write_text('{"lines": []}')
    lines = text(made).splitlines()
    assert [line.startswith("- **") for line in lines] == [False, False, *[True] * 5]
    assert sum("Not run here" in line for line in lines) == len(LINES) - 1


def test_the_end_of_a_run_says_where_to_look_and_what_was_found(small_results: Path) -> None:
    said = told(small_results)
    assert f"{small_results / 'scorecard.html'}" in said
    assert (small_results / "summary.md").read_text().rstrip() in said


def test_an_unfinished_run_has_no_end(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the run is not complete"):
        told(tmp_path)
