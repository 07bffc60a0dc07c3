"""What `flwr run` can be keys, what a node brings, what is kept of a run: each by itself, without processes."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from flwr.app import Message, RecordDict
from flwr.cli.build import build_fab_from_disk
from flwr.supercore.task_identity import TaskIdentity
from in_process import node_context

from eflops import trust
from eflops.config.settings import TrainingSettings
from eflops.data.federation import Federation
from eflops.errors import UserError
from eflops.flower import client
from eflops.flower.assignment import ASSIGNMENT, RECORD, Agreement, Assignment
from eflops.flower.journal import Journal
from eflops.flower.plan import RunConfig, check, make_draw, plan
from eflops.flower.rows import NodeConfig, file_rows
from eflops.flower.server import look
from eflops.training.messages import Message as Parameters
from eflops.training.messages import Part
from eflops.training.methods.base import Upload
from eflops.training.rounds import ClientSelection, Phase

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
APP = PROJECT["tool"]["flwr"]["app"]


def test_the_run_configs_defaults_stand_in_pyproject() -> None:
    assert APP["config"] == RunConfig().model_dump()


def test_the_docs_list_every_key_of_the_run_config() -> None:
    page = (ROOT / "docs" / "flower.md").read_text()
    for name, field in RunConfig.model_fields.items():
        assert f"| `{name}` | {field.description} |" in page


@pytest.mark.parametrize(("page", "program"), [("flower.md", "deployment.py"), ("performance.md", "flower.py")])
def test_the_pages_show_what_was_measured(page: str, program: str) -> None:
    command = [sys.executable, f"benchmarks/{program}", "--show"]
    shown = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    assert shown in (ROOT / "docs" / page).read_text(), f"run: python docs/refresh.py docs/{page}"


def test_the_bundle_holds_the_config_and_neither_code_nor_data() -> None:
    with zipfile.ZipFile(BytesIO(build_fab_from_disk(ROOT))) as bundle:
        names = set(bundle.namelist()) - {".info/CONTENT"}
    assert {"pyproject.toml", "config.yaml"} <= names
    assert {Path(name).suffix for name in names - {"pyproject.toml"}} == {".yaml"}


def test_flower_is_told_to_install_nothing_before_a_run() -> None:
    """A dependency that is not named here would be installed by Flower's SuperLink, in another version."""
    project = PROJECT["project"]
    listed = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    assert {name.split("[")[0] for name in listed} == set(PROJECT["tool"]["uv"]["exclude-dependencies"])


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"experiment": "golub_run"}, "--run-config: experiment: 'golub_run' is not known; did you mean 'golub_runs'?"),
        ({"method": "eflop"}, "--run-config: method: 'eflop' is not known; did you mean 'eflops'?"),
        ({"method": "centralized"}, "method centralized trains on pooled rows"),
        ({"variant": "bas"}, "--run-config: variant: 'bas' is not known; did you mean 'base'?"),
        ({"ratio": 0.5}, "ratio=0.5 is wrong; the data of golub_runs have a fixed size"),
        ({"seed": "one"}, "--run-config.seed: 'one' is wrong"),
        ({"fraction": 1.5}, "--run-config.fraction: 1.5 is wrong"),
        ({"faults": "ignore"}, "--run-config.faults: 'ignore' is wrong; it should be 'stop', 'continue' or 'repeat'"),
        ({"settings": "round=3"}, "settings.round: 'round' is not known; did you mean 'rounds'?"),
        ({"settings": "rounds"}, "settings has 'rounds', which is not a setting"),
        ({"config": "other.yaml"}, "config names 'other.yaml', which the app's bundle does not contain"),
    ],
)
def test_a_mistake_in_the_run_config_is_said_in_a_sentence(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as raised:
        plan(keys, ROOT)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_a_search_chose_is_read_from_the_bundle_wherever_the_server_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bundle" / "config").mkdir(parents=True)
    shutil.copy(ROOT / "config.yaml", tmp_path / "bundle")
    chosen = {**yaml.safe_load((ROOT / "config/chosen.yaml").read_text()), "golub": {"eflops": {"rate": 0.0625}}}
    (tmp_path / "bundle" / "config" / "chosen.yaml").write_text(yaml.safe_dump(chosen))
    monkeypatch.chdir(tmp_path)
    assert plan({}, tmp_path / "bundle").spec.variants["base"].rate == 0.0625


def test_a_whole_number_may_stand_where_a_fraction_could() -> None:
    assert check({"timeout": 30, "fraction": 1}).timeout == 30.0


def test_the_run_config_chooses_and_changes_what_is_trained() -> None:
    keys = {
        "experiment": "support_recovery",
        "ratio": 1.36,
        "seed": 4,
        "clients": 3,
        "settings": "rounds=4 clip=null",
    }
    chosen_run = plan(keys, ROOT)
    assert (chosen_run.spec.ratio, chosen_run.run.path) == ("nd1.36", "base/draw0-seed4.json")
    assert chosen_run.spec.variants["base"].rounds == 4
    assert chosen_run.spec.variants["base"].clip is None
    assert len(make_draw(chosen_run).clients) == 3


GENES = ["a", "b", "c"]
SCALING = {"scaling": "per_array", "log": False, "floor": None, "ceiling": None}
AGREED = Agreement(GENES, ["ALL", "AML"], SCALING)


def table(**changes: Any) -> pd.DataFrame:
    """A hospital's rows, with a column that nobody asked for."""
    columns = {"sample": ["s1", "s2"], "a": [1.0, 2.0], "z": [9.0, 9.0], "c": [4.0, 8.0], "b": [2.0, 3.0]}
    return pd.DataFrame({**columns, "class": ["AML", "ALL"], **changes})


def brought(folder: Path, rows: pd.DataFrame, label: str = "class") -> Federation:
    rows.to_csv(folder / "rows.csv", index=False)
    return file_rows(str(folder / "rows.csv"), label, AGREED)


def test_a_node_keeps_the_agreed_genes_and_scales_each_array_by_itself(tmp_path: Path) -> None:
    (block,) = brought(tmp_path, table()).clients
    arrays = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 8.0]])
    scaled = (arrays - arrays.mean(1, keepdims=True)) / arrays.std(1, keepdims=True)
    assert np.allclose(block.x, scaled)
    assert block.y.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"b": [np.nan, 3.0]}, "1 value"),
        ({"class": ["AML", "AUL"]}, "AUL in 'class' is not a class; the classes are ALL, AML"),
        ({"c": ["high", "low"]}, "1 column is not numbers: c"),
    ],
)
def test_rows_that_do_not_fit_are_refused_in_a_sentence(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as raised:
        brought(tmp_path, table(**change))
    assert said in str(raised.value)


def test_rows_without_an_agreed_gene_or_without_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="lacks 1 of the 3 genes that are needed: b"):
        brought(tmp_path, table().drop(columns="b"))
    with pytest.raises(UserError, match="has no column 'kind'"):
        brought(tmp_path, table(), label="kind")
    with pytest.raises(UserError, match='such as label="class"'):
        brought(tmp_path, table(), label="")


