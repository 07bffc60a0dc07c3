"""The config: what is refused, in which words, and what follows from a sound one."""

import copy
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from eflops.config.checks import RULES
from eflops.config.effective import overridden_choices, settings_text
from eflops.config.load import check, in_order_of, merge, read, read_yaml
from eflops.config.messages import ConfigError
from eflops.config.plan import cell_spec, cell_specs, plan_of, variants_of
from eflops.results import labels

ROOT = Path(__file__).parents[2]
SOUND: dict[str, Any] = yaml.safe_load("""
datasets:
  synthetic: {kind: synthetic, density: 0.05, features: 100, clients: 4}
  golub: {kind: expression, matrix: expression.csv, density: 0.001, clients: 5}
methods:
  eflops: {method: eflops, label: E-FLoPS, settings: {temperature: 0.1, rate: 0.05}}
  fedavg: {method: fedavg, label: FedAvg, settings: {rate: 0.002}, per_dataset: {golub: {rate: 0.1}}}
experiments:
  main: {dataset: synthetic, ratios: [0.64], methods: [eflops, fedavg], seeds: 3}
""")


DIGITS = {"kind": "mnist", "density": 0.1}
OWN_DATA = {"model": "linear", "density": 0.1}
SEARCH = {"dataset": "synthetic", "methods": ["eflops"], "ratios": [1.0], "draws": [9], "seeds": 1, "first_seed": 9,
          "trials": 2, "metric": "r2"}  # fmt: skip


def changed(path: str, value: Any) -> dict[str, Any]:
    """The sound config with one value set."""
    raw = copy.deepcopy(SOUND)
    *parents, last = path.split(".")
    mapping = raw
    for key in parents:
        mapping = mapping[key]
    mapping[last] = value
    return raw


