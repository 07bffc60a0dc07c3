"""Whatever is typed, a command answers with one sentence and exit code 2, and never with a traceback."""

from pathlib import Path

import pytest
import yaml

from eflops.cli import app, main
from small_results import CONFIG

COMMANDS = sorted(command.callback.__name__ for command in app.registered_commands if command.callback)
# What each command is given besides the argument that is wrong.
BEFORE = {"diff": ["."], "fetch": []}


@pytest.fixture
def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Arguments that no command can work with, in a folder that holds nothing else."""
    monkeypatch.chdir(tmp_path)
    Path("binary.csv").write_bytes(b"\xff\xfe\x00\x80" * 50)
    Path("empty.csv").write_text("")
    Path("list.yaml").write_text("- a\n- b\n")
    Path("folder").mkdir()
    Path("scorecard.json").write_text('{"lines": [], "title": "no search"}')
    Path("sound.yaml").write_text(yaml.safe_dump(CONFIG))
    return {
        "missing": "no/such/thing.csv",
        "binary": "binary.csv",
        "empty file": "empty.csv",
        "list": "list.yaml",
        "folder": "folder",
        "empty": "",
        "option": "--no-such-option",
        "nothing": "",
    }


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The sentence that a command refuses its arguments with."""
    code = main(arguments)
    printed = capsys.readouterr()
    assert code == 2, (arguments, code, printed)
    assert printed.err.startswith("eflops: "), (arguments, printed.err)
    assert "Traceback" not in printed.err
    assert printed.err.count("\n") == 1, (arguments, printed.err)
    return printed.err


KINDS = ["missing", "binary", "empty file", "list", "folder", "empty", "option"]
# These take any of the wrong arguments as a folder to write to, or as one to look into.
HARMLESS = {("publish", "folder"), ("crate", "folder"), ("crate", "missing"), ("crate", "empty")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "deploy"])
def test_a_wrong_argument_is_refused_in_a_sentence(
    command: str, kind: str, wrong: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    refused([command, *BEFORE.get(command, []), wrong[kind]], capsys)


TYPED = [
    ["verify", "--runs", "0"],
    ["verify", "--runs", "-1"],
    ["verify", "x.csv", "--seed", "many"],
    ["audit", "--weights", "-1"],
    ["audit", "--cores", "0"],
    ["audit", "--config", "no.yaml"],
    ["diff", "a", "b", "--limit", "0"],
    ["explain", "x.csv", "--config", "no.yaml"],
    ["explain"],
    ["show"],
    ["fetch", "nosuch"],
    ["adopt", "no.json"],
    ["adopt", "scorecard.json"],
    ["status", "nosuch", "--config", "sound.yaml"],
    ["status", "--config", "no.yaml"],
    ["nosuch"],
]


@pytest.mark.parametrize("arguments", TYPED, ids=" ".join)
def test_a_wrong_option_is_refused_in_a_sentence(
    arguments: list[str], wrong: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    refused(arguments, capsys)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["fetch", "nosuch"], "there is no image set 'nosuch'; there are mnist and fashion_mnist."),
        (["show", "folder"], "this record cannot be read (Is a directory)."),
        (["show", "no.json"], "there is no such record; make it with: snakemake all"),
        (["explain", "no/such/thing.csv"], "there is no such file; make it with: snakemake"),
        (["explain", "binary.csv"], "it is not in a results folder, and any results folder does not contain it"),
        (["check", "--config", "list.yaml"], "this is a list; a config file has keys"),
        (["check", "--config", "binary.csv"], "this is not a text file in UTF-8"),
    ],
)
def test_the_sentence_says_what_is_wrong(
    command: list[str], words: str, wrong: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refused(command, capsys)


def test_an_overlay_alone_is_refused_with_the_command_that_lays_it_over(
    wrong: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("config.yaml").write_text(yaml.safe_dump(CONFIG))
    Path("overlay.yaml").write_text("methods: {eflops: {settings: {temperature: 0.1}}}")
    assert main(["check", "--config", "overlay.yaml"]) == 2
    assert "name that file first: --config config.yaml --config overlay.yaml" in capsys.readouterr().err
    assert main(["check", "--config", "config.yaml", "--config", "overlay.yaml"]) == 0


def test_help_describes_arguments_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "--help"]) == 0
    printed = capsys.readouterr().out
    assert "an experiment or a search" in printed
    assert "config file" in printed


def test_help_is_no_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "explain" in capsys.readouterr().out