def test_a_nodes_config_is_checked() -> None:
    with pytest.raises(UserError, match="--node-config: 'dta' is not known; known here: client, data, label"):
        NodeConfig.of({"dta": "rows.csv"})
    with pytest.raises(UserError, match="client='first' is wrong"):
        NodeConfig.of({"client": "first"})
    assert NodeConfig.of({"data": "rows.csv", "label": "class"}) == NodeConfig("rows.csv", "class", -1, 0)
    assert NodeConfig.of({"partition-id": 1, "num-partitions": 3}) == NodeConfig("", "", 1, 3)


def test_a_server_with_rows_of_its_own_refuses_a_scaling_by_pooled_rows(tmp_path: Path) -> None:
    chosen_run = plan({"data": str(tmp_path / "test.csv"), "label": "class", "results": str(tmp_path)}, ROOT)
    with pytest.raises(UserError, match="the scaling 'whole' of golub needs pooled rows"):
        look(chosen_run)


@pytest.fixture
def asked_node(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that introduces the server's assignment to a node and gives its answer."""
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)

    def ask(assignment: Assignment, node: Mapping[str, Any]) -> Message:
        message = Message(RecordDict({ASSIGNMENT: assignment.record()}), 100, "query")
        message.metadata.__dict__["_message_id"] = "1"
        return client.introduce(message, node_context(node))

    return ask


def softmax(code: str) -> Assignment:
    settings = plan({"settings": "rounds=1"}, ROOT)
    return Assignment(settings.spec, code, 6, agreement=AGREED)


def own_code() -> str:
    return client._node_code("eflops", "softmax")


def test_the_server_learns_how_many_rows_a_node_has_and_nothing_else(tmp_path: Path, asked_node: Any) -> None:
    table().to_csv(tmp_path / "rows.csv", index=False)
    answer = asked_node(softmax(own_code()), {"data": str(tmp_path / "rows.csv"), "label": "class"})
    assert dict(answer.content.config_records[RECORD]) == {"client": -1, "nodes": 0, "rows": 2, "code": own_code()}


