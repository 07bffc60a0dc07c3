"""The evidence for verdicts: the runs of the experiments, and whether they are comparable with the paper's."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eflops.analysis.paper import Paper
from eflops.analysis.source import IDENTITY, Source
from eflops.errors import UserError

CELL = ["ratio", "variant", "method"]


class Missing(UserError):
    """Data that a verdict needs are missing; the message is the scorecard's reason for not judging."""


@dataclass(frozen=True)
class Evidence:
    """The data that the check of a claim may read: the runs of a results folder, and the paper's numbers.

    Args:
        source: the results folder.
        experiments: the experiments of the config; other files of the folder may be left over from another config.
        paper: the paper's numbers, claims and sizes.

    Example, the test R2 of two methods, one row per run:
        evidence.runs("support_recovery", ["eflops", "fedavg"], "r2")
    """

    source: Source
    experiments: frozenset[str]
    paper: Paper

    def label(self, method: str) -> str:
        """The label of a method."""
        return self.source.labels.get(method, method)

    def all_runs(self, experiment: str) -> pd.DataFrame:
        """All runs of an experiment, whatever their number and size; empty if it was not run."""
        if experiment in self.experiments:
            return self.source.runs(experiment)
        return pd.DataFrame(columns=IDENTITY)

    def runs(
        self, experiment: str, methods: Sequence[str], metric: str, draws: int = 2, seeds: int = 1
    ) -> pd.DataFrame:
        """The runs of some methods, at the paper's size; `Missing` with the reason if they cannot be judged.

        Args:
            experiment: an experiment of the check's entry.
            methods: all of them must have runs.
            metric: a column of the runs, such as "r2".
            draws: the smallest number of draws; a single draw shows no spread between draws.
            seeds: the smallest number of run seeds.

        Returns:
            One row per run, with its identity, status, metrics, traffic and settings.
        """
        self._ran(experiment)
        runs = self.all_runs(experiment)
        for method in methods:
            if method not in set(runs["method"]):
                raise Missing(f"{experiment} has no runs of {self.label(method)} here.")
        runs = runs[runs["method"].isin(methods)]
        if metric not in runs:
            every = (runs["status"] == "diverged").all()
            raise Missing(
                f"Every run of {experiment} diverged." if every else f"No run of {experiment} has a {metric}."
            )
        size = self.paper.sizes[runs["dataset"].iloc[0]]
        parameters, kept = int(runs["parameters"].iloc[0]), int(runs["kept"].max())
        if parameters != size.parameters:
            raise Missing(f"{experiment} trained {parameters} parameters; the paper's model has {size.parameters}.")
        if kept > size.kept:
            raise Missing(f"{experiment} kept {kept} weights; the paper keeps {size.kept}.")
        cells, pairs = len(runs[CELL].drop_duplicates()), runs["draw"].nunique() * runs["seed"].nunique()
        if len(runs) != cells * pairs:
            raise Missing(f"{experiment} lacks runs: not every cell has the same draws and seeds.")
        for least, column in ((draws, "draw"), (seeds, "seed")):
            if (there := runs[column].nunique()) < least:
                raise Missing(f"{experiment} has {there} {column}{'s' * (there != 1)}; {least} are needed.")
        return runs

    def curves(self, experiment: str) -> pd.DataFrame:
        """The curves of an experiment, one row per run and evaluated round."""
        self._ran(experiment)
        return self.source.curves(experiment)

    def supports(self, experiment: str) -> pd.DataFrame:
        """The kept weights of an experiment, one row per run."""
        self._ran(experiment)
        return self.source.supports(experiment)

    def _ran(self, experiment: str) -> None:
        if experiment not in self.experiments:
            raise Missing(f"The experiment {experiment} was not run.")


def at_ratios(runs: pd.DataFrame, ratios: Sequence[float]) -> pd.DataFrame:
    """The runs at these N/d; `Missing` if an N/d has none."""
    lacking = [ratio for ratio in ratios if ratio not in set(runs["ratio"])]
    if lacking:
        raise Missing(f"There are no runs at N/d {', '.join(f'{ratio:.2f}' for ratio in lacking)}.")
    return runs[runs["ratio"].isin(ratios)]


def by_unit(runs: pd.DataFrame, metric: str) -> np.ndarray:
    """A metric of one method's runs as an array [draws, seeds], NaN where a run diverged."""
    finished = runs[metric].where(runs["status"] == "finished")
    return runs.assign(**{metric: finished}).pivot(index="draw", columns="seed", values=metric).to_numpy(float)
