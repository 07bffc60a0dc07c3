"""Hospitals with files of their own: the server learns counts, and the run is the batched run on the same rows."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from flwr.common.config import parse_config_args
from flwr.supercore.task_identity import TaskIdentity
from in_process import InProcess
from ports import free_ports

from eflops.data.federation import Federation, save
from eflops.data.job import Job
from eflops.errors import UserError
from eflops.flower.assignment import Agreement
from eflops.flower.deploy import Demonstration, log_of
from eflops.flower.hosts import Hosts, deal
from eflops.flower.plan import make_draw, plan
from eflops.flower.rows import file_rows
from eflops.flower.server import serve
from eflops.results import record
from eflops.training.train import train

GENES = [f"gene{number}" for number in range(12)]
CONFIG = {
    "datasets": {
        "hospitals": {"kind": "expression", "matrix": "unused.csv", "classes": ["ALL", "AML"], "genes_per_class": 2}
    },
    "methods": {"eflops": {"method": "eflops", "label": "E-FLoPS"}},
    "experiments": {
        "own": {
            "dataset": "hospitals",
            "methods": ["eflops"],
            "seeds": 1,
            "settings": {"rounds": 3, "finetune_rounds": 1, "rate": 0.05},
        }
    },
}
TOLD = {"experiment": "own", "label": "class", "clients": 2, "wait": 5.0}


@pytest.fixture(autouse=True)
def _a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flower makes messages only for an app that runs."""
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


@pytest.fixture
def hospitals(tmp_path: Path) -> Path:
    return write_hospitals(tmp_path)


def write_hospitals(folder: Path) -> Path:
    """Three files with columns in other orders, the second an npz; and the config."""
    draw = np.random.default_rng(5)
    for name, rows in {"first": 7, "test": 6}.items():
        table = pd.DataFrame(draw.gamma(2.0, 50.0, (rows, len(GENES))), columns=GENES)
        table.insert(0, "sample", [f"{name}{row}" for row in range(rows)])
        table["class"] = ["ALL", "AML", "ALL"] * 2 + ["AML"] * (rows - 6)
        columns = ["sample", *(GENES if name == "test" else GENES[::-1]), "class"]
        table[columns].to_csv(folder / f"{name}.csv", index=False)
    values = draw.gamma(2.0, 50.0, (4, len(GENES)))
    np.savez(folder / "second.npz", values=values, genes=np.array(GENES), **{"class": np.array(["AML", "ALL"] * 2)})
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    return folder


def node(hospitals: Path, name: str) -> dict[str, Any]:
    return {"data": str(hospitals / name), "label": "class"}


def keys(hospitals: Path) -> dict[str, Any]:
    return {**TOLD, "data": str(hospitals / "test.csv"), "results": str(hospitals / "results")}


def in_batch(hospitals: Path) -> record.Record:
    chosen_run = plan(keys(hospitals), hospitals)
    agreed = Agreement(GENES, ["ALL", "AML"], chosen_run.data)
    first, second, test = (
        file_rows(str(hospitals / name), "class", agreed).clients[0] for name in ("first.csv", "second.npz", "test.csv")
    )
    federation = Federation((first, second), test, meta={"task": "classification", "classes": 2})
    save(federation, hospitals / "data" / chosen_run.draw_name, {})
    job = Job(
        chosen_run.spec.model_copy(update={"engine": "batched"}),
        hospitals / "data",
        hospitals / "runs",
        (chosen_run.run,),
        32,
    )
    train(job, lambda title: lambda *_: None)
    return record.read(job.folder / chosen_run.run.path)


def test_hospitals_train_on_their_own_files_as_the_batched_engine_would(hospitals: Path) -> None:
    grid = InProcess([node(hospitals, "first.csv"), node(hospitals, "second.npz")])
    federated = record.read(serve(grid, keys(hospitals), hospitals))
    assert federated.result_sha256 == in_batch(hospitals).result_sha256


