"""What the docs say about adding a method and a data set works as printed."""

import json
import re
from pathlib import Path

import pytest

from workflow.conftest import ROOT, Study

pytestmark = pytest.mark.workflow


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page of the docs."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def append_below(config: Path, section: str, yaml_block: str) -> None:
    """Add the entries of a printed YAML block to the section of the same name."""
    entries = yaml_block.removeprefix(f"{section}:\n")
    config.write_text(config.read_text().replace(f"{section}:\n", f"{section}:\n{entries}", 1))


@pytest.mark.slow
def test_the_method_of_the_docs_appears_in_the_tables(study: Study) -> None:
    (code, *_), (entry,) = blocks("adding-a-method.md", "python"), blocks("adding-a-method.md", "yaml")
    assert len(code.splitlines()) <= 30
    (study.folder / "soft_threshold.py").write_text(code)
    append_below(study.folder / "config.yaml", "methods", entry)
    study.edit("config.yaml", "methods: [eflops,", "methods: [soft, eflops,")
    study.snakemake("all")
    assert "Soft threshold" in (study.folder / "results/tables/support_recovery.md").read_text()
    assert "soft" in (study.folder / "results/figures/fig1b.csv").read_text()
    record = json.loads((study.folder / "results/runs/support_recovery/nd0.64/soft/base/draw0-seed0.json").read_text())
    assert record["origin"]["job"]["options"] == {"shrink": 0.002}
    assert "soft_threshold" in record["origin"]["code"]
    assert record["circumstances"]["bits"] == "this kind of machine"

    (study.folder / "soft_threshold.py").write_text(code.replace("theta.sign()", "-theta.sign()"))
    assert study.would_train() == {"soft nd0.64", "soft nd1.00"}


def test_the_data_set_of_the_docs_is_trained_on(study: Study) -> None:
    (code,), (entry, experiment) = blocks("adding-a-dataset.md", "python"), blocks("adding-a-dataset.md", "yaml")
    (study.folder / "waves.py").write_text(code)
    append_below(study.folder / "config.yaml", "datasets", entry)
    append_below(study.folder / "config.yaml", "experiments", experiment.replace("eflops, ", ""))
    study.snakemake("results/gathered/toy.csv", "results/gathered/toy.references.csv")
    record = json.loads((study.folder / "results/runs/toy/all/fedavg/base/draw0-seed0.json").read_text())
    assert record["result"]["status"] == "finished"
    assert record["result"]["metrics"]["support_recovery"] in {0.0, 1.0}
