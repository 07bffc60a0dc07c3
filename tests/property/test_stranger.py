"""A results folder from somebody else is data: no name in any of its JSON files is imported or called."""

import contextlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eflops
from eflops.cli import main
from eflops.config import study
from eflops.data.federation import read_manifest
from eflops.files import canonical_json, sha256_bytes
from eflops.results import record

EXAMPLES = 6
NAMES = ("stranger_part:run", "stranger_part", "stranger_part.below:run")
TABLE = "tables/support_recovery.csv"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all texts in a JSON value."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, key))
    elif isinstance(value, str):
        yield path


def put(value: Any, path: tuple[Any, ...], name: str) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = name


def seal(values: dict[str, Any]) -> None:
    """Write the hashes of a study, a manifest or a record again, as a forger would."""
    if study.OWN_HASH in values:
        values[study.OWN_HASH] = study.own_hash(values)
    if "result_sha256" in values:
        values["result_sha256"] = sha256_bytes(canonical_json(values["result"]).encode())
        values["record_sha256"] = record.record_hash(values)
    if "manifest_sha256" in values:
        rest = {key: value for key, value in values.items() if key != "manifest_sha256"}
        values["manifest_sha256"] = sha256_bytes(canonical_json(rest).encode())


PLACE = ("--row", "0.64", "--column", "eflops")
RECORD = "runs/support_recovery/nd0.64/fedavg/base/draw0-seed0.json"


def explain(folder: Path, *options: str) -> None:
    main(["explain", str(folder / TABLE), *PLACE, *options])


def verify(folder: Path, *options: str) -> None:
    main(["verify", str(folder / RECORD), *options])


def audit(folder: Path, *options: str) -> None:
    main(["audit", str(folder), "--no-pictures", "--cores", "1", "--weights", "1", *options])


def others(folder: Path, *_: str) -> None:
    """The commands that read a folder besides, and what a notebook reads of it."""
    out, record = str(folder.parent / "out"), str(folder / RECORD)
    for command in (["times"], ["summary"], ["diff", str(folder)], ["explorer", "--out", f"{out}.html"]):
        main([command[0], str(folder), *command[1:]])
    main(["show", record])
    main(["model", "support_recovery", "--results", str(folder), "--out", f"{out}.csv"])
    main(["publish", str(folder), "--out", out])
    loaded = eflops.load(folder)
    loaded.runs("support_recovery")
    loaded.explain(TABLE, row=["0.64"], column="eflops")


def run(folder: Path, *commands: Callable[..., None], trusted: bool = False) -> None:
    """What a command stumbles over is its own matter; that it imports nothing is what counts here."""
    for command in commands:
        with contextlib.suppress(Exception):
            command(folder, *["--trust"] * trusted)


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A module that leaves a mark when it is imported; the folder of the mark."""
    folder = tmp_path_factory.mktemp("stranger")
    package = folder / "stranger_part"
    package.mkdir()
    for name in ("__init__", "below"):
        (package / f"{name}.py").write_text(f"open({str(folder / 'mark')!r}, 'a').close()\ndef run(*a, **k): pass\n")
    sys.path.append(str(folder))
    sys.modules.pop("stranger_part", None)
    yield folder
    sys.modules.pop("stranger_part", None)
    sys.path.remove(str(folder))


def targets(folder: Path) -> list[Path]:
    """One file of each kind."""
    manifest = next(folder.glob("data/*/*/manifest.json"))
    return [folder / study.STUDY, manifest, folder / RECORD, folder / "scorecard.json"]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_name_in_any_json_of_a_folder_is_imported(
    small_results: Path, tmp_path: Path, traps: Path, data: st.DataObject
) -> None:
    folder = tmp_path / "results"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(small_results, folder)
    path = data.draw(st.sampled_from([path for path in targets(folder) if path.exists()]))
    values = json.loads(path.read_text())
    # Where code is named stands first; any other text may stand for it.
    likely = [leaf for leaf in leaves(values) if leaf[-1] in ("make", "kind", "method", "model", "engine")]
    leaf = data.draw(st.sampled_from(likely or list(leaves(values))) | st.sampled_from(list(leaves(values))))
    put(values, leaf, data.draw(st.sampled_from(NAMES)))
    seal(values)
    path.write_text(json.dumps(values))
    for other in folder.glob("data/*/*/manifest.json"):  # so that data are built again
        (other.parent / "federation.npz").unlink(missing_ok=True)
    run(folder, explain, verify, audit, others)
    assert not (traps / "mark").exists(), (path.name, leaf)
    assert "stranger_part" not in sys.modules


def name_a_maker(folder: Path) -> None:
    stored = json.loads((folder / study.STUDY).read_text())
    stored["config"]["products"] = {"support_recovery": {"make": "stranger_part:run"}}
    seal(stored)
    (folder / study.STUDY).write_text(json.dumps(stored))


def name_a_kind(folder: Path) -> None:
    for path in folder.glob("data/*/*/manifest.json"):
        values = json.loads(path.read_text())
        values["settings"]["kind"] = "stranger_part:run"
        seal(values)
        path.write_text(json.dumps(values))
        assert read_manifest(path.parent)
        (path.parent / "federation.npz").unlink()


def name_a_method(folder: Path) -> None:
    values = json.loads((folder / RECORD).read_text())
    values["origin"]["job"]["method"] = "stranger_part:run"
    seal(values)
    (folder / RECORD).write_text(json.dumps(values))


@pytest.mark.parametrize(
    ("change", "command"),
    [(name_a_maker, explain), (name_a_kind, verify), (name_a_kind, audit), (name_a_method, verify)],
)
def test_what_a_stranger_names_runs_only_when_it_is_trusted(
    results: Path, traps: Path, change: Any, command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    change(results)
    run(results, command)
    assert not (traps / "mark").exists()
    assert "is not part of eflops" in "".join(capsys.readouterr())
    run(results, command, trusted=True)
    assert (traps / "mark").exists()
    (traps / "mark").unlink()
    for name in [name for name in sys.modules if name.startswith("stranger_part")]:
        del sys.modules[name]


@pytest.mark.parametrize("field", ["data", "experiment", "variant"])
def test_a_record_cannot_lead_out_of_its_folder(results: Path, field: str) -> None:
    path = results / RECORD
    values = json.loads(path.read_text())
    values["origin" if field == "data" else "run"][field] = "../../escaped"
    seal(values)
    path.write_text(json.dumps(values))
    with pytest.raises(record.UserError, match="not a valid run record"):
        record.read(path)
