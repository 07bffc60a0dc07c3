"""What a user types or writes wrongly, seen through Snakemake: a sentence that names the place, and no traceback."""

import re
import shlex
from pathlib import Path

from workflow.conftest import ROOT, Study, lay_out

BRACES = "methods: {eflops: {label: 'E_{0}'}}\nresults: 'results of mine'\n"


def refused(study: Study, *arguments: str) -> str:
    output = study.snakemake("--dry-run", *arguments, check=False)
    assert study.code != 0
    assert "Traceback" not in output
    return output


def test_a_tab_in_the_config_is_named_with_file_and_line(study: Study) -> None:
    study.edit("config.yaml", "methods:\n", "methods:\n\tflops: 1\n")
    assert "config.yaml, line 6: this is not valid YAML; there is a tab; indent with spaces." in refused(study)


def test_a_tab_in_an_overlay_is_named_with_file_and_line(study: Study) -> None:
    (study.folder / "over.yaml").write_text("methods:\n\tflops: 1\n")
    output = refused(study, "all", "--configfile", "over.yaml")
    assert "config: over.yaml, line 2: this is not valid YAML; there is a tab; indent with spaces." in output


def test_a_key_that_stands_twice_in_an_overlay_is_refused(study: Study) -> None:
    (study.folder / "over.yaml").write_text("engine: batched\nengine: flower\n")
    assert "over.yaml, line 2: this is not valid YAML; the key 'engine' appears twice." in refused(
        study, "--configfile", "over.yaml"
    )


def test_an_overlay_that_is_nested_too_deep_ends_in_a_sentence(study: Study) -> None:
    (study.folder / "over.yaml").write_text(f"methods: {'[' * 3000}{']' * 3000}\n")
    sentence = "config: over.yaml: this is nested too deeply; a config has at most 40 levels."
    assert sentence in refused(study, "--configfile", "over.yaml")


def test_a_mapping_on_the_command_line_braces_in_a_label_and_a_space_in_the_results_folder_can_be_planned(
    study: Study,
) -> None:
    (study.folder / "over.yaml").write_text(BRACES)
    mapping = "experiments={support_recovery: {methods: [eflops]}}"
    output = study.snakemake("--dry-run", "all", "--configfile", "over.yaml", "--config", mapping)
    assert "Train eflops on support_recovery" in output
    assert "Train fedavg on support_recovery" not in output


def test_a_misspelt_target_names_the_nearest(study: Study) -> None:
    output = refused(study, "results/tables/suport_recovery.csv")
    assert "suport_recovery.csv: no rule makes this file; did you mean results/tables/support_recovery.csv?" in output
    assert "did you mean results/data/synthetic/nd0.64-draw0/manifest.json?" in refused(
        study, "results/data/synthetc/nd0.64-draw0/manifest.json"
    )


def test_the_command_in_the_config_of_fashion_pictures_can_be_pasted(tmp_path: Path) -> None:
    lay_out(tmp_path / "clone")
    (command,) = re.findall(r"^# +snakemake (.*)$", (ROOT / "config/fashion.yaml").read_text(), re.MULTILINE)
    output = Study(tmp_path / "clone").snakemake("--dry-run", *shlex.split(command))
    assert "Figure fig2" in output
    assert "Train eflops on mnist all" in output


def test_an_experiment_with_a_target_of_its_own_is_trained_by_that_target_alone(study: Study) -> None:
    entry = "  mine: {dataset: synthetic, ratios: [1.0], methods: [fedavg], seeds: 1, target: own}\n"
    study.edit("config.yaml", "experiments:\n", f"experiments:\n{entry}")
    assert "Train fedavg on mine" in study.snakemake("--dry-run", "own")
    assert "on mine" not in study.snakemake("--dry-run", "all")
