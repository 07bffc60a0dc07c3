"""What T changes: runs of a crossed search against their twins at T = 0, and the best setting at each T."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eflops.analysis.products import temperature as product
from eflops.analysis.source import Source
from eflops.analysis.stats.temperature import best_at_each, effects, twins

ROOT = Path(__file__).parents[2]
TEMPERATURES = (0.01, 0.1)
RATIOS = (0.24, 1.36)
TRACKED = ROOT / "resources/search/synthetic.runs.csv.gz"


def search(settings: int = 12, draws: int = 4) -> pd.DataFrame:
    """Runs in which T adds .05 at N/d .24 and takes .03 away at 1.36, with some noise, times T / .1."""
    generator, rows = np.random.default_rng(5), []
    gain = dict(zip(RATIOS, (0.05, -0.03), strict=True))
    for setting in range(settings):
        for ratio in RATIOS:
            for draw in range(draws):
                base = generator.random()
                for temperature in (0.0, *TEMPERATURES):
                    change = gain[ratio] * temperature / 0.1 + (0.002 * generator.normal() if temperature else 0)
                    label = f"trial{setting:02d}" + (f",temperature={temperature}" if temperature else "")
                    rows.append(
                        {"method": "eflops" if temperature else "flops", "variant": label, "ratio": ratio, "draw": draw}
                        | {"seed": 1000, "status": "finished", "r2": base + change, "set_temperature": temperature}
                        | {"set_local_steps": (1, 5)[setting % 2], "set_gate_rate": 0.1 * (setting + 1)}
                    )
    return pd.DataFrame(rows)


def test_a_run_is_compared_with_its_twin_at_T_0() -> None:
    runs = search()
    difference = twins(runs, ["r2"]).set_index(["temperature", "setting", "ratio", "draw"])["difference"]
    assert len(difference) == 12 * 2 * 4 * 2
    one = runs[(runs["variant"] == "trial03,temperature=0.1") & (runs["ratio"] == 1.36) & (runs["draw"] == 2)]
    other = runs[(runs["variant"] == "trial03") & (runs["ratio"] == 1.36) & (runs["draw"] == 2)]
    expected = one["r2"].iloc[0] - other["r2"].iloc[0]
    assert difference.loc[(0.1, "trial03", 1.36, 2)] == pytest.approx(expected)


def test_a_planted_effect_is_found_with_its_sign_at_each_ratio() -> None:
    cells = effects(twins(search(), ["r2"])).set_index(["group", "temperature"])
    scarce, ample = cells.loc[("N/d 0.24", 0.1)], cells.loc[("N/d 1.36", 0.1)]
    assert scarce["low"] <= 0.05 <= scarce["high"]
    assert ample["low"] <= -0.03 <= ample["high"]
    assert (scarce["low"] > 0, ample["high"] < 0) == (True, True)
    assert cells.loc[("all settings", 0.1), "mean"] == pytest.approx((scarce["mean"] + ample["mean"]) / 2)
    assert (scarce["helps"], scarce["hurts"], ample["hurts"]) == (12, 0, 12)
    for by, count in (("local steps", 2), ("gate rate", 3)):
        sizes = cells[cells["by"] == by].groupby("group")["settings"].first()
        assert (len(sizes), sizes.sum()) == (count, 12)


def test_a_setting_with_a_diverged_run_is_left_out_and_counted() -> None:
    runs = search()
    lost = (runs["variant"] == "trial03,temperature=0.1") & (runs["ratio"] == 1.36) & (runs["draw"] == 2)
    runs.loc[lost, "status"] = "diverged"
    runs.loc[lost, "r2"] = -1e9
    cells = effects(twins(runs, ["r2"])).set_index(["group", "temperature"])
    assert cells.loc[("N/d 1.36", 0.1), ["settings", "missing"]].tolist() == [11, 1]
    assert cells.loc[("N/d 0.24", 0.1), ["settings", "missing"]].tolist() == [12, 0]
    assert cells.loc[("all settings", 0.1), ["settings", "missing"]].tolist() == [11, 1]
    assert abs(cells.loc[("N/d 1.36", 0.1), "mean"]) < 0.1


def test_data_of_one_size_have_one_group_of_all_settings() -> None:
    runs = search()
    cells = effects(twins(runs[runs["ratio"] == 0.24].assign(ratio=np.nan), ["r2"]))
    assert cells[cells["by"] == "all"]["mean"].tolist() == pytest.approx([0.005, 0.05], abs=2e-3)
    assert "N/d" not in set(cells["by"])


def test_the_profile_has_the_best_admitted_trial_at_each_T() -> None:
    trials = pd.DataFrame(
        [
            ("eflops", "a", "", 0.5, 0.1),
            ("eflops", "b", "open gates", 0.9, 0.1),
            ("eflops", "c", "", 0.4, 0.01),
            ("flops", "d", "", 0.3, 0.0),
            ("flops", "e", "", 0.2, 0.0),
            ("fedavg", "f", "", 0.8, 0.0),
        ],
        columns=["method", "variant", "excluded", "score", "set_temperature"],
    )
    assert best_at_each(trials)["variant"].tolist() == ["d", "c", "a"]


def test_table_and_figure_show_each_T_beside_T_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, path = tmp_path / "resources/search/synthetic.runs.csv.gz", "resources/search/synthetic.runs.csv.gz"
    file.parent.mkdir(parents=True)
    search().assign(support_recovery=lambda runs: runs["r2"] / 2).to_csv(file, index=False)
    monkeypatch.setattr("eflops.analysis.source.locate", lambda name: tmp_path / name)
    cases = {"t0": 0.0, "t0_1": 0.1, "eflops_at_t0": 0.0}
    (tmp_path / "gathered").mkdir()
    runs = [
        {
            "experiment": "t",
            "variant": case,
            "ratio": ratio,
            "draw": draw,
            "seed": 0,
            "status": "finished",
            "record": "",
        }
        | {"r2": draw + temperature, "support_recovery": draw / 2, "set_temperature": temperature, "method": "eflops"}
        for case, temperature in cases.items()
        for ratio in RATIOS
        for draw in range(4)
    ]
    pd.DataFrame(runs).to_csv(tmp_path / "gathered/t.csv", index=False)
    source = Source(tmp_path, experiments=("t",), resources=(path,))
    table = product.table(source, "synthetic", ["support_recovery", "r2"])
    assert [row["settings"] for row in table.rows[:4]] == ["all settings"] * 2 + ["N/d 0.24"] * 2
    assert set(table.rows[0]) == {"settings", "metric", "n", "T = 0.01", "T = 0.1"}
    profile = product.profile(source, "t0", {"t0": "best at T = 0"})
    cells = profile.data.set_index(["case", "metric"])
    assert cells.loc[("t0_1", "r2"), ["difference", "mean"]].tolist() == pytest.approx([0.1, 1.6])
    assert math.isnan(cells.loc[("t0", "r2"), "difference"])
    assert profile.rows[0]["settings"] == "best at T = 0"
    figure = product.figure(source, "synthetic", "t0")
    assert figure.data["panel"].unique().tolist() == ["settings", "profile"]
    assert set(figure.data[figure.data["panel"] == "profile"]["case"]) == {"t0", "t0_1"}
    lines = figure.drawing.axes[0].containers
    assert [each.get_label() for each in lines] == ["all N/d", "N/d 0.24", "N/d 1.36"]


@pytest.mark.skipif(not TRACKED.exists(), reason="the runs of the search are not tracked yet")
def test_the_means_of_the_tracked_search_are_plain_means_of_plain_differences() -> None:
    """The summary's numbers once more, from the tracked runs by another way: wide tables and one subtraction."""
    runs = pd.read_csv(TRACKED)
    runs = runs[runs["method"].isin(["eflops", "flops"])]
    runs["trial"] = runs["variant"].str[:8].str.strip(",")
    wide = runs.pivot_table(index=["trial", "ratio", "draw"], columns="set_temperature", values="r2", dropna=False)
    sound = wide.dropna()
    cells = effects(twins(runs, ["r2"])).set_index(["by", "ratio", "temperature"]).sort_index()
    for ratio, part in sound.groupby("ratio"):
        for temperature in part.columns[1:]:
            cell = cells.loc[[("N/d", ratio, temperature)]].iloc[0]
            if cell["missing"] == 0:
                assert cell["mean"] == pytest.approx((part[temperature] - part[0.0]).mean(), abs=1e-9)
