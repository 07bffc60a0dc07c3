"""What the summary says of entropy, computed once more from runs alone: with planted effects of either sign, and ours.

Only the closed form of `two_way` is taken over, which has an oracle of its own (test_mixed.py).
"""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from eflops.analysis.needs import TEMPERATURE, TEMPERATURE_GOLUB, TEMPERATURE_MNIST
from eflops.analysis.paper import OVERLAP
from eflops.analysis.products import temperature
from eflops.analysis.scorecard.make import scorecard
from eflops.analysis.source import Source
from eflops.analysis.stats.mixed import two_way
from eflops.analysis.stats.temperature import LIMITED
from eflops.analysis.summary.effects import entropy
from eflops.files import read_json
from eflops.results.paths import SCORECARD
from eflops.results.store import opened

ROOT = Path(__file__).parents[2]
TRACKED, PUBLISHED = ROOT / "resources/search", ROOT / "results/published"
SEARCHES = ("synthetic", "golub", "mnist")
NUMBER = r"([+\N{MINUS SIGN}]\d\.\d{3})"
RATIOS = (0.24, 0.64, 1.36)
METRICS = {"test R2": "r2", "support recovery": "support_recovery"}


def planted_search(sign: float) -> pd.DataFrame:
    """Runs in which T adds to R2 at N/d .24 and takes away at 1.36, or the other way round; recovery has half of it.

    One setting has a large T and an R2 of -9 to -13 at N/d .24, which would hide the effects of all others there.
    """
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
                    astray = (setting, ratio, value) == (7, 0.24, 0.1)
                    rows.append(row | {"auc": base} | ({"r2": -9.0 - draw} if astray else {}))
    return pd.DataFrame(rows)


def planted_table1(lead: float) -> pd.DataFrame:
    """Runs of the paper's size in which the R2 of E-FLoPS is above that of FLoPS by so much, its recovery by half.

    Where it is below, not T alone differs but a rate too.
    """
    generator, rows = np.random.default_rng(6), []
    for draw in range(8):
        for ratio in RATIOS:
            base = generator.random()
            for method, change in (("eflops", lead), ("flops", 0.0)):
                value = base + change + 0.001 * generator.normal()
                row = {"experiment": "support_recovery", "dataset": "synthetic", "ratio": ratio, "method": method}
                row |= {"variant": "base", "draw": draw, "seed": 0, "status": "finished", "record": len(rows)}
                row |= {"r2": value, "support_recovery": value / 2, "parameters": 1000, "kept": 50}
                row |= {"set_temperature": 0.01 * (method == "eflops"), "set_clip": None}
                row["set_rate"] = 0.2 if lead < 0 and method == "eflops" else 0.1
                rows.append(row | {"last_round_training": 1})
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
    said, first, second, settings = re.search(
        rf"above 0 is (\S+): .* test R2 by {NUMBER} \(.* recovery by {NUMBER} \(.* over (\d+) settings", text
    ).groups()  # type: ignore[union-attr]
    assert (int(settings), float(said)) == (len(r2["all", best]), best)
    assert number(first) == pytest.approx(means[best], abs=6e-4)
    assert number(second) == pytest.approx(recovery["all", best].to_numpy().mean(), abs=6e-4)


def check_by_ratio(text: str, runs: pd.DataFrame, limited: bool = True) -> None:
    """The N/d at which T clearly raises and lowers R2, by how much, and the smallest T that lowers it."""
    runs = runs.assign(r2=runs["r2"].clip(lower=-1)) if limited else runs
    assert text.endswith("; an R2 below \N{MINUS SIGN}1 counts as \N{MINUS SIGN}1.") == limited
    tables = {key: table for key, table in effect_tables(runs, "r2").items() if key[0] != "all"}
    tests = {key: two_way(table.to_numpy()) for key, table in tables.items()}
    clear = multipletests([test.p for test in tests.values()], method="holm")[0]
    for verb, sign in (("raises test R2", 1), ("lowers it", -1)):
        means = {key: sign * test.mean for (key, test), sure in zip(tests.items(), clear, strict=True) if sure}
        sizes = {key: mean for key, mean in means.items() if mean > 0}
        said = re.search(
            rf"clearly {verb} at (no N/d|N/d ([^;]*?), (?:most at [^;]*)?by {NUMBER} [^;]* T = (\d[\d.]*\d|\d))", text
        )
        assert said is not None
        assert (said[1] == "no N/d") == (not sizes)
        if sizes:
            most = max(sizes, key=lambda key: sizes[key])
            where, _, least = said[2].partition(", with T of at least ")
            assert [float(each) for each in re.findall(r"[\d.]+", where)] == sorted({float(at) for at, _ in sizes})  # type: ignore[arg-type]
            assert number(said[3]) == pytest.approx(sign * sizes[most], abs=6e-4)
            assert float(said[4]) == most[1]
            assert float(least or 0) == (min(value for _, value in sizes) if sign < 0 else 0)


def check_advice(text: str, runs: pd.DataFrame, limited: bool = True) -> dict[str, str]:
    """Whether T should rise as N decreases, by each metric; returned: the verdicts."""
    runs = runs.assign(r2=runs["r2"].clip(lower=-1)) if limited else runs
    verdicts = {name: expected_advice(runs, metric) for name, metric in METRICS.items()}
    first, second = verdicts.values()
    words = first if first == second else " and ".join(f"{verdict} for {name}" for name, verdict in verdicts.items())
    assert text.startswith(f"The paper's advice to raise T as N decreases {words}; ")
    return verdicts


