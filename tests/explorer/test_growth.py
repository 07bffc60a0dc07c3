"""The explorer of a study with thousands of cases: its build grows no faster than the study."""

import time
from pathlib import Path
from typing import Any

import pytest

import small_results
from eflops.analysis import products
from eflops.config import study
from eflops.config.load import check
from eflops.config.plan import all_plans
from eflops.config.products import product_job
from eflops.config.products import products as planned_products
from eflops.explorer.make import make

CASES = 3000
SECONDS = 120.0


def config(cases: int) -> dict[str, Any]:
    settings = {"rounds": 1, "finetune_rounds": 0, "local_steps": 1}
    data = {"kind": "synthetic", "density": 0.1, "features": 16, "test_rows": 4, "clients": 2, "min_rows": 2}
    rates = [round(0.001 + case * 1e-6, 6) for case in range(cases)]
    return {
        "datasets": {"synthetic": data},
        "methods": {name: {"method": name, "label": name, "settings": settings} for name in ("fedavg", "fediht")},
        "experiments": {
            "cases": {
                "dataset": "synthetic",
                "ratios": [1.0],
                "methods": ["fedavg", "fediht"],
                "seeds": 1,
                "vary": {"rate": rates},
            }
        },
    }


def made(folder: Path, cases: int) -> Path:
    """A results folder with the records and the numbers of its tables and figures; pictures are not needed."""
    raw = config(cases)
    checked = check(raw)
    small_results.make_runs(folder, checked)
    for plan in all_plans(checked):
        small_results.gather(plan, folder)
    for product in filter(lambda product: product.experiments, planned_products(checked)):
        products.make(product_job(checked, product), folder, [folder / product.csv])
    study.write(raw, folder / study.STUDY)
    return folder


def seconds(folder: Path) -> float:
    """The CPU seconds of building the page."""
    started = time.process_time()
    make([str(folder)])
    return time.process_time() - started


@pytest.mark.slow
def test_three_thousand_cases_are_built_in_two_minutes_and_growth_is_linear(tmp_path: Path) -> None:
    few = seconds(made(tmp_path / "few", CASES // 6))
    many = seconds(made(tmp_path / "many", CASES))
    print(f"{CASES // 6} cases: {few:.1f} CPU s; {CASES} cases: {many:.1f} CPU s")
    assert many < SECONDS
    # Six times the cases; what does not grow (imports, scripts) only helps, and timing varies.
    assert many < 6 * 1.5 * few