def test_a_hospital_whose_file_does_not_fit_is_named_and_its_reason_stays_there(
    hospitals: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pd.read_csv(hospitals / "first.csv").drop(columns="gene3").to_csv(hospitals / "first.csv", index=False)
    grid = InProcess([node(hospitals, "first.csv"), node(hospitals, "second.npz")])
    with pytest.raises(UserError, match=r"node 100 refused the run \(UserError\); see its log for the reason"):
        serve(grid, keys(hospitals), hospitals)
    assert "lacks 1 of the 12 genes that are needed: gene3" in capsys.readouterr().err


def test_a_hospital_with_another_number_of_features_is_refused(hospitals: Path) -> None:
    with np.load(hospitals / "second.npz") as arrays:
        kept = {"values": arrays["values"][:, 1:], "genes": arrays["genes"][1:], "class": arrays["class"]}
    np.savez(hospitals / "second.npz", **kept)
    grid = InProcess([node(hospitals, "first.csv"), node(hospitals, "second.npz")])
    with pytest.raises(UserError, match="node 101 refused the run"):
        serve(grid, keys(hospitals), hospitals)


def test_a_server_that_makes_a_draw_itself_does_not_mix_it_with_rows_that_nodes_brought(hospitals: Path) -> None:
    entry = {**CONFIG["datasets"]["hospitals"], "matrix": str(hospitals / "first.csv"), "min_rows": 1}
    (hospitals / "config.yaml").write_text(yaml.safe_dump({**CONFIG, "datasets": {"hospitals": entry}}))
    chosen_run = {**TOLD, "results": str(hospitals / "results")}
    deal(
        make_draw(plan(chosen_run, hospitals)),
        {},
        hospitals / "server",
        Path("all"),
        [hospitals / "a", hospitals / "b"],
    )
    grid = InProcess([{"client": client, "data": str(hospitals / name / "data")} for client, name in enumerate("ab")])
    with pytest.raises(UserError, match="these nodes have their own rows"):
        serve(grid, chosen_run, hospitals)


@dataclass(frozen=True)
class Federated:
    """A federation of running nodes. refused: the server's log of the run that a node refused; trained: of the next."""

    files: Path
    folder: Path
    refused: str
    trained: str


@pytest.fixture(scope="module")
def federated(tmp_path_factory: pytest.TempPathFactory) -> Federated:
    """Two nodes with files of their own, one of which lacks a gene; then it is mended, and the run started again."""
    files = write_hospitals(tmp_path_factory.mktemp("hospitals"))
    with np.load(files / "second.npz") as arrays:
        second = pd.DataFrame(arrays["values"], columns=GENES).assign(**{"class": arrays["class"]})
    second.insert(0, "sample", range(len(second)))
    keys = f"experiment='own' label='class' clients=2 wait=300 data='{files / 'test.csv'}'"
    chosen_run = plan(parse_config_args([keys]), files)
    hosts = Hosts(tmp_path_factory.mktemp("hosts"), chosen_run, None, ["127.0.0.1"], free_ports(3))
    hosts.prepare([files / "config.yaml"])
    shutil.copyfile(files / "first.csv", hosts.nodes[0] / "rows.csv")
    second.drop(columns="gene3").to_csv(hosts.nodes[1] / "rows.csv", index=False)
    run, said = hosts.server / "run.sh", list[str]()
    with Demonstration(hosts) as demonstration:
        demonstration.run(said.append)
        second.to_csv(hosts.nodes[1] / "rows.csv", index=False)
        demonstration.start(run)
        demonstration.running[run].wait(600)
    return Federated(files, hosts.folder, "\n".join(said), log_of(run).read_text())


@pytest.mark.slow
@pytest.mark.flower
def test_a_running_node_refuses_a_file_that_does_not_fit_with_one_sentence_that_stays_there(
    federated: Federated,
) -> None:
    assert "refused the run (UserError); see its log for the reason" in federated.refused
    holders = [path for path in federated.folder.rglob("*") if path.is_file() and b"lacks 1 of" in path.read_bytes()]
    assert holders == [federated.folder / "node1" / "superexec.log"]
    (line,) = [line for line in holders[0].read_text().splitlines() if "lacks 1 of" in line]
    assert line.endswith("rows.csv lacks 1 of the 12 genes that are needed: gene3.")
    assert "Traceback" not in holders[0].read_text()


@pytest.mark.slow
@pytest.mark.flower
def test_running_nodes_train_on_their_own_files_as_the_batched_engine_would(federated: Federated) -> None:
    assert in_batch(federated.files).result_sha256 in federated.trained
