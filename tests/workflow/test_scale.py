"""Sizes and names that a command line could not carry: many seeds, many cases, an awkward folder."""

from pathlib import Path

import pandas as pd
import pytest

from workflow.conftest import Study, lay_out

pytestmark = pytest.mark.workflow

SEEDS, CASES = 2000, 5000
RESULTS = 'my "results" & more'
CONFIG = f"""
results: '{RESULTS}'
datasets:
  synthetic: {{kind: synthetic, density: 0.1, features: 16, test_rows: 4, clients: 2, min_rows: 2}}
methods:
  fedavg: {{method: fedavg, label: FedAvg, settings: {{rounds: 1, finetune_rounds: 0, local_steps: 1}}}}
experiments:
  seeds: {{dataset: synthetic, ratios: [1.0], methods: [fedavg], seeds: {SEEDS}}}
  cases: {{dataset: synthetic, ratios: [1.0], methods: [fedavg], seeds: 1, vary: {{rate: [{{rates}}]}}}}
"""


@pytest.mark.slow
def test_thousands_of_seeds_and_cases_train_in_one_job_each(tmp_path: Path) -> None:
    rates = ", ".join(f"{0.001 + case * 1e-6:.6f}" for case in range(CASES))
    lay_out(tmp_path / "study", CONFIG.replace("{rates}", rates))
    study = Study(tmp_path / "study")
    gathered = [f"{RESULTS}/gathered/{name}.csv" for name in ("seeds", "cases")]
    output = study.snakemake(*gathered)
    assert output.count("Train fedavg on") == 2
    seeds, cases = (pd.read_csv(study.folder / path) for path in gathered)
    assert (len(seeds), seeds["seed"].nunique()) == (SEEDS, SEEDS)
    assert (len(cases), cases["set_rate"].nunique()) == (CASES, CASES)
    spec = study.folder / RESULTS / "specs/train/cases/nd1.00/fedavg.json"
    metadata = sum(path.stat().st_size for path in (study.folder / ".snakemake/metadata").rglob("*") if path.is_file())
    assert metadata < 0.2 * spec.stat().st_size
