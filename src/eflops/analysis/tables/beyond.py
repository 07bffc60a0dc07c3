"""Data that nobody tuned on: accuracy, AUC, genes and their stability by data set and method, and paired tests.

The split is the unit: a split's run seeds are averaged first.
"""

from collections.abc import Mapping

import pandas as pd

from eflops.analysis.source import Source
from eflops.analysis.stats.paired import paired_tests
from eflops.analysis.stats.summary import best, summarise_all
from eflops.analysis.table import Table
from eflops.analysis.tables.comparisons import comparison_table
from eflops.analysis.tables.selection_stability import stabilities
from eflops.analysis.text import bold, share, spread

# Test samples / training samples: a fifth of every class.
OVERLAP = 0.25
METRICS = {"accuracy": "accuracy", "auc": "AUC"}
NOTE = (
    "Mean ± standard deviation over {splits} splits, the {seeds} run seeds of a split averaged first. All settings are "
    "those searched on the Golub data; nothing was searched here. AUC of three classes is the mean over pairs of "
    "classes. Stability is Nogueira's index across splits. The best federated accuracy is bold. Best subset and L1 are "
    "fitted to the pooled training samples."
)


def make(source: Source, names: Mapping[str, str]) -> Table:
    """One row per data set and method, the references last; names: what each experiment's data are called."""
    parts, rows = [], []
    for experiment in source.experiments:
        cells, labels = _cells(source, experiment)
        federated = cells["method"].isin(source.federated(cells["method"]))
        cells = cells.assign(data=names[experiment], federated=federated)
        parts.append(cells)
        rows += [{"Data": names[experiment], **row} for row in _rows(cells, labels, source)]
    runs = source.runs(source.experiments[0])
    note = NOTE.format(splits=runs["draw"].nunique(), seeds=runs["seed"].nunique())
    # Without their metrics: a mean or deviation over splits is not that over runs.
    behind = pd.concat([source.runs(name) for name in source.experiments], ignore_index=True)
    behind = behind.drop(columns=list(METRICS), errors="ignore")
    return Table(pd.concat(parts, ignore_index=True), pd.DataFrame(rows), note, behind)


def tests(source: Source, names: Mapping[str, str]) -> Table:
    """One row per metric, data set and other method; each metric and data set is a family of its own."""
    frames = []
    for metric in METRICS:
        for experiment in source.experiments:
            runs = by_split(source.runs(experiment))
            first, *others = source.from_reference(runs["method"])
            family = f"the comparisons of {METRICS[metric]} on {names[experiment]}"
            frame = paired_tests(runs, metric, first, others, ["draw"], family, ["experiment"], overlap=OVERLAP)
            frames.append(frame)
    table = pd.concat(frames, ignore_index=True)
    runs = pd.concat([source.runs(name) for name in source.experiments], ignore_index=True)
    pairs = "A pair is a split, its run seeds averaged; the t-test is the corrected resampled one, as splits overlap."
    columns = {"metric": "metric", "experiment": "data"}
    return comparison_table(table, columns, source, runs, pairs, METRICS | dict(names))


def by_split(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per experiment, method and split: the means of its finished runs, and whether all of them diverged."""
    grouped = runs.groupby(["experiment", "method", "draw"], as_index=False, sort=False)
    means = grouped[list(METRICS)].mean()
    status = grouped["status"].agg(lambda found: "diverged" if (found == "diverged").all() else "finished")
    return means.merge(status, on=["experiment", "method", "draw"])


def _cells(source: Source, experiment: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """One row per method and reference: means and deviations over splits, genes, stability."""
    stable, labels = stabilities(source, experiment)
    fits = source.references(experiment).rename(columns={"reference": "method"})
    fits = fits.assign(status="finished", experiment=experiment)
    units = pd.concat([by_split(source.runs(experiment)), fits[["experiment", "method", "draw", *METRICS, "status"]]])
    cells = summarise_all(units, list(METRICS), ["experiment", "method"])
    wide = cells.pivot(index="method", columns="metric", values=["mean", "sd"])
    wide.columns = pd.Index([f"{metric}_{statistic}" for statistic, metric in wide.columns])
    columns = ["experiment", "method", "n", "diverged", "genes", "different_genes", "over_splits", "over_seeds"]
    return stable[columns].join(wide, on="method"), labels


def _rows(cells: pd.DataFrame, labels: Mapping[str, str], source: Source) -> list[dict[str, str]]:
    federated = cells.set_index("method").loc[source.federated(cells["method"])]
    first = best(federated.rename(columns={"accuracy_mean": "mean"}))
    rows = []
    for row in cells.itertuples():
        texts = {
            words: spread(getattr(row, f"{metric}_mean"), getattr(row, f"{metric}_sd"))
            for metric, words in METRICS.items()
        }
        texts["accuracy"] = bold(texts["accuracy"], row.method in first)
        lost = f" ({row.diverged} diverged)" if row.diverged else ""
        rows.append(
            {
                "Method": labels[row.method] + lost,
                **texts,
                "genes": share(row.genes, "{:.1f}"),
                "stability": share(row.over_splits),
            }
        )
    return rows
