"""A model of the user's own in the config: checks, the plan, the engine, the code hash, and the gate of trust."""

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from eflops import code, trust
from eflops.cli import main
from eflops.config import load
from eflops.config.jobs import training_jobs
from eflops.config.messages import ConfigError
from eflops.config.models import data_settings
from eflops.config.plan import cell_spec
from eflops.data.federation import Block
from eflops.training import check
from eflops.training.engines import reference
from eflops.training.models import build_model

CONFIG: dict[str, Any] = {
    "datasets": {"small": {"kind": "synthetic", "density": 0.1, "features": 20, "model": "my_net:build"}},
    "methods": {
        "eflops": {"method": "eflops", "label": "E-FLoPS"},
        "fedavg": {"method": "fedavg", "label": "FedAvg", "settings": {"initial": "uniform"}},
        "own": {"method": "my_method:Own", "label": "Own"},
    },
    "experiments": {
        "first": {"dataset": "small", "ratios": [1.0], "methods": ["eflops", "fedavg"], "seeds": 1},
        "second": {
            "dataset": "small", "ratios": [1.0], "methods": ["eflops"], "seeds": 1,
            "model": "my_net:other", "gated": ["body", "head.0"],
        },
    },
}  # fmt: skip
FILE = """
from torch import nn

def build(shape, classes):
    return nn.Linear(shape[0], 1)

def other(shape, classes, width=3):
    return nn.Sequential(nn.Linear(shape[0], width), nn.Linear(width, 1))

def narrow(shape):
    return nn.Linear(shape[0], 1)
"""
METHOD = "from eflops.training.methods.fedavg import Method\n\nclass Own(Method):\n    pass\n"


def forget_files() -> None:
    """Read source files again, as the next process would."""
    for each in vars(code).values():
        if hasattr(each, "cache_clear"):
            each.cache_clear()


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "my_net.py").write_text(FILE)
    (tmp_path / "my_method.py").write_text(METHOD)
    monkeypatch.syspath_prepend(tmp_path)
    forget_files()
    with trust.session():
        yield
    forget_files()


def changed(*keys: str, value: Any) -> dict[str, Any]:
    config = copy.deepcopy(CONFIG)
    part = config
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    return config


def test_a_model_of_ones_own_is_planned_on_the_reference_engine_with_its_own_first_weights() -> None:
    config = load.check(CONFIG)
    job = cell_spec(config, "first", "nd1.00", "eflops")
    assert (job.model, job.engine, job.gated) == ("my_net:build", "reference", None)
    assert job.variants["base"].initial == "module"
    assert cell_spec(config, "first", "nd1.00", "fedavg").variants["base"].initial == "uniform"


def test_an_experiment_can_have_another_model_than_its_data_set() -> None:
    job = cell_spec(load.check(CONFIG), "second", "nd1.00", "eflops")
    assert (job.model, job.gated) == ("my_net:other", ["body", "head.0"])


def test_the_model_is_no_part_of_the_data() -> None:
    datasets = load.check(CONFIG).datasets
    assert not {"model", "gated"} & data_settings(datasets["small"]).keys()


def test_an_edit_of_the_file_changes_the_jobs_code(tmp_path: Path) -> None:
    config = load.check(CONFIG)
    before = {job.cell: spec.code for job, spec in training_jobs(config)}
    assert "my_net" in code.code_hashes(*code.training_roots("eflops", "my_net:build", "reference"))
    (tmp_path / "my_net.py").write_text(FILE.replace("width=3", "width=4"))
    forget_files()
    after = {job.cell: spec.code for job, spec in training_jobs(config)}
    assert all(before[cell] != after[cell] for cell in before)


def test_methods_that_the_reference_engine_lacks_run_on_the_batched_one() -> None:
    assert set(code.REFERENCE_METHODS) == set(reference.METHODS)
    assert code.engine_of("batched", "my_net:build", "my_method:Own") == "batched"
    assert code.engine_of("batched", "linear", "eflops") == "batched"
    assert code.engine_of("flower", "my_net:build", "eflops") == "flower"


