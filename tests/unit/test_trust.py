"""Code is imported by name through one gate: the package's parts, the user's, and what the user lets in."""

import ast
import json
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import eflops
from eflops import cli, code, trust
from eflops.config.load import check
from eflops.config.models import KINDS
from eflops.config.products import general_entries, project_entries
from eflops.config.study import read_study
from eflops.data.build import builder
from eflops.errors import UserError
from eflops.provenance.audit.audit import audit_crate
from eflops.provenance.audit.study import check_present
from eflops.provenance.explain import explanation
from eflops.results.store import opened
from eflops.script import logged
from small_results import CONFIG

SOURCE = Path(eflops.__file__).parent
STRANGER = "stranger_part:run"
REFUSED = [
    ("product", "eflops.files:write_text"),
    ("product", "eflops.analysis.products:make"),
    ("product", "eflops.analysis.products.general:pd"),
    ("product", "eflops.analysis.products.general.x:summary"),
    ("product", "click:edit"),
    ("data set", "subprocess:Popen"),
    ("data set", "build"),
    ("data set", "eflops.data.synthetic:build"),
    ("data set", "..files"),
    ("method", "os:system"),
    ("method", "base"),
    ("method", "eflops.training.methods.fedavg:Method"),
    ("model", "linear.x"),
    ("engine", "eflops.training.engines.batched"),
    ("claim", "eflops.analysis.scorecard.claims.golub:pd"),
    ("section", "eflops.files:write_text"),
]  # fmt: skip


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module that notes in a file that it was imported; where the file would be."""
    mark = tmp_path / "imported"
    (tmp_path / "stranger_part.py").write_text(
        f"open({str(mark)!r}, 'a').close()\ndef run(*a, **k): raise ValueError\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("stranger_part", None)
    yield mark
    sys.modules.pop("stranger_part", None)


@pytest.mark.parametrize(("role", "name"), REFUSED)
def test_only_parts_of_the_package_that_are_meant_for_their_role_are_loaded(role: trust.Role, name: str) -> None:
    with pytest.raises(trust.Untrusted, match="is not part of eflops"):
        trust.load(role, name)


def test_everything_that_the_project_names_is_a_part_of_the_package() -> None:
    with trust.session():
        makers = [*project_entries().values(), *general_entries(check(CONFIG)).values()]
    for maker in makers:
        assert callable(trust.load("product", maker["make"])), maker["make"]
    for kind in KINDS.keys() - {"own"}:
        assert callable(trust.load("data set", kind))


def test_a_name_is_not_imported_before_it_is_let_in(stranger: Path) -> None:
    with pytest.raises(trust.Untrusted, match="or add --trust if you trust"):
        builder(STRANGER)
    assert not stranger.exists()
    with trust.session():
        trust.allow("data set", STRANGER)
        assert callable(builder(STRANGER))
        with pytest.raises(trust.Untrusted):
            trust.load("method", STRANGER)
    assert stranger.exists()
    with pytest.raises(trust.Untrusted):
        builder(STRANGER)


def test_names_in_the_users_config_are_let_in_in_their_role(stranger: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(f"datasets: {{mine: {{kind: '{STRANGER}'}}}}\nproducts: 3\n")
    with trust.session(config):
        assert callable(builder(STRANGER))
        with pytest.raises(trust.Untrusted):
            trust.load("product", STRANGER)
    with trust.session(tmp_path / "absent.yaml"), pytest.raises(trust.Untrusted):
        builder(STRANGER)


def test_a_config_inside_the_folder_that_is_read_is_its_senders(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").mkdir()
    sent = {
        **CONFIG,
        "results": str(tmp_path),
        "datasets": {**CONFIG["datasets"], "mine": {"kind": STRANGER, "model": "linear", "density": 0.1}},
    }
    (tmp_path / "config.yaml").write_text(json.dumps(sent))
    monkeypatch.chdir(tmp_path)
    with trust.session(Path("config.yaml")), opened(Path()):
        with pytest.raises(UserError, match="there is no study"):
            read_study(Path())
        list(check_present(Path(), check(CONFIG)))
        with pytest.raises(trust.Untrusted):
            builder(STRANGER)
    with trust.session(Path("config.yaml")):
        with pytest.raises(UserError, match="this is not a crate of results"):
            audit_crate(Path())
        with pytest.raises(trust.Untrusted):
            builder(STRANGER)
    assert not stranger.exists()


def test_a_config_is_checked_without_importing_what_it_names(stranger: Path, tmp_path: Path) -> None:
    package = tmp_path / "stranger_package"
    package.mkdir()
    (package / "__init__.py").write_text(f"open({str(stranger)!r}, 'a').close()\n")
    (package / "part.py").write_text("def run(source): pass\n")
    product = {"kind": "table", "title": "t", "make": "stranger_package.part:run"}
    with trust.session():
        check({**CONFIG, "products": {"mine": product}}, trusted=False)
    assert not stranger.exists()


def test_a_part_that_is_missing_is_said_in_a_sentence() -> None:
    with pytest.raises(UserError, match=r"no_such: there is no module eflops\.data\.no_such"):
        trust.load("data set", "no_such")


def test_nothing_else_in_the_package_imports_by_name() -> None:
    """Every other dynamic import would be a way around the gate."""
    for path in SOURCE.rglob("*.py"):
        # eflops/__init__.py imports what it lists itself, and nothing that is given to it.
        if path in (SOURCE / "trust.py", SOURCE / "__init__.py"):
            continue
        tree = ast.parse(path.read_text())
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        assert names.isdisjoint({"import_module", "__import__", "exec_module", "exec", "run_path", "run_module"}), path


def test_a_folder_in_which_a_command_is_typed_shadows_no_library_and_gives_none_that_is_missing(
    results: Path, stranger: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """pandas, for one, tries to import packages that are not installed; a sent folder may hold files of these names."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(stranger.parent)])
    shutil.copyfile(stranger.parent / "stranger_part.py", results / "not_installed.py")
    monkeypatch.setattr(explanation, "explain", lambda *_: import_module("not_installed"))
    monkeypatch.chdir(results)
    for config in ("", json.dumps(CONFIG)):
        Path("config.yaml").write_text(config)
        cli.main(["explain", "tables/support_recovery.csv", "--row", "0.64", "--column", "eflops"])
        assert "No module named 'not_installed'" in capsys.readouterr().err
    assert not stranger.exists()


