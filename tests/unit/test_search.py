"""Searches: how trials are ranked, and that the config holds what the searches chose."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import small_results
from eflops.analysis.paper import read_paper
from eflops.analysis.search import (
    OUTCOME,
    adopt,
    choose,
    choose_nearest,
    distances,
    gene_columns,
    outcome,
    put,
    rank,
    rank_records,
    read_run_rows,
    run_rows,
)
from eflops.config.load import check, read
from eflops.config.messages import ConfigError
from eflops.config.plan import variants_of
from eflops.config.searches import budget_of, ranking
from eflops.errors import UserError
from eflops.files import PROJECT
from eflops.results.record import record_hash
from golub_genes import golub_probes

ROOT = Path(__file__).parents[2]
CONFIG = read(ROOT / "config.yaml")
CHOSEN = sorted((ROOT / "resources/search").glob("*.json"))
PAPER = read_paper(ROOT / "resources/paper/targets.yaml")
NONE = pd.DataFrame()
EXPERIMENT = small_results.CONFIG["experiments"]["support_recovery"]
SMALL_SEARCH = small_results.CONFIG | {
    "experiments": {},
    "searches": {
        "find": {
            **{"dataset": "synthetic", "methods": ["eflops", "flops"], "ratios": [0.64], "draws": [101], "seeds": 1},
            **{"first_seed": 1000, "trials": 2, "metric": "r2", "ranges": {"rate": {"low": 0.02, "high": 0.1}}},
            "method_ranges": {"flops": {"temperature": [0.0]}},
            "cross": {"eflops": {"temperature": [0.01, 0.1]}},
        }
    },
}
COUNTED = ("down", "up", "messages", "last_round", "paper")


SEARCH: dict[str, Any] = {"metric": "r2", "score": "mean", "admit": {"open_gates": 2.0, "sent": {}}, "budget": {}}


def runs(scores: dict[str, list[float | None]], metric: str = "r2", **more: Any) -> pd.DataFrame:
    rows = [
        {"method": "m", "variant": trial, "status": "diverged" if value is None else "finished", metric: value}
        | {"ratio": 0.64, "set_rate": 0.1 * number, "set_local_steps": 3.0, "set_clip": None, "sent": 0.5, **more}
        for number, (trial, values) in enumerate(scores.items(), 1)
        for value in values
    ]
    return pd.DataFrame(rows)


def test_the_best_mean_comes_first_and_divergence_counts_as_the_worst() -> None:
    trials = rank(runs({"steady": [0.5, 0.5], "lost": [0.9, None], "low": [0.1, 0.2]}), SEARCH)
    assert list(trials["variant"]) == ["steady", "low", "lost"]
    assert trials.set_index("variant").loc["lost", ["score", "diverged"]].tolist() == pytest.approx([-0.05, 1])


def test_a_low_cross_entropy_is_better() -> None:
    trials = rank(runs({"high": [0.9], "low": [0.1]}, "cross_entropy"), SEARCH | {"metric": "cross_entropy"})
    assert list(trials["variant"]) == ["low", "high"]


def test_a_trial_that_fails_on_one_seed_loses_by_its_spread() -> None:
    both = runs({"steady": [0.88, 0.88], "risky": [0.99, 0.80]}, "accuracy")
    assert rank(both, SEARCH | {"metric": "accuracy"})["variant"][0] == "risky"
    wary = rank(both, SEARCH | {"metric": "accuracy", "score": "mean_minus_sd"})
    assert list(wary["variant"]) == ["steady", "risky"]
    assert wary["score"][1] == pytest.approx(0.895 - np.std([0.99, 0.80], ddof=1))


def test_a_trial_without_a_constraint_or_with_heavy_messages_is_not_admitted() -> None:
    best = runs({"loose": [0.9]}, open_gates=2.2)
    heavy = runs({"heavy": [0.8]}, open_gates=2.0, sent=1.1)
    bound = runs({"bound": [0.1]}, open_gates=2.0)
    trial_runs = pd.concat([best, heavy, bound])
    trials = rank(trial_runs, SEARCH | {"admit": {"open_gates": 2.0, "sent": {"m": 1.0}}})
    assert trials["variant"].tolist() == ["bound", "loose", "heavy"]
    assert trials["excluded"].tolist() == ["", "open gates", "bytes"]
    assert choose(trials, {"m": ["local_steps"]}) == {"m": {"local_steps": 3}}
    with pytest.raises(UserError, match="No trial of m is admitted"):
        choose(trials[1:], {"m": ["local_steps"]})


def test_a_constraint_that_is_off_at_one_ratio_is_not_made_up_for_at_another() -> None:
    both = {"off": [0.9], "on": [0.8]}
    trial_runs = pd.concat([runs(both, open_gates=1.0).assign(ratio=ratio) for ratio in (0.24, 0.64)])
    trial_runs.loc[(trial_runs["variant"] == "off") & (trial_runs["ratio"] == 0.24), "open_gates"] = 2.4
    trials = rank(trial_runs, SEARCH).set_index("variant")
    assert trials["excluded"].to_dict() == {"on": "", "off": "open gates"}
    assert trials.loc["off", "open_gates"] == pytest.approx(2.4)


def test_the_choice_has_the_searched_settings_with_their_types() -> None:
    trials = rank(runs({"one": [0.1], "two": [0.2]}), SEARCH)
    chosen = choose(trials, {"m": ["rate", "local_steps", "clip"]})
    assert chosen == {"m": {"rate": 0.2, "local_steps": 3, "clip": None}}
    assert isinstance(chosen["m"]["local_steps"], int)


def test_the_nearest_trial_has_the_papers_recovery() -> None:
    paper = read_paper(ROOT / "resources/paper/targets.yaml")
    both = runs({"far": [0.9], "near": [0.6]}, "support_recovery").assign(method="eflops", record="")
    distance = distances("support_recovery", both, paper, NONE)
    assert distance == pytest.approx({("eflops", "far"): 0.9 - 0.626, ("eflops", "near"): 0.626 - 0.6})
    trials = rank(both.assign(r2=[0.9, 0.1]), SEARCH)
    trials["distance"] = [distance[key] for key in zip(trials["method"], trials["variant"], strict=True)]
    assert choose_nearest(trials, {"eflops": ["rate"]}) == {"eflops": {"rate": 0.2}}


def test_an_n_over_d_that_the_paper_lacks_says_nothing_of_what_is_near() -> None:
    paper = read_paper(ROOT / "resources/paper/targets.yaml")
    one = runs({"near": [0.6]}, "support_recovery").assign(method="eflops", record="")
    other = one.assign(ratio=0.7, support_recovery=0.1)
    alone = distances("support_recovery", one, paper, NONE)
    assert distances("support_recovery", pd.concat([one, other]), paper, NONE) == alone
    assert distances("support_recovery", other, paper, NONE) == {}


def test_the_nearest_trial_selects_the_papers_genes() -> None:
    paper, names = read_paper(ROOT / "resources/paper/targets.yaml"), golub_probes()
    cystatin = int(names.index[names["probe"] == "M27891_at"][0])
    trial_runs = runs({"first": [0.9], "second": [0.9]}, "accuracy").assign(
        method="eflops", support=[str(cystatin), "0"]
    )
    columns = gene_columns(trial_runs, paper, names)
    near, far = distances("gene_frequency", trial_runs, paper, columns).values()
    shares = np.array([share.value for share in paper.genes["eflops"].values()])
    assert far == pytest.approx(np.sqrt(np.mean(shares**2)))
    shares[0] = 1 - shares[0]
    assert near == pytest.approx(np.sqrt(np.mean(shares**2)))
    assert columns["listed"].tolist() == [1, 0]
    assert columns["share@cystatin C"].tolist() == [1.0, 0.0]


def test_open_gates_are_told_by_ratio_in_times_of_the_target() -> None:
    few, many = (
        runs({"it": [0.5]}, open_gates=gates).assign(ratio=ratio) for gates, ratio in ((1.0, 1.36), (2.5, 0.24))
    )
    trial = rank(pd.concat([few, many]), SEARCH).iloc[0]
    assert trial[["open_gates@0.24", "open_gates@1.36", "open_gates"]].tolist() == [2.5, 1.0, 2.5]


def test_a_choice_is_written_and_read_back_the_same_beside_the_others(tmp_path: Path) -> None:
    settings = {"rate": 1e-05, "clip": None, "sparse_upload": True, "gate": "median"}
    put(tmp_path / "chosen.yaml", "x", {"a": settings})
    put(tmp_path / "chosen.yaml", "y", {"a": {"rate": 2}, "b": {}})
    put(tmp_path / "chosen.yaml", "x", {"b": settings})
    assert yaml.safe_load((tmp_path / "chosen.yaml").read_text()) == {
        "x": {"b": settings},
        "y": {"a": {"rate": 2}, "b": {}},
    }


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_the_config_holds_what_the_search_chose(path: Path) -> None:
    chosen = yaml.safe_load((PROJECT / "config/chosen.yaml").read_text())
    for entry, methods in json.loads(path.read_text()).items():
        for method, settings in methods.items():
            stored = chosen[entry][method]
            assert {key: stored[key] for key in settings} == settings


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_trials_and_choice_follow_from_the_tracked_runs_and_the_config(path: Path) -> None:
    """Whoever doubts a choice can make it again: the tracked runs are all that it rests on."""
    tracked = path.with_suffix(OUTCOME[2])
    if not tracked.exists():
        pytest.skip("the runs of this search are not tracked yet")
    (name,) = [name for name, search in CONFIG.searches.items() if search.entry == path.stem]
    search = CONFIG.searches[name]
    trials, choices = outcome(read_run_rows(tracked), PAPER, ranking(search, CONFIG.datasets[search.dataset]))
    assert json.loads(path.read_text()) == json.loads(json.dumps(choices))
    assert trials.to_csv(index=False) == path.with_suffix(".csv").read_text()
    for method, settings in choices[path.stem].items():
        mine = trials[(trials["method"] == method) & trials["drawn"]]
        assert len(mine) == search.trials
        best = mine[mine["excluded"] == ""].sort_values("score").iloc[-1]["variant"]
        drawn = variants_of(CONFIG, name, method)[best]
        assert {key: getattr(drawn, key) for key in settings} == settings


def test_entropy_and_no_entropy_share_their_trials() -> None:
    for name, search in CONFIG.searches.items():
        if not {"eflops", "flops"} <= set(search.methods):
            continue
        with_entropy, without = (variants_of(CONFIG, name, method) for method in ("eflops", "flops"))
        assert len(without) == search.trials
        for label, settings in with_entropy.items():
            twin = without[label.partition(",")[0]]
            assert twin == settings.model_copy(update={"temperature": 0.0})


def test_a_crossed_method_chooses_among_as_many_trials_as_the_others() -> None:
    search = CONFIG.searches["synthetic"]
    budget = budget_of(search, "eflops")
    assert [label.partition(",")[0] for label in budget] == [f"trial{trial:02d}" for trial in range(search.trials)]
    assert set(budget) <= set(variants_of(CONFIG, "synthetic", "eflops"))
    counts = pd.Series(budget).str.partition("=")[2].value_counts()
    assert len(counts) == len(search.cross["eflops"]["temperature"])
    assert counts.min() > search.trials / 10
    assert ranking(search, CONFIG.datasets["synthetic"])["budget"] == {"eflops": budget}


def test_the_best_of_all_crossed_trials_is_not_chosen_unless_it_was_drawn() -> None:
    trials = rank(
        runs({"a,t=1": [0.9], "a,t=2": [0.5], "b,t=1": [0.4]}), SEARCH | {"budget": {"m": ["a,t=2", "b,t=1"]}}
    )
    assert trials["variant"].tolist() == ["a,t=1", "a,t=2", "b,t=1"]
    assert trials["drawn"].tolist() == [False, True, True]
    assert choose(trials, {"m": ["rate"]}) == {"m": {"rate": 0.2}}
    near = trials.assign(distance=[0.1, 0.3, 0.2])
    assert choose_nearest(near, {"m": ["rate"]})["m"]["rate"] == pytest.approx(0.3)


def test_a_run_is_tracked_with_what_its_ranking_needs() -> None:
    costs = {f"{name}_{phase}": 1000 for name in COUNTED for phase in ("training", "finetuning")}
    gathered = runs({"one": [1 / 3]}, open_gates=5.0, draw=1, seed=2, set_rounds=7, record="r", kept=5).assign(
        parameters=100, macs=1, dense_macs=2, **costs
    )
    supports = pd.DataFrame({"record": ["r"], "support": ["3 4"], "weights": ["1 2"]})
    rules = {"searched": {"m": ["rate"]}, "nearest": "gene_frequency"}
    (row,) = run_rows(gathered.drop(columns="sent"), supports, rules).to_dict("records")
    assert (row["r2"], row["open_gates"], row["support"], row["set_rate"]) == (0.333333, 1.0, "3 4", 0.1)
    assert 0 < row["sent"] < 1
    assert "set_rounds" not in row


def test_records_of_other_code_are_ranked_and_adopted(tmp_path: Path) -> None:
    results, config = tmp_path / "results", check(SMALL_SEARCH)
    small_results.make_runs(results, config)
    for path in results.glob("runs/**/*.json"):
        values = json.loads(path.read_text().replace('"eflops.training', '"eflops.elsewhere'))
        values["origin"]["code_hash"] = "0" * 16
        path.write_text(json.dumps({**values, "record_sha256": record_hash(values)}))
    rank_records(config, "find", results, ROOT / "resources/paper/targets.yaml", tmp_path / "out")
    adopt(tmp_path / "chosen.yaml", tmp_path / "out/synthetic.json", tmp_path / "kept")
    chosen = yaml.safe_load((tmp_path / "chosen.yaml").read_text())["synthetic"]
    assert chosen["eflops"]["temperature"] > 0 == chosen["flops"]["temperature"]
    tracked = read_run_rows(tmp_path / "kept/synthetic.runs.csv.gz")
    assert tracked.groupby("method").size().to_dict() == {"eflops": 4, "flops": 2}
    assert (tmp_path / "kept/synthetic.csv").exists()
    cases = yaml.safe_load((tmp_path / "chosen.yaml").read_text())["synthetic_temperature"]
    assert {name: case["temperature"] for name, case in cases.items()} == {
        **{"t0": 0.0, "t0_01": 0.01, "t0_1": 0.1, "eflops_at_t0": 0.0},
        "flops_with_t": chosen["eflops"]["temperature"],
    }
    assert cases["eflops_at_t0"]["rate"] == chosen["eflops"]["rate"]
    assert cases["flops_with_t"]["rate"] == chosen["flops"]["rate"]
    raw = SMALL_SEARCH | {
        "chosen": str(tmp_path / "chosen.yaml"),
        "experiments": {"t": EXPERIMENT | {"methods": ["eflops"], "cases_of": "synthetic_temperature"}},
    }
    assert variants_of(check(raw), "t", "eflops")["t0_1"].temperature == 0.1
    with pytest.raises(ConfigError, match="no entry synthetic_other"):
        check(raw | {"experiments": {"t": raw["experiments"]["t"] | {"cases_of": "synthetic_other"}}})


def test_further_entries_are_chosen_from_the_trials_that_send_few_bytes():
    rows = []
    for trial, (r2, sent) in enumerate([(0.9, 0.4), (0.8, 0.2), (0.7, 0.1), (0.6, 0.05)]):
        rows.append({"method": "a", "variant": f"trial{trial:02d}", "drawn": True, "score": r2, "sent": sent,
                     "excluded": "bytes" if sent > 0.3 else "", "set_rate": trial / 10})  # fmt: skip
    ranked = pd.DataFrame(rows).sort_values(["excluded", "score"], ascending=[True, False], ignore_index=True)
    assert choose(ranked, {"a": ["rate"]}) == {"a": {"rate": 0.1}}
    assert choose(ranked, {"a": ["rate"]}, 0.14) == {"a": {"rate": 0.2}}
    with pytest.raises(UserError, match="No trial of a is admitted"):
        choose(ranked, {"a": ["rate"]}, 0.01)