def test_what_a_node_has_against_the_run_stays_with_it(
    tmp_path: Path, asked_node: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    table(**{"class": ["AML", "secret"]}).to_csv(tmp_path / "rows.csv", index=False)
    answer = asked_node(softmax(own_code()), {"data": str(tmp_path / "rows.csv"), "label": "class"})
    assert answer.error.reason == "UserError"
    assert "secret in 'class' is not a class" in capsys.readouterr().err


def test_a_node_says_that_the_server_runs_other_code_before_it_looks_at_its_rows(
    asked_node: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked_node(softmax("feed"), {"data": "nowhere.csv", "label": "class"})
    assert answer.content.config_records[RECORD]["code"] == own_code()
    assert "the server runs the code feed and this node the code" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("trusted", "outcome"), [("", "refused"), ("another:Method", "refused"), ("theirs:Method", "runs")]
)
def test_a_node_runs_a_custom_method_only_if_its_owner_names_it(
    tmp_path: Path, asked_node: Any, monkeypatch: pytest.MonkeyPatch, trusted: str, outcome: str
) -> None:
    """The file lies on the node with the server's content; a name in the server's message alone imports nothing."""
    marker = tmp_path / "imported"
    lines = (
        "from pathlib import Path",
        "from eflops.training.methods.fedavg import Method",
        f"Path({str(marker)!r}).touch()",
    )
    (tmp_path / "theirs.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    table().to_csv(tmp_path / "rows.csv", index=False)
    assignment = softmax(client._node_code("theirs:Method", "softmax"))
    changes = {"method": "theirs:Method", "variants": {"base": TrainingSettings(rounds=1)}}
    assignment = replace(assignment, spec=assignment.spec.model_copy(update=changes))
    node = {"data": str(tmp_path / "rows.csv"), "label": "class", "trusted": trusted}
    with trust.session():
        answer = asked_node(assignment, node)
    assert marker.exists() == (outcome == "runs")
    assert (answer.error.reason if answer.has_error() else "runs") == {"refused": "Untrusted"}.get(outcome, outcome)


SIZE = 4
PHASE = Phase("training", None, 0, 3, 2, None)  # type: ignore[arg-type]


class Counting:
    """A transport whose clients answer with the number of the round; its second round has a fault."""

    def __init__(self) -> None:
        self.rounds: list[int] = []
        self.faults: list[str] = []
        self.channel = {"down": 0}
        self.last_used: dict[int, int] = {}

    def remember(self, phase: Phase, download: Parameters, selection: ClientSelection) -> None:
        """There is no memory to keep."""

    def forget(self, seconds: float) -> None:
        """There is none to delete."""

    def exchange(self, phase: Phase, download: Parameters, selection: ClientSelection, round_: int) -> list[Upload]:
        self.rounds.append(round_)
        self.channel["down"] += 10
        self.faults += [f"fault in {round_}"] if round_ == 1 else []
        message = Parameters({"theta": Part(torch.full((1, SIZE), float(round_)))})
        return [Upload(torch.tensor([0]), torch.tensor([0.1]), message)]


def rounds(journal: Journal, count: int) -> list[float]:
    download = Parameters({"theta": Part(torch.zeros(1, SIZE))})
    uploads = [
        journal.exchange(PHASE, download, ClientSelection([7], torch.ones(1, 1)), round_) for round_ in range(count)
    ]
    return [upload.message["theta"][0, 0].item() + upload.weights.item() for (upload,) in uploads]


def test_a_run_goes_on_from_its_last_finished_round_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    first = Counting()
    rounds(Journal(first, tmp_path / "state", SIZE), 2)
    second = Counting()
    resumed = Journal(second, tmp_path / "state", SIZE)
    whole = Journal(Counting(), tmp_path / "other", SIZE)
    assert rounds(resumed, 4) == rounds(whole, 4)
    assert (second.rounds, resumed.recalled) == ([2, 3], 2)
    assert (resumed.faults, resumed.channel) == (whole.faults, whole.channel) == (["fault in 1"], {"down": 40})
    resumed.forget()
    assert not (tmp_path / "state").exists()


def test_a_round_is_kept_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="the disk is full"):
        rounds(Journal(Counting(), tmp_path / "state", SIZE), 1)
    assert list((tmp_path / "state").iterdir()) == []