def test_a_module_of_the_users_is_found_where_the_command_is_typed_behind_what_is_installed(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(tmp_path)])
    before = list(sys.path)
    with trust.session(folder=tmp_path):
        assert code.module_file("stranger_part") == tmp_path / "stranger_part.py"
        assert sys.path == before
        trust.allow("data set", STRANGER)
        assert callable(builder(STRANGER))
        assert sys.path == [*before, str(tmp_path)]
    assert sys.path == before


def test_a_session_inherits_nothing_and_leaves_nothing(stranger: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(f"datasets: {{mine: {{kind: '{STRANGER}'}}}}")
    with trust.session(config):
        trust.allow_all()
        with trust.session(), pytest.raises(trust.Untrusted):
            builder(STRANGER)
        assert callable(builder(STRANGER))
    with pytest.raises(trust.Untrusted):
        builder(STRANGER)


def test_what_a_job_or_a_command_may_run_ends_with_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with logged(str(tmp_path / "job.log")):
        assert trust.is_trusted("data set", STRANGER)
    assert not trust.is_trusted("data set", STRANGER)
    cli.main(["audit", str(tmp_path / "absent"), "--trust"])
    assert not trust.is_trusted("data set", STRANGER)


def test_what_one_thread_trusts_another_does_not_unless_it_is_handed_on() -> None:
    """Flower may answer for several clients in threads of one process."""
    with trust.session(), ThreadPoolExecutor(1) as other:
        trust.allow_all()
        assert not other.submit(trust.is_trusted, "method", STRANGER).result()
        assert other.submit(copy_context().run, trust.is_trusted, "method", STRANGER).result()
        other.submit(trust.allow_all).result()
    assert not trust.is_trusted("method", STRANGER)


@pytest.mark.parametrize("command", [["audit", "."], ["audit", "--crate", "{}"], ["explain", "{}/results/study.json"]])
def test_settings_that_make_numba_load_the_senders_machine_code_are_refused(
    results: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder of the command, or a crate while it is audited, is where numba looks for them."""
    (results / cli.CONFIG).write_text("")
    shutil.copytree(results, results.parent / "crate" / "results")
    for folder in (results, results.parent / "crate", results.parent / "crate" / "results"):
        (folder / trust.NUMBA).write_text("cache_dir: code\nchrome_trace: written\n")
    monkeypatch.chdir(results if command[-1] == "." else results.parent)
    assert cli.main([word.format(results.parent / "crate") for word in command]) == 2
    assert f"{trust.NUMBA}: numba would read this file" in capsys.readouterr().err


def test_numba_reads_its_settings_in_the_file_that_is_refused() -> None:
    config: Any = import_module("numba.core.config")
    assert config._config_fname == trust.NUMBA
