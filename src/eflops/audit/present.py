"""The study against the present config file: results that are sound may be those of a config that has changed since."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eflops.audit.findings import Finding
from eflops.audit.records import differences
from eflops.config.load import read
from eflops.config.messages import ConfigError
from eflops.config.models import Config
from eflops.config.plan import job_slice, plan_of
from eflops.results.store import RUNS

FILE = Path("config.yaml")


def check_present(folder: Path, config: Config) -> Iterator[Finding]:
    """Experiments that the present config describes otherwise, where the folder is the one that it names."""
    if not FILE.exists():
        return
    try:
        present = read(FILE)
    except ConfigError as error:
        yield Finding("stale", str(FILE), f"the results cannot be compared with it: {error.mistakes[0]}")
        return
    if Path(present.results).resolve() not in (folder.resolve(), folder.resolve().parent):
        return
    for name in config.experiments.keys() | present.experiments.keys():
        if what := _changed(config, present, name):
            yield Finding("stale", f"{RUNS}/{name}", what)


def _changed(config: Config, present: Config, name: str) -> str:
    """How the present config describes an experiment otherwise, in words; empty where it does not."""
    if name not in present.experiments:
        return f"{FILE} has no such experiment any more"
    if name not in config.experiments:
        return f"{FILE} has this experiment, and these results do not"
    found = list(differences(_asked(config, name), _asked(present, name)))
    if not found:
        return ""
    place, stated, right = found[0]
    more = f", and {len(found) - 1} more differences" if len(found) > 1 else ""
    return (
        f"{place} is {stated!r} in these results and {right!r} in {FILE}{more}; bring them up to date with: snakemake"
    )


def _asked(config: Config, name: str) -> dict[str, Any]:
    """All that an experiment asks for, by method and ratio; settings by variant."""
    plan = plan_of(config, name)
    cells = {
        f"{method} {ratio}": job_slice(config, name, ratio, method) for method in plan.methods for ratio in plan.ratios
    }
    return {"seeds": list(plan.seeds), "draws": list(plan.draws), "variants": list(plan.variants), **cells}
