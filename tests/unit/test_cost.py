"""What jobs ask a cluster for, and what a study would cost, follow from what past jobs took."""

from pathlib import Path

import pytest

from eflops.config import cells
from eflops.config.load import check
from eflops.files import write_json
from eflops.provenance import anew, requests, study
from unit.test_config import SOUND

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
SECONDS, MEMORY = 90.0, 700.0


class Wildcards(dict):
    """What Snakemake gives to a rule's functions: names and values."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder in which every cell of `main` took the same time and memory."""
    config = check(SOUND)
    plan = cells.plan(config, "main")
    for ratio in plan.ratios:
        for method in plan.methods:
            path = tmp_path / "benchmarks/train/main" / ratio / f"{method}.tsv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{HEADER}{SECONDS}\t0:01:30\t{MEMORY}\t0\t0\t0\t0\t0\t0\t{SECONDS}\n")
    write_json(tmp_path / study.NAME, {"config": config.model_dump(mode="json"), "code": {}})
    return tmp_path


def test_a_job_asks_for_what_its_like_took_with_head_room_and_for_more_at_each_attempt(results: Path) -> None:
    table = results / "resources.csv"
    assert requests.measure(results, table) == 1
    needs, cell = requests.read(table), Wildcards(experiment="main")
    memory, minutes = needs.memory("train/{experiment}"), needs.minutes("train/{experiment}")
    assert memory(cell, 1) >= 2 * MEMORY
    assert minutes(cell, 1) * 60 >= 5 * SECONDS
    assert (memory(cell, 3), minutes(cell, 3)) == (3 * memory(cell, 1), 3 * minutes(cell, 1))


def test_a_job_that_was_never_measured_asks_for_plenty(results: Path) -> None:
    table = results / "resources.csv"
    requests.measure(results, table)
    needs, cell = requests.read(table), Wildcards(experiment="other")
    assert needs.memory("train/{experiment}")(cell, 1) == requests.UNKNOWN_MB
    assert needs.minutes("train/{experiment}")(cell, 1) == requests.UNKNOWN_MINUTES


def test_measuring_again_keeps_what_was_not_run_this_time(results: Path) -> None:
    table = results / "resources.csv"
    table.write_text("jobs,measured,seconds,memory_mb\ntrain/other,1,7.0,80.0\n")
    requests.measure(results, table)
    assert set(requests.read(table).measured) == {"train/main", "train/other"}


def test_a_study_costs_what_its_cells_took_and_in_proportion_to_its_seeds(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(results)
    config = check(SOUND)
    plan = cells.plan(config, "main")
    count = len(plan.ratios) * len(plan.methods)
    told = anew.cost(config, results, cores=1)
    assert (told.jobs, told.unknown) == (count, 0)
    assert told.seconds == pytest.approx(count * SECONDS)
    more = anew.cost(anew.resized(config, 4 * len(plan.seeds), None, len(plan.seeds)), results, cores=1)
    assert more.jobs == 4 * count
    assert more.seconds == pytest.approx(4 * told.seconds)


def test_more_features_cost_what_the_measured_sizes_say(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(features: float, rows: float) -> float:
        return 5 + 0.3 * features + 0.002 * features * rows

    monkeypatch.chdir(results)
    sizes = [("features", 50 * 2**power, 64) for power in range(5)] + [
        ("rows", 100, 16 * 2**power) for power in range(5)
    ]
    lines = [f"{varied},{d},{n},eflops,{spent(d, n)}" for varied, d, n in sizes]
    anew.SCALING.parent.mkdir(exist_ok=True)
    anew.SCALING.write_text("\n".join(["varied,features,rows,method,ms_per_round", *lines]))
    config = check(SOUND)
    before = anew.cost(config, results, cores=1)
    after = anew.cost(anew.resized(config, None, 10_000, None), results, cores=1)
    assert after.seconds / before.seconds == pytest.approx(spent(10_000, 6400) / spent(100, 64), rel=1e-3)