BAD = [
    ("searches", {"s": {**SEARCH, "metric": "accuracy"}}, "searches.s.metric: runs on synthetic have no accuracy; use"),
    ("searches", {"s": {**SEARCH, "nearest": "gene_frequency"}}, "searches.s.nearest: gene_frequency is the paper's"),
    ("experiments.main.target", "train", "experiments.main.target: the workflow already has a rule train; give"),
    ("experiments.main.target", "data_golub", "experiments.main.target: the workflow already has a rule data_golub"),
    ("experiments.main.vary", {key: [*range(1, 99)] for key in ("rate", "clip", "rounds")}, "makes 941,192 variants;"),
    ("experiments.main_tests", SOUND["experiments"]["main"], "would both have the table main_tests; rename one."),
    ("experiments.fig_main", SOUND["experiments"]["main"], "would both have the table fig_main; rename one."),
    ("experiments." + "x" * 300, SOUND["experiments"]["main"], "it should have at most 80 characters"),
    ("datasets.synthetic.shift_scale", 1e300, "datasets.synthetic.shift_scale: 1e+300 is wrong; it should be less"),
    ("methods.eflops.label", "a\ud800", "methods.eflops.label: 'a\\ud800' contains half of a character"),
    ("experiments.main.settings_of", "x", "experiments.main.settings_of: 'settings_of' is now called 'chosen_entry'"),
    ("searches", {"s": {**SEARCH, "chooses": "x"}}, "searches.s.chooses: 'chooses' is now called 'chosen_entry'"),
    ("searches", {"s": {**SEARCH, "cross": {"fedavg": {"rate": [1]}}}}, "searches.s.cross: 'fedavg' is not known; did"),
    ("searches", {"s": {**SEARCH, "cross": {"eflops": {"rat": [1]}}}}, "searches.s.cross.eflops.rat: 'rat' is not"),
    ("searches", {"s": {**SEARCH, "cross": {"eflops": {"rate": [-1]}}}}, "searches.s.cross.eflops.rate: -1 is wrong"),
    ("searches", {"s": {**SEARCH, "cross": {"eflops": {"rate": [1, 1]}}}}, "searches.s.cross.eflops.rate: [1, 1] is"),
    ("experiments.main.seed", 5, "experiments.main.seed: 'seed' is not known; did you mean 'seeds'?"),
    ("experiments.main.seeds", 0, "experiments.main.seeds: 0 is wrong; it should be greater than or equal to 1."),
    ("experiments.main.seeds", "three", "experiments.main.seeds: 'three' is wrong; it should be a valid integer."),
    ("experiments.main.seeds", 10**6, "experiments.main.seeds: 1000000 is wrong; it should be less than or equal to"),
    ("experiments.main.first_seed", 2**64, "experiments.main.first_seed: 18446744073709551616 is wrong; it should be"),
    ("experiments.main.draws", [2**31], "experiments.main.draws.0: 2147483648 is wrong; it should be less than"),
    ("experiments.main.draws", [7, 7], "experiments.main.draws: [7, 7] is wrong; it should name 7 only once."),
    ("experiments.main.draws", [], "experiments.main.draws: [] is wrong; list should have at least 1 item"),
    ("experiments.main.ratios", [0.64, 1, 1.0], "experiments.main.ratios: [0.64, 1, 1.0] is wrong; it should name 1.0"),
    ("experiments.main.ratios", [float("inf")], "experiments.main.ratios.0: inf is wrong; it should be a finite"),
    ("experiments.main.methods", ["eflops", "eflops"], "is wrong; it should name 'eflops' only once."),
    ("experiments.main.vary", {"rate": [1, 1.0]}, "experiments.main.vary.rate: [1, 1.0] is wrong; it should name 1.0"),
    ("experiments", {}, "experiments: missing; define at least one."),
    ("experiments.main.methods", ["eflop"], "experiments.main.methods: 'eflop' is not known; did you mean 'eflops'?"),
    ("experiments.main.dataset", "syntetic", "did you mean 'synthetic'?"),
    ("experiments.main.ratios", [], "experiments.main.ratios: missing; synthetic data needs at least one N/d"),
    ("experiments.main.vary", {"gate_rates": [1]}, "experiments.main.vary.gate_rates: 'gate_rates' is not known; did"),
    ("experiments.main.draws", [-1], "experiments.main.draws.0: -1 is wrong; it should be greater than or equal to 0"),
    ("datasets.synthetic.kind", "synthetik", "datasets.synthetic.kind: 'synthetik' is not a data set; it should be"),
    ("datasets.synthetic.density", 1.5, "datasets.synthetic.density: 1.5 is wrong; it should be less than or equal"),
    ("datasets.synthetic.density", 0.001, "datasets.synthetic.density: 0.001 is wrong; with 100 features it should"),
    ("datasets.synthetic.snr", float("nan"), "datasets.synthetic.snr: nan is wrong; it should be a finite number."),
    ("datasets.synthetic.feature", 9, "datasets.synthetic.feature: 'feature' is not known; did you mean 'features'?"),
    ("datasets.golub.scaling", "log", "datasets.golub.scaling: 'log' is wrong; it should be 'whole', "),
    ("methods.eflops.settings.temprature", 1, "'temprature' is not known; did you mean 'temperature'?"),
    ("methods.eflops.settings.rate", -1, "methods.eflops.settings.rate: -1 is wrong; it should be greater than 0."),
    ("methods.eflops.settings.rate", float("inf"), "settings.rate: inf is wrong; it should be a finite number."),
    ("methods.eflops.settings.rate", "fast", "methods.eflops.settings.rate: 'fast' is wrong; it should be a valid"),
    ("methods.eflops.options", {"shrink": 1}, "methods.eflops.options: {'shrink': 1} is wrong; only a custom method"),
    ("methods.eflops.method", "cut", "methods.eflops.method: eflops.training.methods.cut is not a method but a helper"),
    ("methods.fedavg.settings.gate_rate", 1.0, "methods.fedavg.settings.gate_rate: 'gate_rate' is not known"),
    ("methods.fedavg.defaults", {"gate_rate": 1.0}, "methods.fedavg.defaults.gate_rate: 'gate_rate' is not known"),
    ("datasets.digits", {**DIGITS, "test_rows": 10_001}, "datasets.digits.test_rows: 10001 is wrong; it should be"),
    ("methods.fedavg.per_dataset", {"golb": {}}, "methods.fedavg.per_dataset: 'golb' is not known; did you mean"),
    ("methods.eflops.method", "eflopz", "methods.eflops.method: there is no module eflops.training.methods.eflopz"),
    ("methods.eflops.method", "no_such_module:Method", "there is no module no_such_module"),
    ("methods.eflops.settings.tune_rate", 1.0, "'tune_rate' is now called 'finetune_rate'; write finetune_rate."),
    ("results", "", "results: '' is wrong; it should name a folder below this one or a full path"),
    ("results", ".", "results: '.' is wrong; it should name a folder below this one"),
    ("results", "../other", "results: '../other' is wrong; it should name a folder below this one"),
    ("results", "/", "results: '/' is wrong; it should name a folder below this one"),
    ("results", "~/study", "results: '~/study' is wrong; it should name a folder below this one"),
    ("results", f"{Path.cwd()}/src", "src' is wrong; src contains files of the project; choose another folder."),
    ("results", "out{x}", "results: 'out{x}' is wrong; it should name a folder below this one"),
    ("results", "src", "results: 'src' is wrong; src contains files of the project; choose another folder."),
    ("results", "./src/new", "results: './src/new' is wrong; src contains files of the project"),
    ("results", "results/published", "results/published contains files of the project; choose another folder."),
    ("mnist_folder", "", "mnist_folder: '' is wrong; it should have at least 1 character."),
    ("datasets.own", {**OWN_DATA, "kind": "no_such_data:build"}, "datasets.own.kind: there is no module"),
    ("engine", "batch", "engine: 'batch' is wrong; it should be 'batched', 'reference' or 'flower'."),
    ("experiment", {}, "experiment: 'experiment' is not known; did you mean 'experiments'?"),
    ("methods.eflops", {"method": "eflops"}, "methods.eflops.label: missing; this key is required."),
    ("searches", {"s": {**SEARCH, "draws": [0]}}, "searches.s.draws: [0] are also evaluated by experiments.main;"),
    ("searches", {"s": {**SEARCH, "draws": []}}, "searches.s.draws: [] is wrong; list should have at least 1 item"),
    ("searches", {"s": {**SEARCH, "draws": [-1]}}, "searches.s.draws.0: -1 is wrong; it should be greater than or"),
    ("searches", {"main": SEARCH}, "searches.main: an experiment has the same name, and both store records under it;"),
    ("searches", {"s": SEARCH, "t": SEARCH}, "searches.t.chosen_entry: searches.s already writes synthetic"),
    ("searches", {"s": {**SEARCH, "settings": {"raet": 1}}}, "searches.s.settings.raet: 'raet' is not known; did you"),
    ("searches", {"s": {**SEARCH, "method_ranges": {"eflop": {}}}}, "searches.s.method_ranges: 'eflop' is not known"),
    ("searches", {"s": {**SEARCH, "ranges": {"rate": []}}}, "searches.s.ranges.rate: [] is wrong; list should have"),
    ("searches", {"s": {**SEARCH, "ranges": {"rate": {"low": 2, "high": 1}}}}, "low is 2.0 and high is 1.0; low"),
    ("searches", {"s": {**SEARCH, "ranges": {"temperature": {"low": 0, "high": 1, "log": True}}}},
     "searches.s.ranges.temperature.low: 0.0 is wrong; with 'log: true' it should be greater than 0."),
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


def test_the_check_command_exits_with_2_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(changed("experiments.main.seed", 5)))
    command = [sys.executable, "-m", "eflops", "check", "--config", str(tmp_path / "bad.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "did you mean 'seeds'" in done.stderr


def test_the_shipped_configs_are_sound() -> None:
    for variant in ("smoke", "fashion"):
        read(ROOT / "config.yaml", ROOT / "config" / f"{variant}.yaml")


def test_loading_the_config_does_not_import_torch() -> None:
    code = "import sys; from eflops.config import load, plan; from pathlib import Path; "
    code += "list(plan.all_plans(load.read(Path('config.yaml')))); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_grid_gives_one_variant_for_each_crossing() -> None:
    raw = changed("experiments.main.vary", {"rate": [0.1, 0.2], "local_steps": [1, 3]})
    plan = plan_of(check(raw), "main")
    assert plan.variants["eflops"] == (
        "rate=0.1,local_steps=1",
        "rate=0.1,local_steps=3",
        "rate=0.2,local_steps=1",
        "rate=0.2,local_steps=3",
    )
    assert len(plan.runs("eflops")) == 4 * 3


# The places that settings come from, lowest first.
KEYS = ("rate", "clip", "rounds", "local_steps", "batch_size", "finetune_rounds", "finetune_steps")
ORDER = {
    "": "the method's default",
    "methods.fedavg.defaults": "more.yaml: methods.fedavg.defaults",
    "chosen.synthetic.fedavg": "more.yaml: chosen.synthetic.fedavg",
    "chosen.other.fedavg": "more.yaml: chosen.other.fedavg",
    "methods.fedavg.settings": "more.yaml: methods.fedavg.settings",
    "methods.fedavg.per_dataset.like": "more.yaml: methods.fedavg.per_dataset.like",
    "experiments.main.settings": "more.yaml: experiments.main.settings",
    "experiments.main.vary": "more.yaml: experiments.main.vary",
}


def ordered(top: int) -> dict[str, Any]:
    """A config in which each place up to `top` sets every one of KEYS to the number of the place."""
    raw = copy.deepcopy(SOUND)
    raw["datasets"]["like"] = {**raw["datasets"]["synthetic"], "settings_like": "synthetic"}
    raw["methods"]["fedavg"] = {"method": "fedavg", "label": "FedAvg"}
    raw["experiments"]["main"] |= {"dataset": "like", "methods": ["fedavg"], "chosen_entry": "other"}
    raw["searches"] = {"other": {**SEARCH, "methods": ["fedavg"], "chosen_entry": "other"}}
    for number, path in enumerate(list(ORDER)[1 : top + 1], start=1):
        mapping = raw
        for key in path.split("."):
            mapping = mapping.setdefault(key, {})
        mapping |= {key: [number] if path.endswith("vary") else number for key in KEYS}
    return raw


@pytest.mark.parametrize("top", range(1, len(ORDER)))
def test_settings_have_one_order_and_each_names_its_place(top: int, tmp_path: Path) -> None:
    file = tmp_path / "more.yaml"
    file.write_text(yaml.safe_dump(ordered(top)))
    (settings,) = variants_of(config := read(file), "main", "fedavg").values()
    assert {key: getattr(settings, key) for key in KEYS} == dict.fromkeys(KEYS, top)
    lines = settings_text(config, [file], "main", "fedavg").splitlines()
    address = f"{tmp_path}/{ORDER[list(ORDER)[top]]}"
    assert any(line.split() == ["rate", str(float(top)), *f"{address}.rate".split()] for line in lines)
    assert any(line.split()[0] == "initial" and line.endswith("the method's default") for line in lines)


def test_a_method_has_its_defaults_where_nothing_was_chosen_or_written() -> None:
    raw = changed("methods.fedavg", {"method": "fedavg", "label": "FedAvg"})
    (settings,) = variants_of(check(raw), "main", "fedavg").values()
    assert (settings.rate, settings.local_steps, settings.rounds) == (0.002, 5, 200)


def test_a_method_with_error_feedback_has_it_on_data_without_a_search(tmp_path: Path) -> None:
    overlay = tmp_path / "more.yaml"
    overlay.write_text("""
      datasets: {other: {kind: synthetic, density: 0.1}}
      experiments: {more: {dataset: other, ratios: [1.0], methods: [eflops_feedback, flops_feedback, fedavg_feedback]}}
    """)
    config = read(ROOT / "config.yaml", overlay)
    for method, share in {"eflops_feedback": 0.05, "flops_feedback": 0.05, "fedavg_feedback": 0.1}.items():
        (settings,) = variants_of(config, "more", method).values()
        assert settings.model_dump()["feedback"] == share
        (chosen,) = variants_of(config, "feedback14", method).values()
        assert chosen.model_dump()["feedback"] == config.choices["synthetic_feedback14"][method]["feedback"] != share


def test_a_variant_of_a_method_inherits_its_chosen_settings() -> None:
    raw = changed("methods.slow", {"method": "eflops", "label": "slow", "settings_like": "eflops"})
    raw["experiments"]["main"]["methods"] = ["slow"]
    raw["chosen"] = {"synthetic": {"eflops": {"gate_rate": 0.25, "rounds": 7}, "slow": {"rounds": 8}}}
    (settings,) = variants_of(check(raw), "main", "slow").values()
    assert (settings.model_dump()["gate_rate"], settings.rounds) == (0.25, 8)
    raw["methods"]["slow"]["method"] = "fedavg"
    with pytest.raises(ConfigError, match=r"methods.slow.settings_like.eflops.gate_rate: 'gate_rate' is not known"):
        check(raw)


def test_a_search_starts_from_nothing_that_a_search_chose() -> None:
    raw = changed("searches", {"again": {**SEARCH, "ranges": {"local_steps": [1, 3]}}})
    raw["chosen"] = {"synthetic": {"eflops": {"gate_rate": 0.25}}}
    assert all(each.model_dump()["gate_rate"] == 0.5 for each in variants_of(check(raw), "again", "eflops").values())


def test_each_choice_that_the_config_overrides_is_listed() -> None:
    raw = changed("chosen", {"synthetic": {"eflops": {"temperature": 0.007, "rate": 0.05, "rounds": 7}}})
    raw["experiments"]["main"]["settings"] = {"rate": 0.5, "rounds": 7}
    assert [line.partition(", which the search chose")[0] for line in overridden_choices(check(raw))] == [
        "methods.eflops.settings.temperature: 0.1 overrides 0.007",
        "experiments.main.settings.rate: 0.5 overrides 0.05",
    ]


def test_a_file_of_choices_is_read_and_its_mistakes_are_sentences(tmp_path: Path) -> None:
    file = tmp_path / "chosen.yaml"
    raw = changed("chosen", str(file))
    file.write_text("synthetic: {eflops: {rounds: 7}, unused: {rounds: 8}}")
    assert check(raw).choices == {"synthetic": {"eflops": {"rounds": 7}}}
    for text, sentence in {
        "d: 3": "chosen.yaml, d: 3 is wrong; it should map data sets to methods",
        "synthetic: {eflops: 3}": "chosen.yaml, synthetic: {'eflops': 3} is wrong",
        "synthetic: {eflops: {rounds: 0}}": "chosen.synthetic.eflops.rounds: 0 is wrong",
        "nowhere: {eflops: {rounds: 1}}": "chosen: 'nowhere' is not known",
        "- d": "this is a list; a config file has keys",
    }.items():
        file.write_text(text)
        with pytest.raises(ConfigError, match=re.escape(sentence)):
            check(raw)
    with pytest.raises(ConfigError, match="there is no file nowhere"):
        check(raw | {"chosen": "nowhere.yaml"})


def test_an_unrelated_edit_leaves_a_cells_spec_as_it_was() -> None:
    before = cell_spec(check(SOUND), "main", "nd0.64", "eflops")
    after = cell_spec(check(changed("methods.fedavg.settings.rate", 0.5)), "main", "nd0.64", "eflops")
    assert before == after


def test_the_order_of_the_keys_does_not_rename_a_variant() -> None:
    grids = ({"temperature": [0.1], "gate_rate": [1.0]}, {"gate_rate": [1.0], "temperature": [0.1]})
    raws = [
        merge(changed("experiments.main.methods", ["eflops"]), {"experiments": {"main": {"vary": g}}}) for g in grids
    ]
    variants = {plan_of(check(raw), "main").variants["eflops"] for raw in raws}
    assert variants == {("temperature=0.1,gate_rate=1.0",)}


@pytest.mark.parametrize(
    ("ratio", "label"), [(0.64, "nd0.64"), (1.0, "nd1.00"), (2, "nd2.00"), (0.645, "nd0.645"), (1e-7, "nd0.0000001")]
)
def test_a_ratios_label_is_exact_and_has_two_decimals_at_least(ratio: float, label: str) -> None:
    assert labels.ratio_label(ratio) == label
    assert labels.ratio_value(label) == ratio


def test_ratios_that_differ_in_the_third_decimal_are_two_rows() -> None:
    plan = plan_of(check(changed("experiments.main.ratios", [0.641, 0.644])), "main")
    assert plan.ratios == ("nd0.641", "nd0.644")


def test_the_jobs_of_a_cell_share_its_runs_out_and_are_one_by_default() -> None:
    plan = plan_of(check(SOUND), "main")
    assert list(plan.parts(None)) == list(plan.parts(len(plan.seeds))) == [("", plan.seeds)]
    assert list(plan.parts(2)) == [("_seeds0to1", (0, 1)), ("_seeds2to2", (2,))]


def test_merging_lays_mappings_over_each_other_and_replaces_lists() -> None:
    assert merge({"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}}) == {"a": {"b": 1, "c": [2]}}


def test_search_trials_are_the_same_every_time_and_within_their_ranges() -> None:
    raw = copy.deepcopy(SOUND)
    ranges = {"rate": {"low": 0.01, "high": 1.0, "log": True}, "local_steps": [1, 3]}
    raw["searches"] = {
        "s": {"dataset": "synthetic", "methods": ["eflops", "fedavg"], "ratios": [1.0], "draws": [7], "seeds": 1,
              "first_seed": 9, "trials": 5, "metric": "r2", "ranges": ranges}
    }  # fmt: skip
    first, second = (variants_of(check(raw), "s", method) for method in ("eflops", "fedavg"))
    assert list(first) == [f"trial{number:02d}" for number in range(5)]
    assert all(0.01 <= settings.rate <= 1 and settings.local_steps in {1, 3} for settings in first.values())
    assert [one.rate for one in first.values()] == [one.rate for one in second.values()]
    assert len({one.rate for one in first.values()}) == 5


def test_the_reserved_targets_are_the_rules_of_the_workflow() -> None:
    files = [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    rules = {name for file in files for name in re.findall(r"^rule (\w+):", file.read_text(), re.MULTILINE)}
    assert rules - {"all"} == RULES


def test_lists_in_lists_are_refused_before_anything_walks_through_them() -> None:
    value: list[Any] = []
    for _ in range(3000):
        value = [value]
    with pytest.raises(
        ConfigError, match=r"methods.eflops.label...: this is nested too deeply, or contains itself; use at"
    ):
        check(changed("methods.eflops.label", value))


def test_a_crossed_setting_gives_a_method_variants_of_its_own() -> None:
    crossed = {"eflops": {"temperature": [0.1, 0.3]}}
    raw = changed(
        "searches", {"s": {**SEARCH, "methods": ["eflops", "fedavg"], "ratios": [1.0, 2.0], "cross": crossed}}
    )
    config = check(raw)
    plan = plan_of(config, "s")
    assert plan.variants["fedavg"] == ("trial00", "trial01")
    assert plan.variants["eflops"][:2] == ("trial00,temperature=0.1", "trial00,temperature=0.3")
    for spec in cell_specs(config, "s"):
        assert tuple(spec.variants) == plan.variants[spec.name]
        assert spec.runs == plan.runs(spec.name)
    assert len(plan.record_paths) == len(set(plan.record_paths)) == 2 * (4 + 2)


def test_numbers_that_came_as_text_are_numbers() -> None:
    """YAML reads 1e-3 as text, and so does Snakemake whatever stands inside a mapping of --config."""
    raw = merge(SOUND, yaml.load("""
      methods: {eflops: {pooled: true, settings: {rate: 1e-3, clip: null, rescale_start: true}}}
      experiments: {main: {seeds: 2, ratios: [0.5], vary: {finetune_rate: [1e-2]}}}""", yaml.BaseLoader))  # fmt: skip
    config = check(raw)
    ((label, settings),) = variants_of(config, "main", "eflops").items()
    assert (config.experiments["main"].seeds, config.experiments["main"].ratios) == (2, [0.5])
    assert (label, settings.rate, settings.clip, settings.finetune_rate) == ("finetune_rate=0.01", 0.001, None, 0.01)
    assert config.methods["eflops"].pooled is True


def test_a_label_may_look_like_a_number_and_have_braces() -> None:
    assert check(changed("methods.eflops.label", "007")).methods["eflops"].label == "007"
    assert check(changed("methods.eflops.label", "$T_{0}$")).methods["eflops"].label == "$T_{0}$"


# Nine levels of anchors, each of nine of the level before: 387 million values in 300 letters.
LEVELS = list(pairwise(["", *"abcdefghi"]))
BAD_FILES = {
    f"a: {'[' * 3000}{']' * 3000}": "this is nested too deeply; a config has at most 40 levels.",
    "a: &a [*a]": "a.0.0...: this is nested too deeply, or contains itself; use at most 40 levels.",
    "".join(f"{name}: &{name} [{', '.join(['*' + before] * 9 if before else 'x' * 9)}]\n" for before, name in LEVELS): (
        "this has more than 1,000,000 values; use fewer anchors."
    ),
    'a: "\\ud800"': "a: '\\ud800' contains half of a character, which no file can store; remove it.",
    "a: 1\nb:\n\tc: 2\n": "line 3: this is not valid YAML; there is a tab; indent with spaces.",
    "a: 1\nb: 2\na: 3\n": "line 3: this is not valid YAML; the key 'a' appears twice.",
    "a: {b: 1, b: 2}\n": "line 1: this is not valid YAML; the key 'b' appears twice.",
    "a: [1\n": "this is not valid YAML; while parsing a flow sequence",
    "? [1, 2]\n: 3\n": "this is not valid YAML; unhashable type",
    "- a\n- b\n": "this is a list; a config file has keys, such as 'experiments:'.",
    "\x00\x01": "this is not a text file in UTF-8",
    b"\xff\xfe\x00": "this is not a text file in UTF-8",
    None: "the config file cannot be read (No such file or directory).",
}


@pytest.mark.parametrize(("content", "sentence"), BAD_FILES.items(), ids=map(repr, BAD_FILES))
def test_a_file_that_cannot_be_read_is_named_with_the_line(
    content: str | bytes | None, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.yaml"
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ConfigError) as caught:
        read(path)
    (mistake,) = caught.value.mistakes
    assert str(path) in mistake
    assert sentence in mistake


def test_what_an_anchor_brings_in_may_be_said_again(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: &a {b: 1, c: 2}\nd:\n  <<: *a\n  b: 3\n")
    assert read_yaml(tmp_path / "a.yaml")["d"] == {"b": 3, "c": 2}


def test_an_overlay_that_names_one_method_leaves_the_order_as_it_was() -> None:
    base = {"methods": {"a": 1, "b": {"x": 1, "y": 2}}, "results": "r"}
    overlaid = {"results": "s", "methods": {"c": 3, "b": {"y": 5, "x": 1}, "a": 1}}
    ordered_config = in_order_of(base, overlaid)
    assert ordered_config == overlaid
    assert [*ordered_config, *ordered_config["methods"], *ordered_config["methods"]["b"]] == [
        "methods",
        "results",
        "a",
        "b",
        "c",
        "x",
        "y",
    ]


OWN = """
from eflops.training.methods import base, fedavg
from eflops.training.messages import Message
from math import sqrt as root
if True:
    class Inner:
        pass
class Parts:
    task = start = download = update = aggregate = None
    def effective(self, state):
        pass
class Ridge(Parts):
    def __init__(self, task, shrink=0.1, *, power):
        pass
class Free(Parts):
    def __init__(self, task, **options):
        pass
class Further(fedavg.Method):
    pass
class Promised(base.Method):
    def update(self, received, work):
        pass
class Half:
    def __init__(self, task):
        self.task, self.rest = task, 0
    def start(self, seeds):
        pass
    def update(self, received, work):
        pass
    def aggregate(self, state, uploads, round_):
        pass
class WithoutOne(Half):
    def effective(self, state):
        pass
class Endless(Endless): ...
Alias = Ridge
"""
OWN_MISTAKES = [
    ("own_part:Ridge", {"shrink": 1, "power": 2}, None),
    ("own_part:Free", {"anything": 1}, None),
    ("own_part:Further", {}, None),
    ("own_part:Promised", {}, "methods.eflops.method: own_part:Promised has no aggregate, download, effective, start"),
    ("own_part:Half", {}, "methods.eflops.method: own_part:Half has no download and effective; "),
    ("own_part:WithoutOne", {}, "methods.eflops.method: own_part:WithoutOne has no download; "),
    ("own_part:Ridge", {"shrink": 1}, ": missing a required argument: 'power'."),
    ("own_part:Inner", {}, None),
    ("own_part:Alias", {"anything": 1}, None),
    ("own_part:root", {}, None),
    ("own_part:Endless", {}, None),
    ("own_part:Rigde", {}, "methods.eflops.method: 'Rigde' is not known; did you mean 'Ridge'?"),
    ("own_part:Ridge", {"shrnk": 1}, "methods.eflops.options: 'shrnk' is not known; did you mean 'shrink'?"),
    ("own_broken:Ridge", {}, "own_broken.py, line 2: Python cannot read this ("),
    ("own_binary:Ridge", {}, "own_binary.py is not a Python file in UTF-8."),
    (
        "own_absent:Ridge",
        {},
        "there is no module own_absent; name a method of eflops.training.methods or 'module:Class'",
    ),
]


@pytest.mark.parametrize(("method", "options", "sentence"), OWN_MISTAKES)
def test_a_method_of_ones_own_is_checked_before_any_job(
    method: str, options: dict[str, Any], sentence: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_part.py").write_text(OWN)
    (tmp_path / "own_broken.py").write_text("class Ridge:\n  def\n")
    (tmp_path / "own_binary.py").write_bytes(b"\xff\xfe\xfa")
    monkeypatch.syspath_prepend(str(tmp_path))
    raw = changed("methods.eflops", {"method": method, "label": "Own", "options": options})
    if sentence is None:
        check(raw)
        return
    with pytest.raises(ConfigError) as caught:
        check(raw)
    assert sentence in "\n".join(caught.value.mistakes)


def test_a_data_set_of_ones_own_is_checked_before_any_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_waves.py").write_text("def build(settings, ratio, seed, raw=None): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    check(changed("datasets.waves", {**OWN_DATA, "kind": "own_waves:build"}))
    with pytest.raises(ConfigError, match=r"datasets.waves.kind: 'biuld' is not known; did you mean 'build'"):
        check(changed("datasets.waves", {**OWN_DATA, "kind": "own_waves:biuld"}))
    (tmp_path / "own_few.py").write_text("def build(settings, seed): ...\n")
    called = "own_few:build cannot be called with settings, ratio, seed and raw: too many positional"
    with pytest.raises(ConfigError, match=f"datasets.waves.kind: {called}"):
        check(changed("datasets.waves", {**OWN_DATA, "kind": "own_few:build"}))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"metric": "r2"}, None),
        ({}, "cannot be called with source: missing a required argument: 'metric'"),
        ({"metric": "r2", "hue": 1}, "called with source, metric and hue: got an unexpected keyword"),
    ],
)
def test_a_product_of_ones_own_is_checked_before_any_job(
    parameters: dict[str, Any], reason: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_table.py").write_text("def make(source, *, metric, digits=3): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = {"kind": "table", "make": "own_table:make", "title": "Mine", "parameters": parameters}
    raw = changed("products", {"mine": entry})
    if reason is None:
        check(raw)
        return
    with pytest.raises(ConfigError, match=f"products.mine.make: own_table:make .*{reason}"):
        check(raw)


def test_the_eflops_command_sees_modules_beside_the_snakefile(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("from eflops.training.methods.fedavg import Method\n")
    raw = changed("methods.eflops", {"method": "beside:Method", "label": "x"})
    del raw["datasets"]["golub"], raw["methods"]["fedavg"]["per_dataset"]
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(raw))
    command = [str(Path(sys.executable).parent / "eflops"), "check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