@pytest.mark.parametrize(
    ("keys", "value", "right"),
    [
        (("datasets", "small", "model"), "my_net:bild", "datasets.small.model: .*build"),
        (("datasets", "small", "model"), "no_net:build", "there is no module no_net"),
        (("datasets", "small", "model"), "my_net:narrow", "cannot be called with shape and classes"),
        (("datasets", "small", "model"), "softmax", "datasets.small.model: "),
        (("experiments", "second", "model"), "my_net:bild", "experiments.second.model: .*build"),
        (("datasets", "small"), {**CONFIG["datasets"]["small"], "model": "linear", "gated": ["a"]}, "small.gated: "),
    ],
)
def test_mistakes_are_listed(keys: tuple[str, ...], value: Any, right: str) -> None:
    with pytest.raises(ConfigError, match=right):
        load.check(changed(*keys, value=value))


def test_a_name_from_a_results_folder_imports_nothing(tmp_path: Path) -> None:
    (tmp_path / "stranger.py").write_text("raise SystemExit('imported')")
    load.check(changed("experiments", "second", "model", value="my_net:other"), trusted=False)
    with pytest.raises(trust.Untrusted, match="stranger:build: this model is not part of eflops"):
        build_model("stranger:build", Block(np.zeros((1, 2), np.float32), np.zeros(1, np.float32)), {})


def test_names_in_the_users_config_are_trusted() -> None:
    load.check(CONFIG)
    assert trust.is_trusted("model", "my_net:build")
    assert trust.is_trusted("model", "my_net:other")
    assert not trust.is_trusted("model", "my_net:narrow")


BROKEN = """
import numpy as np
import torch
from torch import nn

class Wide(nn.Linear):
    def forward(self, x):
        if len(x) > 2:
            raise ValueError("too many rows")
        return super().forward(x)

def fails_on_real_rows(shape, classes):
    return Wide(shape[0], 1)

class Random(nn.Linear):
    def forward(self, x):
        return super().forward(x) * np.random.default_rng().random()

def random(shape, classes):
    return Random(shape[0], 1)

class Pair(nn.Linear):
    def forward(self, x):
        return super().forward(x), x

def pair(shape, classes):
    return Pair(shape[0], 1)

def build(shape, classes):
    return nn.Linear(shape[0], 1)

def metrics(output, y):
    return {"each": output - y[:, None]}

def rows(settings, ratio, seed, raw=None):
    return settings["no such key"]
"""
SENTENCES = {
    "fails_on_real_rows": r"the evaluation of the test rows fails \(broken.py, line 9, ValueError: too many rows\).",
    "random": "the same weights and rows have a different loss in a second call",
    "pair": "forward should return one tensor, but returned tuple.",
    "build": r"metrics\(output, y\) should return numbers by name, but returned {'each': tensor",
}


def test_check_tries_every_custom_part_and_lists_what_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "my_method.py").write_text(METHOD + "    def __init__(self, task):\n        raise KeyError('rate')\n")
    config = changed("datasets", "rows", value={"kind": "broken:rows", "model": "linear", "density": 0.1, "clients": 2})
    first = config["experiments"]["first"]
    for name in SENTENCES:
        config["experiments"][name] = {**first, "model": f"broken:{name}", "methods": ["fedavg"]}
    config["experiments"]["rows"] = {"dataset": "rows", "methods": ["fedavg"], "seeds": 1}
    config["datasets"]["plain"] = {**config["datasets"]["small"], "model": "linear"}
    config["experiments"]["method"] = {**first, "dataset": "plain", "methods": ["own"]}
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(yaml.safe_dump(config))
    assert main(["check"]) == 2
    lines = capsys.readouterr().err.removeprefix("eflops: ").splitlines()
    said = dict(line.split(": ", 1) for line in lines)
    assert said.keys() == {"second", *SENTENCES, "rows", "method"}
    assert "gated: there is no body, head.0 with parameters; the module has 0, 1." in said["second"]
    for name, right in SENTENCES.items():
        assert re.match(f"model broken:{name}: {right}", said[name]), said[name]
    assert said["rows"] == "broken:rows fails (broken.py, line 36, KeyError: 'no such key')."
    assert said["method"] == "method my_method:Own fails (my_method.py, line 6, KeyError: 'rate')."


def test_check_of_custom_parts_that_work_lists_nothing() -> None:
    config = copy.deepcopy(CONFIG)
    del config["experiments"]["second"]["gated"]
    assert list(check.problems(load.check(config))) == []
