"""A study of as many tiny runs as one likes, and how long each of its steps takes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import small_results
from eflops.analysis.products import make as make_product
from eflops.config import study
from eflops.config.jobs import training_jobs
from eflops.config.load import check
from eflops.config.plan import all_plans
from eflops.config.products import product_job, products
from eflops.explorer.make import page_of
from eflops.provenance.audit.audit import Options, audit

METHODS, SEEDS = ("fedavg", "fediht"), 2
RUNS_PER_CASE = len(METHODS) * SEEDS


def config(cases: int) -> dict[str, Any]:
    """So many cases of two methods, each a tiny run."""
    settings = {"rounds": 1, "finetune_rounds": 1, "local_steps": 1}
    return {
        "datasets": {
            "synthetic": {
                "kind": "synthetic", "density": 0.1, "features": 16, "test_rows": 8, "clients": 2, "min_rows": 2
            }
        },
        "methods": {
            "fedavg": {"method": "fedavg", "label": "FedAvg", "settings": settings},
            "fediht": {"method": "fediht", "label": "Fed-IHT", "settings": settings},
        },
        "products": {"fig_scorecard": None},
        "experiments": {
            "many": {
                "dataset": "synthetic",
                "ratios": [1.0],
                "methods": list(METHODS),
                "seeds": SEEDS,
                "cases": {f"case{case}": {"rate": 0.001 + case * 1e-6} for case in range(cases)},
            }
        },
    }  # fmt: skip


def steps(folder: Path, cases: int) -> dict[str, float]:
    """The CPU seconds of each step of a study of so many cases."""
    raw, seconds = config(cases), {}

    def timed(name: str, step: Callable[[], Any]) -> Any:
        start = time.process_time()
        made = step()
        seconds[name] = time.process_time() - start
        return made

    checked = check(raw)
    (plan,) = all_plans(checked)
    timed("plan", lambda: list(training_jobs(checked)))
    small_results._make_data(checked, plan, folder)
    timed("train", lambda: small_results.train_plan(checked, plan, folder))
    timed("gather", lambda: small_results.gather(plan, folder))
    study.write(raw, folder / study.STUDY)
    for product in (each for each in products(checked) if each.experiments):
        out = [folder / path for path in product.files]
        timed(product.name, lambda product=product, out=out: make_product(product_job(checked, product), folder, out))
    report = timed("audit", lambda: audit(folder, Options(pictures=False, cores=1, weights=0)))
    assert [str(finding) for finding in report.findings if finding.kind != "missing"] == []
    assert report.records == RUNS_PER_CASE * cases
    page = timed("explorer", lambda: page_of(folder, "results"))
    assert f"case{cases - 1}" in page or len(page) > cases
    return seconds
