"""Every job of a config's workflow, with the files that it writes below the results folder, except records."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from eflops.code import combined, training_hashes
from eflops.config.cell import CellSpec
from eflops.config.models import Config, Expression, Synthetic, Table
from eflops.config.plan import all_plans, cell_specs
from eflops.config.products import products
from eflops.files import read_json
from eflops.results import paths

# Of the scorecard and the summary, of the record of the study and of the explorer there is one.
SINGLE = ("scorecard", "summary", "study", "explorer")


@dataclass(frozen=True)
class TrainingJob:
    """A training job: its name, the paths of its manifest and records below the results, and its spec as JSON."""

    job: str
    cell: str
    runs: str
    text: str

    def is_complete(self, results: Path) -> bool:
        """Whether every record that the manifest lists exists; without a manifest the job is due anyway."""
        try:
            return all((results / self.runs / path).exists() for path in read_json(results / self.cell)["records"])
        except (OSError, ValueError, KeyError, TypeError):
            return False


def training_jobs(config: Config) -> Iterator[tuple[TrainingJob, CellSpec]]:
    """Every training job of a config, with its spec."""
    for plan in all_plans(config):
        for spec in cell_specs(config, plan.name):
            code = combined(training_hashes(spec.method, spec.model, spec.engine))
            for part, seeds in plan.parts(config.seeds_per_job):
                job = spec.model_copy(update={"seeds": seeds, "code": code})
                names = {"experiment": plan.name, "ratio": spec.ratio, "method": spec.name, "part": part}
                name, cell, runs = (each.format(**names) for each in (paths.CELL_JOB, paths.CELL, paths.CELL_RUNS))
                yield TrainingJob(name, cell, runs, job.text()), job


def job_files(config: Config) -> set[str]:
    """The files of all jobs except the single ones, and the spec that each job stores."""
    jobs = [*_jobs(config), *((job, ()) for job in SINGLE)]
    return {path for job, outputs in jobs for path in (*outputs, paths.SPEC.format(job=job))}


def _jobs(config: Config) -> Iterator[tuple[str, tuple[str, ...]]]:
    for entry in products(config):
        yield f"{entry.kind}s/{entry.name}", entry.files
    for plan in all_plans(config):
        yield _job("gather/{experiment}", paths.GATHERED, paths.CURVES, paths.SUPPORTS, experiment=plan.name)
        yield _job("references/{experiment}", paths.REFERENCES, experiment=plan.name)
        for draw in plan.draws:
            drawn: dict[str, str | int] = {"dataset": plan.dataset, "draw": draw}
            for ratio in plan.ratios:
                yield _job(paths.DRAW, paths.DATA_MANIFEST, paths.DATA_ARRAYS, **drawn, ratio=ratio)
            if isinstance(config.datasets[plan.dataset], Synthetic):
                yield _job("data/{dataset}/test-draw{draw}", paths.TEST_FEATURES, **drawn)
        for ratio, method, (part, _) in product(plan.ratios, plan.methods, plan.parts(config.seeds_per_job)):
            yield _job(paths.CELL_JOB, paths.CELL, experiment=plan.name, ratio=ratio, method=method, part=part)
    for name, dataset in config.datasets.items():
        if isinstance(dataset, Expression | Table):
            yield _job("data/{dataset}/genes", paths.GENES, dataset=name)
        if source := getattr(dataset, "source", None):
            yield _job("fetch/{source}", paths.RAW, source=source)
    for search in config.searches.values():
        yield _job("search/{dataset}", paths.TRIALS, paths.CHOSEN, paths.SEARCH_RUNS, dataset=search.entry)


def _job(*templates: str, **names: str | int) -> tuple[str, tuple[str, ...]]:
    """The name of a job and its files, from the templates."""
    job, *outputs = (template.format(**names) for template in templates)
    return job, tuple(outputs)