def expected_advice(runs: pd.DataFrame, metric: str) -> str:
    """Whether the best T is larger at the smallest N/d than at the largest, and clearly gains more there."""
    tables = {key: table for key, table in effect_tables(runs, metric).items() if key[0] != "all"}
    best = {}
    for ratio in (scarce := min(at for at, _ in tables), ample := max(at for at, _ in tables)):  # type: ignore[type-var]
        means = {value: table.to_numpy().mean() for (at, value), table in tables.items() if at == ratio} | {0.0: 0.0}
        best[ratio] = max(means, key=lambda value: means[value])
    if best[scarce] <= best[ample]:
        return "does not hold"
    contrasts = {
        value: two_way((tables[scarce, value] - tables[ample, value]).dropna().to_numpy())
        for at, value in tables
        if at == scarce
    }
    sure = dict(zip(contrasts, multipletests([each.p for each in contrasts.values()], method="holm")[0], strict=True))
    return "holds" if sure[best[scarce]] and contrasts[best[scarce]].mean > 0 else "is undecided"


def check_elsewhere(text: str, runs: Mapping[str, pd.DataFrame]) -> None:
    said, sizes = re.search(
        r"future work, (.*?) T clearly changes accuracy(?:.*?): the clearest changes are (.*)\.$", text
    ).groups()  # type: ignore[union-attr]
    parts = re.findall(rf"{NUMBER} \([^)]*\) on (leukaemia data|MNIST)", sizes)
    assert [name for _, name in parts] == ["leukaemia data", "MNIST"]
    changed = []
    for (size, called), (name, overlap) in zip(parts, (("golub", OVERLAP), ("mnist", 0.0)), strict=True):
        tables = {key[1]: table for key, table in effect_tables(runs[name], "accuracy").items() if key[0] == "all"}
        tests = {value: two_way(table.to_numpy(), overlap) for value, table in tables.items()}
        assert number(size) == pytest.approx(min(tests.values(), key=lambda test: test.p).mean, abs=6e-4)
        if multipletests([test.p for test in tests.values()], method="holm")[0].any():
            changed.append(called)
    assert said == ("some" if changed else "no")
    assert ("on MNIST alone" in text, "on leukaemia data alone" in text) == (
        changed == ["MNIST"],
        changed == ["leukaemia data"],
    )


def check_tuned_alike(text: str, table1: pd.DataFrame) -> None:
    leads: dict[str, list[str]] = {"E-FLoPS": [], "T = 0": []}
    furthest = 0.0
    for name, metric in (("support recovery", "support_recovery"), ("test R2", "r2")):
        means = table1[table1["status"] == "finished"].groupby(["draw", "method"])[metric].mean().unstack()
        difference = means["eflops"] - means["flops"]
        assert number(re.search(rf"{NUMBER} \([^)]*\) in {name}", text)[1]) == pytest.approx(
            difference.mean(), abs=6e-4
        )  # type: ignore[index]
        test = stats.ttest_1samp(difference, 0)
        furthest = max(furthest, *np.abs(test.confidence_interval(0.95)))
        if test.pvalue < 0.05:
            leads["E-FLoPS" if difference.mean() > 0 else "T = 0"].append(name)
    within = furthest < 0.02
    assert ("T = 0 is as good within 0.02" in text) == within
    for method, metrics in leads.items():
        words = f"{method} is clearly better in {' and '.join(metrics)}"
        assert (words in text) == (bool(metrics) and not within)
    assert ("inconclusive" in text) == (not any(leads.values()) and not within)


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
    table1 = planted_table1(0.03 * sign)
    table1.to_csv(tmp_path / "gathered/support_recovery.csv", index=False)
    source = Source(tmp_path, resources=tuple(paths.values()))
    tables = {TEMPERATURE: temperature.table(source, "synthetic", ["support_recovery", "r2", LIMITED])}
    tables[TEMPERATURE_GOLUB] = temperature.table(source, "golub", ["accuracy", "auc"], splits=True)
    tables[TEMPERATURE_MNIST] = temperature.table(source, "mnist", ["accuracy"])
    for path, table in tables.items():
        table.write(tmp_path / path)
    card = scorecard(tmp_path, ROOT / "resources/paper/targets.yaml", {}, ["support_recovery"]).as_json()
    texts = [point.text for point in entropy(card, Source(tmp_path))]
    assert len(texts) == 4
    check_over_settings(texts[0], runs["synthetic"])
    check_by_ratio(texts[1], runs["synthetic"])
    said = check_advice(texts[2], runs["synthetic"])
    assert said["support recovery"] == verdict or not verdict
    check_elsewhere(texts[2], runs)
    check_tuned_alike(texts[3], table1)
    alone = "; the search chose T = 0.01 for E-FLoPS, and for both the same other settings."
    assert texts[3].endswith(alone) == (sign >= 0)


def test_each_sentence_on_the_published_results_follows_from_the_tracked_runs_and_records() -> None:
    runs = {name: pd.read_csv(TRACKED / f"{name}.runs.csv.gz") for name in SEARCHES}
    texts = [point.text for point in entropy(read_json(PUBLISHED / SCORECARD), Source(PUBLISHED))]
    assert len(texts) == 4
    check_over_settings(texts[0], runs["synthetic"])
    limited = LIMITED in set(pd.read_csv(PUBLISHED / TEMPERATURE)["metric"])
    check_by_ratio(texts[1], runs["synthetic"], limited)
    check_advice(texts[2], runs["synthetic"], limited)
    check_elsewhere(texts[2], runs)
    with opened(PUBLISHED) as store:
        records = pd.DataFrame(
            {"draw": record.run.draw, "method": record.run.method, "status": record.result.status}
            | record.result.metrics
            for path in store.record_paths()
            if path.startswith("support_recovery/")
            for record in [store.record(path)]
        )
    check_tuned_alike(texts[3], records)
