"""What the summary says of entropy, computed once more from runs alone: with planted effects of either sign, and ours.

Only the closed form of `two_way` is taken over, which has an oracle of its own (test_mixed.py).
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from eflops.analysis.needs import PROFILE, TEMPERATURE, TEMPERATURE_GOLUB, TEMPERATURE_MNIST
from eflops.analysis.paper import OVERLAP
from eflops.analysis.products import temperature
from eflops.analysis.scorecard.make import scorecard
from eflops.analysis.source import Source
from eflops.analysis.stats.mixed import two_way
from eflops.analysis.summary.effects import entropy
from eflops.results.store import opened

ROOT = Path(__file__).parents[2]
TRACKED, PUBLISHED = ROOT / "resources/search", ROOT / "results/published"
SEARCHES = ("synthetic", "golub", "mnist")
NUMBER = r"([+\N{MINUS SIGN}]\d\.\d{3})"
RATIOS = (0.24, 0.64, 1.36)


def planted_search(sign: float) -> pd.DataFrame:
    """Runs in which T adds to R2 at N/d .24 and takes away at 1.36, or the other way round; recovery has half of it."""
    generator, rows = np.random.default_rng(5), []
    for setting in range(12):
        setting_effect = 0.004 * generator.normal()
        for ratio in RATIOS:
            for draw in range(5):
                base = 0.3 + 0.1 * generator.random()
                for value in (0.0, 0.01, 0.1):
                    change = value * (sign * (0.64 - ratio) + setting_effect) + (
                        0.001 * generator.normal() if value else 0
                    )
                    lost = (setting, ratio, draw, value) == (3, 0.64, 2, 0.1)
                    label = f"trial{setting:02d}" + (f",temperature={value}" if value else "")
                    row = {"method": "eflops" if value else "flops", "variant": label, "ratio": ratio, "draw": draw}
                    row |= {"seed": 1000, "status": "diverged" if lost else "finished", "set_temperature": value}
                    row |= {"r2": base + change, "support_recovery": base + change / 2, "accuracy": base + change}
                    rows.append(row | {"auc": base})
    return pd.DataFrame(rows)


def planted_runs(experiment: str, methods: Mapping[str, float], cases: Mapping[str, float]) -> pd.DataFrame:
    """Runs of the paper's size, by method and case, whose R2 is above the others' by so much."""
    generator, rows = np.random.default_rng(6), []
    for draw in range(8):
        for ratio in RATIOS:
            base = generator.random()
            for method, lead in methods.items():
                for case, value in cases.items():
                    change = lead + (0.2 * value if value < 0.1 else -0.2 * value) + 0.001 * generator.normal()
                    row = {"experiment": experiment, "dataset": "synthetic", "ratio": ratio, "method": method}
                    row |= {"variant": case, "draw": draw, "seed": 0, "status": "finished", "record": len(rows)}
                    row |= {"r2": base + change, "support_recovery": (base + change) / 2, "set_temperature": value}
                    rows.append(row | {"parameters": 1000, "kept": 50, "last_round_training": 1})
    return pd.DataFrame(rows)


def effect_tables(runs: pd.DataFrame, metric: str, overlap: float = 0.0) -> dict[tuple[object, float], pd.DataFrame]:
    """By N/d (or "all") and T: settings x draws of differences; a setting with a run that diverged is left out."""
    runs = runs[runs["method"].isin(["eflops", "flops"])]
    values = runs[metric].where(runs["status"] == "finished")
    runs = runs.assign(
        value=values, trial=runs["variant"].str.extract(r"^(trial\d+)")[0], ratio=runs["ratio"].fillna(0)
    )
    keys = ["trial", "ratio", "draw", "seed"]
    wide = runs.set_index([*keys, "set_temperature"])["value"].unstack("set_temperature")
    tables: dict[tuple[object, float], pd.DataFrame] = {}
    for value in wide.columns[wide.columns > 0]:
        each = (wide[value] - wide[0.0]).unstack(["ratio", "draw", "seed"]).dropna()
        tables["all", value] = each.T.groupby("draw").mean().T
        for ratio in runs["ratio"].unique():
            part = (wide[value] - wide[0.0]).xs(ratio, level="ratio").unstack(["draw", "seed"]).dropna()
            tables[ratio, value] = part.T.groupby("draw").mean().T
    return tables


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-"))


def check_over_settings(text: str, runs: pd.DataFrame) -> None:
    r2, recovery = (effect_tables(runs, metric) for metric in ("r2", "support_recovery"))
    means = {value: table.to_numpy().mean() for (ratio, value), table in r2.items() if ratio == "all"}
    best = max(means, key=lambda value: means[value])
    settings, said, first, second = re.search(
        rf"over (\d+) settings .* above 0, (\S+), changes test R2 by {NUMBER} \(.* recovery by {NUMBER} \(", text
    ).groups()  # type: ignore[union-attr]
    assert (int(settings), float(said)) == (len(r2["all", best]), best)
    assert number(first) == pytest.approx(means[best], abs=6e-4)
    assert number(second) == pytest.approx(recovery["all", best].to_numpy().mean(), abs=6e-4)


def check_by_ratio(text: str, runs: pd.DataFrame) -> str:
    """The N/d at which T clearly raises and lowers R2 and recovery, its best value at each N/d, and the advice."""
    best: list[float] = []
    for metric, sentence in (
        ("r2", r"raises test R2 clearly (.*?), some lowers it clearly (.*?); support"),
        ("support_recovery", r"support recovery rises clearly (.*?) and falls (.*?); from"),
    ):
        tables = {key: table for key, table in effect_tables(runs, metric).items() if key[0] != "all"}
        tests = {key: two_way(table.to_numpy()) for key, table in tables.items()}
        clear = multipletests([test.p for test in tests.values()], method="holm")[0]
        signs = {key: np.sign(test.mean) * sure for (key, test), sure in zip(tests.items(), clear, strict=True)}
        for part, sign in zip(re.search(sentence, text).groups(), (1, -1), strict=True):  # type: ignore[union-attr]
            ratios = sorted({ratio for (ratio, _), each in signs.items() if each == sign})
            words = f"at N/d {', '.join(f'{ratio:g}' for ratio in ratios)}" if ratios else "at no N/d"
            assert part.partition(" (")[0] == words
        if metric == "r2":
            for ratio in sorted({ratio for ratio, _ in tests}):
                means = {value: test.mean for (at, value), test in tests.items() if at == ratio} | {0.0: 0.0}
                best.append(max(means, key=lambda value: means[value]))
    assert f"the best T is {', '.join(f'{each:g}' for each in best)}, so" in text
    verdict = re.search(r"N decreases (holds|does not hold|is not settled)", text)[1]  # type: ignore[index]
    assert (verdict == "does not hold") == (best[0] <= best[-1])
    return verdict


def check_elsewhere(text: str, runs: Mapping[str, pd.DataFrame]) -> None:
    parts = re.findall(
        rf"on ([\w ]+?) (no T|T) clearly changes accuracy over (\d+) settings \(the clearest change is {NUMBER} "
        r"\(.*?\) at T = ([\d.e-]+)\)",
        text,
    )
    assert [part[0] for part in parts] == ["leukaemia data", "MNIST"]
    for (_, word, settings, size, at), (name, overlap) in zip(parts, (("golub", OVERLAP), ("mnist", 0.0)), strict=True):
        tables = {key[1]: table for key, table in effect_tables(runs[name], "accuracy").items() if key[0] == "all"}
        tests = {value: two_way(table.to_numpy(), overlap) for value, table in tables.items()}
        clearest = min(tests, key=lambda value: tests[value].p)
        assert (int(settings), float(at)) == (len(tables[clearest]), clearest)
        assert number(size) == pytest.approx(tests[clearest].mean, abs=6e-4)
        clear = multipletests([test.p for test in tests.values()], method="holm")[0].any()
        assert word == ("T" if clear else "no T")


def check_tuned_alike(text: str, table1: pd.DataFrame, cases: pd.DataFrame) -> None:
    leads: dict[str, list[str]] = {"E-FLoPS": [], "T = 0": []}
    for name, metric in (("support recovery", "support_recovery"), ("test R2", "r2")):
        means = table1[table1["status"] == "finished"].groupby(["draw", "method"])[metric].mean().unstack()
        difference = means["eflops"] - means["flops"]
        assert number(re.search(rf"{name} {NUMBER} \(", text)[1]) == pytest.approx(difference.mean(), abs=6e-4)  # type: ignore[index]
        if stats.ttest_1samp(difference, 0).pvalue < 0.05:
            leads["E-FLoPS" if difference.mean() > 0 else "T = 0"].append(name)
    for method, metrics in leads.items():
        words = f"{method} is clearly better in {' and '.join(metrics)} "
        assert (words in text) == bool(metrics)
        assert (f"{method} is clearly" in text) == bool(metrics)
    assert ("neither is clearly better" in text) == (not any(leads.values()))
    best = cases[cases["variant"].str.fullmatch("t[0-9_]+")].pivot_table(index="draw", columns="variant", values="r2")
    others = best.drop(columns="t0").sub(best["t0"], axis=0)
    clear = multipletests(stats.ttest_1samp(others, 0).pvalue, method="holm")[0]
    better, worse = (int((clear & (sign * others.mean() > 0)).sum()) for sign in (1, -1))
    assert f"at {others.shape[1]} T above 0, {better} are clearly better in test R2 and {worse} clearly worse" in text
    ends = [number(each) for each in re.search(rf"at T = 0 \({NUMBER} to {NUMBER}\)", text).groups()]  # type: ignore[union-attr]
    assert ends == pytest.approx([others.mean().min(), others.mean().max()], abs=6e-4)


@pytest.mark.parametrize(("sign", "verdict"), [(1, "holds"), (-1, "does not hold"), (0, "")])
def test_each_sentence_follows_from_runs_with_planted_effects(
    sign: int, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eflops.analysis.source.locate", lambda name: tmp_path / name)
    paths = {name: f"resources/search/{name}.runs.csv.gz" for name in SEARCHES}
    planted = planted_search(sign)
    runs = {name: planted if name == "synthetic" else planted.assign(ratio=np.nan, seed=0) for name in SEARCHES}
    # The other data have one size: the draws of another N/d are further draws of theirs.
    for name in ("golub", "mnist"):
        runs[name] = runs[name].assign(draw=planted["draw"] + 10 * planted["ratio"].rank(method="dense").astype(int))
    for folder in ("resources/search", "tables", "gathered"):
        (tmp_path / folder).mkdir(parents=True)
    for name, path in paths.items():
        runs[name].to_csv(tmp_path / path, index=False)
    table1 = planted_runs("support_recovery", {"eflops": 0.01 * sign, "flops": 0.0}, {"base": 0.0})
    cases = planted_runs("temperature", {"eflops": 0.0}, {"t0": 0.0, "t0_01": 0.01, "t0_1": 0.1, "eflops_at_t0": 0.0})
    for frame in (table1, cases):
        frame.to_csv(tmp_path / f"gathered/{frame['experiment'].iloc[0]}.csv", index=False)
    source = Source(tmp_path, experiments=("temperature",), resources=tuple(paths.values()))
    tables = {TEMPERATURE: temperature.table(source, "synthetic", ["support_recovery", "r2"])}
    tables[TEMPERATURE_GOLUB] = temperature.table(source, "golub", ["accuracy", "auc"], splits=True)
    tables[TEMPERATURE_MNIST] = temperature.table(source, "mnist", ["accuracy"])
    tables[PROFILE] = temperature.profile(source, "t0", {})
    for path, table in tables.items():
        table.write(tmp_path / path)
    card = scorecard(tmp_path, ROOT / "resources/paper/targets.yaml", {}, ["support_recovery"]).as_json()
    texts = [point.text for point in entropy(card, Source(tmp_path))]
    assert len(texts) == 4
    check_over_settings(texts[0], runs["synthetic"])
    said = check_by_ratio(texts[1], runs["synthetic"])
    assert said == verdict or not verdict
    check_elsewhere(texts[2], runs)
    check_tuned_alike(texts[3], table1, cases)


@pytest.mark.skipif(
    not all((TRACKED / f"{name}.runs.csv.gz").exists() for name in SEARCHES)
    or not (PUBLISHED / "summary.json").exists(),
    reason="the runs of the crossed searches are not tracked and published yet",
)
def test_each_published_sentence_follows_from_the_tracked_runs_and_records() -> None:
    runs = {name: pd.read_csv(TRACKED / f"{name}.runs.csv.gz") for name in SEARCHES}
    subjects = json.loads((PUBLISHED / "summary.json").read_text())["subjects"]
    texts = [point["text"] for each in subjects if each["name"] == "Entropy" for point in each["points"]]
    assert len(texts) == 4
    check_over_settings(texts[0], runs["synthetic"])
    check_by_ratio(texts[1], runs["synthetic"])
    check_elsewhere(texts[2], runs)
    with opened(PUBLISHED) as store:
        records = pd.DataFrame(
            {"draw": record.run.draw, "variant": record.run.variant, "method": record.run.method}
            | {"status": record.result.status, "experiment": path.split("/")[0], **record.result.metrics}
            for path in store.record_paths()
            if path.startswith(("support_recovery/", "temperature/"))
            for record in [store.record(path)]
        )
    by_experiment = dict(iter(records.groupby("experiment")))
    check_tuned_alike(texts[3], by_experiment["support_recovery"], by_experiment["temperature"])
