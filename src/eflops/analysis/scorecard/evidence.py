"""What verdicts rest on: the runs of the experiments at hand, and whether they can be held against the paper's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pandas as pd

from eflops.analysis.paper import Paper
from eflops.analysis.scorecard.verdict import Value
from eflops.analysis.source import IDENTITY, Source
from eflops.errors import UserError


class Missing(UserError):
    """What a verdict needs is not there: a sentence for the scorecard, which then judges nothing."""


@dataclass(frozen=True)
class Evidence:
    """A results folder, of which only the named experiments and tables count, and the paper.

    What else lies in the folder may be left over from another config.
    """

    source: Source
    experiments: frozenset[str]
    tables: frozenset[str]
    paper: Paper
    _read: dict[str, pd.DataFrame] = field(default_factory=dict, compare=False, repr=False)

    def label(self, method: str) -> str:
        """What a method is called in print."""
        return str(self.source.context.get("labels", {}).get(method, method))

    def found(self, experiment: str) -> pd.DataFrame:
        """All runs of an experiment, whatever their number and size; no row where it was not run."""
        if experiment in self.experiments:
            return self._once(f"gathered/{experiment}", lambda: self.source.runs(experiment))
        return pd.DataFrame(columns=IDENTITY)

    def obstacle(
        self, experiment: str, runs: pd.DataFrame, methods: Sequence[str], metric: str, least: int | None = None
    ) -> str:
        """Why these runs cannot be held against the paper's, in a sentence; nothing where they can."""
        if experiment not in self.experiments:
            return f"The experiment {experiment} was not run."
        for method in methods:
            if method not in set(runs["method"]):
                return f"{experiment} has no runs of {self.label(method)} here."
        if metric not in runs:
            return f"No run of {experiment} has a {metric}."
        size = self.paper.sizes[runs["dataset"].iloc[0]]
        needed = least or size.runs or 1
        runs = runs[runs["method"].isin(methods)]
        fewest = int(runs.groupby(["ratio", "variant", "method"], dropna=False).size().min())
        parameters, kept = int(runs["parameters"].iloc[0]), int(runs["kept"].max())
        if parameters != size.parameters:
            return f"{experiment} trained {parameters} parameters; the paper's model has {size.parameters}."
        if kept > size.kept:
            return f"{experiment} kept {kept} weights; the paper keeps {size.kept}."
        if fewest < needed:
            return f"{experiment} has {fewest} runs of a kind; {needed} are needed."
        return ""

    def runs(self, experiment: str, methods: Sequence[str], metric: str, least: int | None = None) -> pd.DataFrame:
        """The runs of some methods, at least `least` (or the paper's number) of each, of the paper's size."""
        runs = self.found(experiment)
        if obstacle := self.obstacle(experiment, runs, methods, metric, least):
            raise Missing(obstacle)
        return runs[runs["method"].isin(methods)]

    def curves(self, experiment: str) -> pd.DataFrame:
        """The curves of an experiment, one row a run and evaluated round."""
        if experiment not in self.experiments:
            raise Missing(f"The experiment {experiment} was not run.")
        return self.source.curves(experiment)

    def table(self, name: str) -> pd.DataFrame:
        """A table that was made, as plain numbers."""
        if name not in self.tables:
            raise Missing(f"The table {name} was not made.")
        return self._once(f"tables/{name}", lambda: pd.read_csv(self.source.results / "tables" / f"{name}.csv"))

    def _once(self, name: str, read: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """A file as read the first time; many judges look at the same one."""
        if name not in self._read:
            self._read[name] = read()
        return self._read[name]


def at_ratios(runs: pd.DataFrame, ratios: Sequence[float]) -> pd.DataFrame:
    """The runs at these N/d, every one of which must be there."""
    present = runs["ratio"].round(2)
    lacking = [ratio for ratio in ratios if ratio not in set(present)]
    if lacking:
        raise Missing(f"There are no runs at N/d {', '.join(f'{ratio:.2f}' for ratio in lacking)}.")
    return runs[present.isin(ratios)].assign(ratio=present)


def value(name: str, runs: pd.DataFrame, metric: str) -> Value:
    """Mean and standard deviation of a metric over the runs that finished."""
    finished = runs.loc[runs["status"] == "finished", metric]
    mean = float(finished.mean()) if len(finished) else None
    # Rounded, because equal values leave a trace of rounding where no spread is meant.
    sd = round(float(finished.std()), 12) if len(finished) > 1 else None
    return Value(name, mean, sd, len(runs), len(runs) - len(finished))
