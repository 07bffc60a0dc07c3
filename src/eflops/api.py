"""Results in a notebook or script, as pandas tables. Nothing here imports torch.

    import eflops

    study = eflops.load("results/published")
    study.experiments                          # names of experiments and searches that have runs
    runs = study.runs("support_recovery")      # one row per run: metrics, total bytes and settings as columns
    study.curves("support_recovery")           # one row per run and evaluated round
    study.supports("golub_splits")             # one row per run and kept weight
    study.scorecard()                          # one row per number and claim of the paper
    print(study.explain("tables/support_recovery.csv", row="0.64", column="eflops"))

This works for a results folder, a published folder and an unfinished run.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from eflops.analysis.gather import Entries, curves_table, runs_table
from eflops.analysis.source import IDENTITY
from eflops.analysis.stats.trials import SETTING
from eflops.config.study import read_study
from eflops.errors import UserError
from eflops.results.paths import product
from eflops.results.store import Store, opened

# What a row of the scorecard states of our number.
ESTIMATE = ("mean", "low", "high", "n", "unit")
# The columns of traffic by phase that add up to the bytes of a run.
DIRECTIONS = ("down_", "up_")


@dataclass(frozen=True)
class Explanation:
    """Where a number comes from.

    Attributes:
        text: the output of `eflops explain`, which `print` shows.
        facts: the same content as JSON values.
    """

    text: str
    facts: dict[str, Any]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Results:
    """The results of a folder, read on demand.

    Attributes:
        folder: the results folder.
        labels: the printed name of each method, if the folder has them.
        configs: the config files of a folder that has no study.json yet.
    """

    folder: Path
    labels: dict[str, str]
    configs: tuple[Path, ...]
    _store: Store = field(repr=False)

    @property
    def experiments(self) -> list[str]:
        """The experiments and searches that have at least one run."""
        return list(dict.fromkeys(path.partition("/")[0] for path in self._store.record_paths()))

    def runs(self, experiment: str) -> pd.DataFrame:
        """One row per run of an experiment or search.

        Columns: the run's identity (experiment, dataset, ratio, method, variant, draw, seed), `label` (the
        method in print), `status`, its final metrics such as `r2` or `accuracy`, `parameters`, `kept`, `bytes`
        (all messages of the run, both ways), the settings by their names in the config, and the path of the
        record.
        """
        table = runs_table(self._entries(experiment))
        traffic = [name for name in table if str(name).startswith(DIRECTIONS)]
        settings = {name: str(name).removeprefix(SETTING) for name in table if str(name).startswith(SETTING)}
        # A setting of the name of a metric keeps its prefix.
        plain = {name: short for name, short in settings.items() if short not in table}
        table.insert(len(IDENTITY), "label", [self.labels.get(name, name) for name in table["method"]])
        table.insert(table.columns.get_loc("kept") + 1, "bytes", table[traffic].sum(axis=1).astype("int64"))
        return table.rename(columns=plain)

    def curves(self, experiment: str) -> pd.DataFrame:
        """One row per run and evaluated round: the run's identity, `phase`, `round` and the metrics."""
        entries = self._entries(experiment)
        identity = pd.DataFrame({"record": path, **entry.run.model_dump()} for path, entry in entries)
        return identity.merge(curves_table(entries), on="record", how="right")[
            [*IDENTITY, "record", *(name for name in curves_table(entries[:1]) if name != "record")]
        ]

    def supports(self, experiment: str) -> pd.DataFrame:
        """One row per run and kept weight: the run's identity, `index` of the parameter, and `weight`.

        `weight` is missing if the record does not keep the weights. Weights of a softmax model are laid out
        class by class: feature j of class c has the index c * features + j.
        """
        parts = []
        for path, entry in self._entries(experiment):
            result = entry.result
            weights = result.weights or [float("nan")] * len(result.support)
            part = pd.DataFrame({"record": path, "index": result.support, "weight": weights})
            parts.append(part.assign(**entry.run.model_dump()))
        return pd.concat(parts, ignore_index=True)[[*IDENTITY, "record", "index", "weight"]]

    def scorecard(self) -> pd.DataFrame:
        """One row per number and claim of the paper: `id`, `section`, `paper`, `mean` with its interval, `verdict`."""
        from eflops.provenance.explain.address import scorecard_lines

        rows = []
        for line in scorecard_lines(self.folder).values():
            paper, ours = line["paper"], dict(line["ours"][0]) if line["ours"] else {}
            facts = {name: dict(line)[name] for name in ("id", "section", "row", "column", "text")}
            facts |= {"paper": paper["value"] if paper else None, **{name: ours.get(name) for name in ESTIMATE}}
            rows.append({**facts, "verdict": line["verdict"], "reason": line["reason"]})
        return pd.DataFrame(rows)

    def explain(self, table: str, row: str | Iterable[str] = (), column: str | None = None) -> Explanation:
        """Explain a number of a table, of a figure's data or of the scorecard: formula, runs, data and code.

        Args:
            table: a file below the folder, such as "tables/support_recovery.csv".
            row: the values of the row's key columns, one text or several, as for `eflops explain --row`.
            column: the number's column.
        """
        from eflops.provenance.explain.address import Address
        from eflops.provenance.explain.explanation import explain
        from eflops.provenance.explain.text import as_json, as_text

        words = (row,) if isinstance(row, str) else tuple(map(str, row))
        explained = explain(self._store, self.configs, Address(self.folder / table, words, column), None)
        return Explanation(as_text(explained, str(self.folder)), as_json(explained, str(self.folder)))

    def table(self, name: str) -> pd.DataFrame:
        """The numbers of a table by its name, such as "support_recovery"."""
        from eflops.provenance.explain.address import read_table

        return read_table(self.folder / product("table", name))

    def axes(self, rows: int = 1, columns: int = 1, size: tuple[float, float] = (3.5, 2.8)) -> tuple[Any, Any]:
        """An empty figure in the project's style, and its axes."""
        from eflops.analysis.figure import canvas

        return canvas(rows, columns, size)

    def style(self, method: str) -> dict[str, str]:
        """The colour, marker and label of a method, as matplotlib's `plot` takes them."""
        from eflops.analysis.figure import style

        colour, marker = style(method)
        return {"color": colour, "marker": marker, "label": self.labels.get(method, method)}

    def _entries(self, experiment: str) -> Entries:
        there = [path for path in self._store.record_paths() if path.startswith(f"{experiment}/")]
        if not there:
            known = ", ".join(self.experiments) or "none"
            raise UserError(f"{self.folder} has no runs of {experiment!r}; it has {known}.")
        return [(path.removeprefix(f"{experiment}/"), self._store.record(path)) for path in there]


def load(folder: str | Path = "results", *configs: str | Path) -> Results:
    """Open a results folder: of a finished or unfinished run, or a published one.

    configs: config files, later ones override, for labels and explanations if the folder has no study.json yet.

    Example:
        >>> import eflops
        >>> study = eflops.load("results/published")
        >>> study.runs("support_recovery").groupby("method")["support_recovery"].mean()
    """
    with opened(Path(folder)) as store:
        files = tuple(map(Path, configs))
        return Results(Path(folder), _labels(Path(folder), files), files, store)


def _labels(folder: Path, configs: tuple[Path, ...]) -> dict[str, str]:
    """The labels of methods; empty if the folder has no study yet."""
    try:
        return {name: method.label for name, method in read_study(folder, *configs).config.methods.items()}
    except UserError:
        return {}
