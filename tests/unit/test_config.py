"""The config: what is refused, in which words, and what follows from a sound one."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from eflops.config import cells
from eflops.config.load import check, merge, read
from eflops.config.mistakes import ConfigError
from eflops.config.models import Config

ROOT = Path(__file__).parents[2]
SOUND: dict[str, Any] = yaml.safe_load("""
datasets:
  synthetic: {kind: synthetic, density: 0.05, features: 100, clients: 4}
  golub: {kind: golub, density: 0.001, clients: 5}
methods:
  eflops: {method: eflops, label: E-FLoPS, settings: {temperature: 0.1, rate: 0.05}}
  fedavg: {method: fedavg, label: FedAvg, settings: {rate: 0.002}, per_dataset: {golub: {rate: 0.1}}}
experiments:
  main: {dataset: synthetic, ratios: [0.64], methods: [eflops, fedavg], seeds: 3}
""")


def changed(path: str, value: Any) -> dict[str, Any]:
    """The sound config with one value set."""
    raw = copy.deepcopy(SOUND)
    *parents, last = path.split(".")
    place = raw
    for key in parents:
        place = place[key]
    place[last] = value
    return raw


BAD = [
    ("experiments.main.seed", 5, "experiments.main.seed: 'seed' is not known; did you mean 'seeds'?"),
    ("experiments.main.seeds", 0, "experiments.main.seeds: 0 is wrong; it should be greater than or equal to 1."),
    ("experiments.main.seeds", "3", "experiments.main.seeds: '3' is wrong; it should be a valid integer."),
    ("experiments.main.methods", ["eflop"], "experiments.main.methods: 'eflop' is not known; did you mean 'eflops'?"),
    ("experiments.main.dataset", "syntetic", "did you mean 'synthetic'?"),
    ("experiments.main.ratios", [], "experiments.main.ratios: missing; synthetic data needs at least one N/d"),
    ("experiments.main.vary", {"gate_rates": [1]}, "experiments.main.vary.gate_rates: 'gate_rates' is not known; did"),
    ("experiments.main.draws", [-1], "experiments.main.draws.0: -1 is wrong; it should be greater than or equal to 0"),
    ("datasets.synthetic.kind", "synthetik", "datasets.synthetic.kind: 'synthetik' is not a data set; it should be"),
    ("datasets.synthetic.density", 1.5, "datasets.synthetic.density: 1.5 is wrong; it should be less than or equal"),
    ("datasets.synthetic.feature", 9, "datasets.synthetic.feature: 'feature' is not known; did you mean 'features'?"),
    ("datasets.golub.scaling", "log", "datasets.golub.scaling: 'log' is wrong; it should be 'intensity', "),
    ("methods.eflops.settings.temprature", 1, "'temprature' is not known; did you mean 'temperature'?"),
    ("methods.eflops.settings.rate", -1, "methods.eflops.settings.rate: -1 is wrong; it should be greater than 0."),
    ("methods.fedavg.settings.gate_rate", 1.0, "methods.fedavg.settings.gate_rate: 'gate_rate' is not known"),
    ("methods.fedavg.per_dataset", {"golb": {}}, "methods.fedavg.per_dataset: 'golb' is not known; did you mean"),
    ("methods.eflops.method", "eflopz", "methods.eflops.method: there is no module eflops.methods.eflopz"),
    ("methods.eflops.method", "no_such_module:Method", "there is no module no_such_module"),
    ("engine", "batch", "engine: 'batch' is wrong; it should be 'batched' or 'flower'."),
    ("experiment", {}, "experiment: 'experiment' is not known; did you mean 'experiments'?"),
    ("methods.eflops", {"method": "eflops"}, "methods.eflops.label: missing; this key is required."),
    (
        "searches",
        {"s": {"dataset": "synthetic", "methods": ["eflops"], "ratios": [1.0], "draws": [0], "seeds": 1,
               "first_seed": 9, "trials": 2, "metric": "r2"}},
        "searches.s.draws: [0] are also evaluated by experiments.main; a search needs draws of its own.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentence"), BAD, ids=[f"{path}={value}"[:60] for path, value, _ in BAD])
def test_a_mistake_is_named_with_its_place_and_what_would_be_right(path: str, value: Any, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check(changed(path, value))
    assert any(sentence in mistake for mistake in caught.value.mistakes), caught.value.mistakes
    assert len(caught.value.mistakes) == 1


def test_every_mistake_is_listed_at_once() -> None:
    raw = changed("experiments.main.seeds", 0)
    raw["methods"]["eflops"]["lable"] = "x"
    with pytest.raises(ConfigError) as caught:
        check(raw)
    assert len(caught.value.mistakes) == 2


def test_a_ratio_for_data_of_a_fixed_size_is_refused() -> None:
    with pytest.raises(ConfigError, match="golub has a fixed size"):
        check(changed("experiments.main.dataset", "golub"))


def test_the_check_command_exits_with_1_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(changed("experiments.main.seed", 5)))
    command = [sys.executable, "-m", "eflops", "check", str(tmp_path / "bad.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "did you mean 'seeds'" in done.stderr


def test_the_shipped_configs_are_sound() -> None:
    for variant in (ROOT / "config").glob("*.yaml"):
        read(ROOT / "config.yaml", variant)


def test_the_schema_file_is_generated_from_the_models() -> None:
    stored = json.loads((ROOT / "workflow/schemas/config.schema.json").read_text())
    assert stored == Config.model_json_schema(), "run `make schema`"


def test_loading_the_config_does_not_import_torch() -> None:
    code = "import sys; from eflops.config import cells, load; from pathlib import Path; "
    code += "list(cells.plans(load.read(Path('config.yaml')))); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_grid_gives_one_variant_for_each_crossing() -> None:
    raw = changed("experiments.main.vary", {"rate": [0.1, 0.2], "local_steps": [1, 3]})
    plan = cells.plan(check(raw), "main")
    assert plan.variants == (
        "rate=0.1,local_steps=1",
        "rate=0.1,local_steps=3",
        "rate=0.2,local_steps=1",
        "rate=0.2,local_steps=3",
    )
    assert len(plan.runs) == 4 * 3


def test_settings_of_a_data_set_override_those_of_the_method() -> None:
    raw = copy.deepcopy(SOUND)
    raw["experiments"]["genes"] = {"dataset": "golub", "methods": ["fedavg"], "seeds": 1, "settings": {"rounds": 7}}
    (settings,) = cells.variants(check(raw), "genes", "fedavg").values()
    assert (settings.rate, settings.rounds) == (0.1, 7)


def test_an_unrelated_edit_leaves_a_cells_slice_as_it_was() -> None:
    before = cells.job(check(SOUND), "main", "nd0.64", "eflops")
    after = cells.job(check(changed("methods.fedavg.settings.rate", 0.5)), "main", "nd0.64", "eflops")
    assert before == after


def test_a_record_path_and_its_run_are_inverse() -> None:
    run = cells.Run("rate=0.1,local_steps=1", 3, 17)
    assert cells.Run.parse(f"results/runs/main/nd0.64/eflops/{run.path}") == run


def test_the_jobs_of_a_cell_share_its_runs_out_and_are_one_by_default() -> None:
    plan = cells.plan(check(SOUND), "main")
    assert list(plan.parts(None)) == list(plan.parts(len(plan.seeds))) == [("", plan.runs)]
    parts = dict(plan.parts(2))
    assert [(name, [run.seed for run in runs]) for name, runs in parts.items()] == [
        ("_seeds0to1", [0, 1]),
        ("_seeds2to2", [2]),
    ]
    assert sorted(run.path for runs in parts.values() for run in runs) == sorted(run.path for run in plan.runs)


def test_merging_lays_mappings_over_each_other_and_replaces_lists() -> None:
    assert merge({"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}}) == {"a": {"b": 1, "c": [2]}}


def test_search_trials_are_the_same_every_time_and_within_their_ranges() -> None:
    raw = copy.deepcopy(SOUND)
    ranges = {"rate": {"low": 0.01, "high": 1.0, "log": True}, "local_steps": [1, 3]}
    raw["searches"] = {
        "s": {"dataset": "synthetic", "methods": ["eflops", "fedavg"], "ratios": [1.0], "draws": [7], "seeds": 1,
              "first_seed": 9, "trials": 5, "metric": "r2", "ranges": ranges}
    }  # fmt: skip
    first, second = (cells.variants(check(raw), "s", method) for method in ("eflops", "fedavg"))
    assert list(first) == [f"trial{number:02d}" for number in range(5)]
    assert all(0.01 <= settings.rate <= 1 and settings.local_steps in {1, 3} for settings in first.values())
    assert [one.rate for one in first.values()] == [one.rate for one in second.values()]
    assert len({one.rate for one in first.values()}) == 5
