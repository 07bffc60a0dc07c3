"""The notebook is that of its script, and every cell runs on a results folder."""

import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from eflops.files import PROJECT

sys.path.insert(0, str(PROJECT / "notebooks"))
from pair import NOTEBOOK, SCRIPT, notebook


def test_the_notebook_is_written_from_its_script() -> None:
    assert NOTEBOOK.read_text() == notebook(SCRIPT.read_text()), "run: python notebooks/pair.py"
    nbformat.validate(nbformat.read(NOTEBOOK, as_version=4))


@pytest.mark.slow
def test_every_cell_runs(
    small_results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EFLOPS_RESULTS", str(small_results))
    names: dict[str, Any] = {}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, "explore.ipynb", "exec"), names)
    assert names["tests"]["n"].min() >= 1
    assert len(names["axes"].lines) == 1
    assert "support_recovery" in capsys.readouterr().out
