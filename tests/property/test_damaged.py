"""A damaged results folder is answered by a sentence, whatever stands in its files."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eflops.cli import main

EXAMPLES = 12
TABLE = "tables/support_recovery.csv"
RECORD = "runs/support_recovery/nd0.64/fedavg/base/draw0-seed0.json"
FILES = (
    "study.json", "scorecard.json", "summary.json", TABLE, "tables/support_recovery_tests.csv",
    "gathered/support_recovery.csv", "gathered/support_recovery.curves.csv", RECORD,
    "benchmarks/train/support_recovery/nd0.64/eflops.tsv", "data/synthetic/nd0.64-draw0/manifest.json",
)  # fmt: skip
COMMANDS = (
    ["times", "{}"],
    ["diff", "{}", "{before}"],
    ["explain", "{}/" + TABLE, "--row", "0.64", "--column", "fedavg"],
    ["show", "{}/" + RECORD],
    ["summary", "{}"],
    ["model", "support_recovery", "--results", "{}", "--out", "{}/model.csv"],
)


def damaged_json(text: str, data: st.DataObject) -> str:
    """JSON with a list for an object, a word for a number, or a key that is gone."""
    value = json.loads(text)
    holder: Any = value
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return json.dumps([])
        key = data.draw(st.sampled_from(keys))
        if not isinstance(holder[key], dict | list) or data.draw(st.booleans()):
            break
        holder = holder[key]
    if data.draw(st.booleans()) and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = data.draw(st.sampled_from([[], {}, None, "a word", [[1], {"a": 2}], 1e300, -1]))
    return json.dumps(value)


def damaged_table(text: str, data: st.DataObject) -> str:
    """A table that is empty, has no rows, lost a column's name, or has words for numbers."""
    lines = text.splitlines()
    row = data.draw(st.integers(0, len(lines) - 1))
    return data.draw(
        st.sampled_from(
            ["", lines[0] + "\n", "\n".join([*lines[:row], "x" * 9, *lines[row:]]), text.replace("0.", "word", 3)]
        )
    )


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_commands_answer_by_a_sentence(
    small_results: Path, tmp_path: Path, data: st.DataObject, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "results"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(small_results, folder)
    for name in data.draw(st.lists(st.sampled_from(FILES), min_size=1, max_size=2, unique=True)):
        text = (folder / name).read_text()
        (folder / name).write_text((damaged_json if name.endswith(".json") else damaged_table)(text, data))
    for command in COMMANDS:
        words = [word.format(folder, before=small_results) for word in command]
        assert main(words) in (0, 1, 2), words
        printed = capsys.readouterr()
        assert "Traceback" not in printed.out + printed.err


@pytest.mark.parametrize("content", ["e: 3", "- 1", "", "{a: [1]}", "\x00"])
def test_chosen_settings_that_are_none_are_refused_by_adopt(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for ending, text in ((".json", '{"d": {"eflops": {"rate": 0.1}}}'), (".csv", ""), (".runs.csv.gz", "")):
        (tmp_path / f"search{ending}").write_text(text)
    into = tmp_path / "chosen.yaml"
    into.write_text(content)
    code = main(["adopt", str(tmp_path / "search.json"), "--into", str(into), "--keep", str(tmp_path / "kept")])
    assert code == (0 if content == "" else 2)
    assert ("is not a file of chosen settings" in capsys.readouterr().err) == (content != "")


@pytest.mark.parametrize("part", ["entry", "method", "setting"])
def test_names_in_a_search_that_are_more_than_names_are_refused_by_adopt(
    tmp_path: Path, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"entry": "d", "method": "eflops", "setting": "rate", part: "x: {}}\nmore"}
    for ending, text in ((".csv", ""), (".runs.csv.gz", "")):
        (tmp_path / f"search{ending}").write_text(text)
    choice = {names["entry"]: {names["method"]: {names["setting"]: 0.1}}}
    (tmp_path / "search.json").write_text(json.dumps(choice))
    into = tmp_path / "chosen.yaml"
    assert main(["adopt", str(tmp_path / "search.json"), "--into", str(into), "--keep", str(tmp_path)]) == 2
    assert "is not a name" in capsys.readouterr().err
    assert not into.exists()
