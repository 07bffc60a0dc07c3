"""The walk of one number from the config to Table 1, as docs/architecture.md describes it."""

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import small_results
from eflops.analysis import products, references
from eflops.analysis.gather import gather_cells
from eflops.config import load
from eflops.config.jobs import training_jobs
from eflops.config.models import data_settings
from eflops.config.products import product_job
from eflops.config.products import products as planned_products
from eflops.data.build import make
from eflops.results.paths import CURVES, GATHERED, REFERENCES, SUPPORTS
from eflops.training.engines import batched
from eflops.training.train import train_cell

PAGE = Path(__file__).parents[2] / "docs/architecture.md"
WALK = re.findall(r"^\d+\. `([\w.]+)`:", PAGE.read_text(), re.MULTILINE)
# Functions between two steps that only pass things on.
LONGEST_DETOUR = 2
RAW: dict[str, Any] = {
    **small_results.CONFIG,
    "experiments": {
        "support_recovery": {"dataset": "synthetic", "ratios": [0.64], "methods": ["eflops", "fedavg"], "seeds": 2}
    },
}


class Calls:
    """The first call of each function of the package, with the functions that it was called from."""

    def __init__(self) -> None:
        self.callers: dict[str, list[str]] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = _name(frame)
        if event == "call" and name and name not in self.callers:
            outer, names = frame.f_back, []
            while outer is not None:
                names += [each] if (each := _name(outer)) else []
                outer = outer.f_back
            self.callers[name] = names


def _name(frame: FrameType) -> str:
    """The function's name below the package; empty for others, and for what has no name of its own."""
    module = frame.f_globals.get("__name__") or ""
    function = frame.f_code.co_qualname
    return "" if not module.startswith("eflops.") or "<" in function else f"{module[7:]}.{function}"


def run_study(results: Path) -> None:
    """What the workflow does for Table 1, job after job."""
    config = load.check(RAW)
    jobs = [job for job, _ in training_jobs(config)]
    make(data_settings(config.datasets["synthetic"]), results / "data/synthetic/nd0.64-draw0")
    specs = [results / f"{job.job}.json" for job in jobs]
    for job, spec in zip(jobs, specs, strict=True):
        spec.parent.mkdir(parents=True, exist_ok=True)
        spec.write_text(job.text)
        train_cell(spec, results, 32, results / job.cell, lambda _: lambda *_: None)
    files = [str(results / each.format(experiment="support_recovery")) for each in (GATHERED, CURVES, SUPPORTS)]
    gather_cells(map(str, specs), [str(results / job.cell) for job in jobs], str(results), *files)
    references.make(
        [results / "data/synthetic/nd0.64-draw0"], results / REFERENCES.format(experiment="support_recovery")
    )
    (table,) = [each for each in planned_products(config) if each.name == "support_recovery"]
    products.make(product_job(config, table), results, [results / file for file in table.files])


def test_a_number_of_table_1_walks_as_the_page_says(tmp_path: Path) -> None:
    batched.prepare()
    calls = Calls()
    sys.setprofile(calls)
    try:
        run_study(tmp_path)
    finally:
        sys.setprofile(None)
    assert [name for name in calls.callers if name in WALK] == WALK
    for name in WALK:
        detour = next((n for n, each in enumerate(calls.callers[name]) if each in WALK), len(calls.callers[name]))
        assert detour <= LONGEST_DETOUR, (name, calls.callers[name])


def test_the_walk_is_short() -> None:
    assert len(WALK) <= 20
    assert len({name.removesuffix(f".{_function(name)}") for name in WALK}) <= 12


def _function(name: str) -> str:
    """The function's part of a dotted name, with its class where it has one."""
    parts = name.split(".")
    return ".".join(parts[-2:] if parts[-2][:1].isupper() else parts[-1:])
