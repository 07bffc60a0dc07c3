"""The inputs of tables and figures: gathered runs and curves, and the labels of methods."""

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.errors import UserError
from eflops.files import locate
from eflops.results.labels import WHOLE
from eflops.results.paths import CURVES, DATA_MANIFEST, GATHERED, GENES, REFERENCES, SEARCHES, SUPPORTS

if TYPE_CHECKING:
    from eflops.config.products import ProductJob

# What a gated run's curve holds besides its metrics.
GATES = ("gate_entropy", "multiplier", "open_gates", "support_changed")
IDENTITY = ["experiment", "dataset", "ratio", "method", "variant", "draw", "seed"]


def no_runs() -> pd.DataFrame:
    """An empty frame of runs, for numbers that no run contributes to."""
    return pd.DataFrame(columns=["experiment", "record"])


@dataclass(frozen=True)
class Source:
    """The part of a results folder that a table or figure may read; the function of every product takes a source.

    Args:
        labels: the label of each method, in the config's order.
        pooled: the methods that train on pooled data.
        experiments: the product's experiments.
        files: what it may read below the folder; None for everything.
        resources: the files of the project that it may read.

    Its methods return data frames: `runs` has one row per run with its identity, `status`, final metrics, traffic and
    settings (`set_rate`, ...), `curves` one row per run and evaluated round, `supports` the kept weights of each run.

    Example:
        def accuracy(source: Source) -> Table:
            runs = source.runs(source.experiment)
            data = summarise(runs, "accuracy", ["method"])
            of = rows_by(data, "method")
            rows = [{"Method": source.labels[name], "accuracy": spread(of[name])} for name in source.order(of)]
            return Table(data, rows, "Mean ± standard deviation.", runs, "accuracy")
    """

    results: Path
    labels: dict[str, str] = field(default_factory=dict)
    pooled: tuple[str, ...] = ()
    experiments: tuple[str, ...] = ()
    files: frozenset[str] | None = None
    resources: tuple[str, ...] = ()
    _read: dict[str, pd.DataFrame] = field(default_factory=dict, compare=False, repr=False)

    def limited(self, job: "ProductJob") -> "Source":
        """The source restricted to a product: its methods, its experiments, and the files that it declares."""
        gathered = [each.format(experiment=name) for name in job["experiments"] for each in (GATHERED, CURVES)]
        # The new source shares the cache of files, because several products read the same ones.
        return replace(
            self,
            labels=dict(job["labels"]),
            pooled=tuple(job["pooled"]),
            experiments=tuple(job["experiments"]),
            files=frozenset([*gathered, *job["inputs"]]),
            resources=tuple(job["resources"]),
        )

    @property
    def experiment(self) -> str:
        """The experiment of a product that has exactly one."""
        (experiment,) = self.experiments
        return experiment

    def path(self, name: str) -> Path:
        """A file below the results folder; a UserError if it was not declared."""
        if self.files is not None and name not in self.files:
            raise UserError(f"{name}: this file is not declared; add it to the product's experiments or inputs.")
        return self.results / name

    def runs(self, experiment: str) -> pd.DataFrame:
        """One row per run."""
        return self.read(GATHERED.format(experiment=experiment))

    def curves(self, experiment: str) -> pd.DataFrame:
        """One row per run and evaluated round, with the run's identity."""
        name = f"curves of {experiment}"
        if name not in self._read:
            curves, who = self.read(CURVES.format(experiment=experiment)), self.runs(experiment)
            self._read[name] = curves.merge(who[[*IDENTITY, "status", "record"]], on="record", how="left")
        return self._read[name].copy(deep=False)

    def metrics(self, experiment: str) -> list[str]:
        """What the runs of an experiment were judged by: the columns of curves and runs alike, or of curves alone.

        Where every run diverged before it was measured, runs have none of these columns.
        """
        curves, runs = self.read(CURVES.format(experiment=experiment)), self.runs(experiment)
        measured = [column for column in curves if column not in ("record", "phase", "round", *GATES)]
        return [column for column in measured if column in runs] or measured

    def references(self, experiment: str) -> pd.DataFrame:
        """One row per reference fit to pooled rows, for each data draw of an experiment."""
        return self.read(REFERENCES.format(experiment=experiment))

    def supports(self, experiment: str) -> pd.DataFrame:
        """One row per run: its identity, status, and `support`, the indices of the kept weights, separated by
        spaces."""
        supports = self.read(SUPPORTS.format(experiment=experiment), keep_default_na=False, dtype=str)
        return self.runs(experiment)[[*IDENTITY, "status", "record"]].merge(supports, on="record", validate="1:1")

    def was_searched(self, search: str) -> bool:
        """Whether the product may read the trials of a search."""
        return f"{SEARCHES}/{search}.csv" in self.resources

    def trials(self, search: str) -> pd.DataFrame:
        """One row per method and trial of a search, by method, admitted trials first, best first."""
        return pd.read_csv(self._resource(f"{SEARCHES}/{search}.csv"))

    def search_runs(self, search: str) -> pd.DataFrame:
        """One row per run of a search, as `analysis.search.run_rows` describes them."""
        return pd.read_csv(self._resource(f"{SEARCHES}/{search}.runs.csv.gz"), dtype={"support": str})

    def _resource(self, path: str) -> Path:
        file = locate(path)
        if path not in self.resources or file is None:
            raise UserError(
                f"{path}: these trials are not there or not declared; name them in the product's resources."
            )
        return file

    def has(self, name: str) -> bool:
        """Whether a file exists."""
        return (self.results / name).exists()

    def table(self, name: str) -> pd.DataFrame | None:
        """The plain numbers of a table or figure below the folder; None if it was not declared."""
        return None if self.files is not None and name not in self.files else self.read(name)

    def genes(self, experiment: str) -> pd.DataFrame:
        """The genes of an experiment on expression data, in the order of the features: gene, symbol, label, ..."""
        return self.read(GENES.format(dataset=self._dataset(experiment)), keep_default_na=False, dtype=str)

    def probes(self, experiment: str) -> pd.DataFrame:
        """The genes under the name of Golub's features: a probe, of which a gene may have several."""
        return self.genes(experiment).rename(columns={"gene": "probe"})

    def classes(self, experiment: str) -> list[str]:
        """The names of the classes of an experiment, in the order of their numbers."""
        first = self.runs(experiment)["draw"].min()
        manifest = self.path(DATA_MANIFEST.format(dataset=self._dataset(experiment), ratio=WHOLE, draw=first))
        return list(json.loads(manifest.read_text(encoding="utf-8"))["meta"].get("class_names", []))

    def _dataset(self, experiment: str) -> str:
        return str(self.runs(experiment)["dataset"].iloc[0])

    def order(self, names: Iterable[str]) -> list[str]:
        """Methods in the config's order."""
        present = set(names)
        return [name for name in self.labels if name in present]

    def named(self, names: Iterable[str]) -> list[str]:
        """Methods in the config's order; unknown methods come last."""
        return [*self.order(names), *sorted(set(names) - set(self.labels))]

    def called(self, method: str) -> str:
        """The label of a method; a method that the config does not have is its own label."""
        return self.labels.get(method, method)

    def labels_with(self, fits: pd.DataFrame) -> dict[str, str]:
        """The labels of methods, followed by those of the references in these fits."""
        return self.labels | dict(zip(fits["reference"], fits["label"], strict=True))

    def from_reference(self, names: Iterable[str]) -> list[str]:
        """Methods in the config's order, after the paper's method, with which the others are compared."""
        return sorted(self.order(names), key=lambda name: name != METHOD)

    def federated(self, names: Iterable[str]) -> list[str]:
        """The methods that do not train on pooled data, in the config's order."""
        return [name for name in self.order(names) if name not in self.pooled]

    def sending(self, runs: pd.DataFrame) -> pd.DataFrame:
        """The runs of methods that communicate: pooled training sends nothing."""
        return runs[~runs["method"].isin(self.pooled)]

    def read(self, name: str, **options: Any) -> pd.DataFrame:
        """A CSV file below the folder, cached because several products may read it."""
        path = self.path(name)
        if name not in self._read:
            self._read[name] = pd.read_csv(self._opened(name, path), **options)
        return self._read[name].copy(deep=False)

    def _opened(self, name: str, path: Path) -> Path | io.StringIO:
        """The path or buffer to read a file from."""
        return path
