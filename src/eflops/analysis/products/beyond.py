"""Held-out data sets: accuracy, AUC, genes and their stability by data set and method, and paired tests.

The split is the unit: the run seeds of a split are averaged first.
"""

from collections.abc import Mapping

import pandas as pd

from eflops.analysis.cells import Row, bold, number, spread
from eflops.analysis.figure import Axes, Drawing, Figure, canvas
from eflops.analysis.products.general import comparison_table
from eflops.analysis.products.genes import stabilities
from eflops.analysis.source import Source
from eflops.analysis.stats.paired import paired_tests
from eflops.analysis.stats.summary import best, half_width, summarise_all
from eflops.analysis.style import style
from eflops.analysis.table import Table
from eflops.analysis.text import share

# Test samples / training samples: a fifth of every class.
OVERLAP = 0.25
METRICS = {"accuracy": "accuracy", "auc": "AUC"}
NOTE = (
    "Mean ± standard deviation over {splits} splits, after averaging the {seeds} run seeds of a split. All settings "
    "come from the search on the Golub data. For three classes, AUC is the mean over pairs of classes. Genes: how "
    "many a run selects on average; stability: Nogueira's index across splits. The best federated accuracy is bold. "
    "Best subset and L1 are fitted to the pooled training samples."
)


def by_split(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per experiment, method and split: the means of its finished runs, and whether all of them diverged."""
    grouped = runs.groupby(["experiment", "method", "draw"], as_index=False, sort=False)
    means = grouped[list(METRICS)].mean()
    status = grouped["status"].agg(lambda statuses: "diverged" if (statuses == "diverged").all() else "finished")
    return means.merge(status, on=["experiment", "method", "draw"])


def _fits(source: Source, experiment: str) -> pd.DataFrame:
    """The references on pooled samples, one row per split, with the columns of `by_split`."""
    fits = source.references(experiment).rename(columns={"reference": "method"})
    return fits[["method", "label", "draw", *METRICS]].assign(experiment=experiment)


def _all_runs(source: Source) -> pd.DataFrame:
    return pd.concat([source.runs(name) for name in source.experiments], ignore_index=True)


def table(source: Source, names: Mapping[str, str]) -> Table:
    """One row per data set and method, the references last; names: the label of each experiment's data."""
    parts, labels = [], {}
    for experiment in source.experiments:
        cells, labels[experiment] = _cells(source, experiment)
        federated = cells["method"].isin(source.federated(cells["method"]))
        parts.append(cells.assign(data=names[experiment], federated=federated))
    data = pd.concat(parts, ignore_index=True)
    rows = [
        {"Data": names[experiment], **row}
        for experiment in source.experiments
        for row in _rows(data[data["experiment"] == experiment], labels[experiment], source)
    ]
    runs = source.runs(source.experiments[0])
    note = NOTE.format(splits=runs["draw"].nunique(), seeds=runs["seed"].nunique())
    # Without their metrics: a mean or deviation over splits is not that over runs.
    behind = _all_runs(source).drop(columns=list(METRICS), errors="ignore")
    return Table(data, rows, note, behind)


def _cells(source: Source, experiment: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """One row per method and reference: means and deviations over splits, genes, stability."""
    stable, labels = stabilities(source, experiment)
    fits = _fits(source, experiment).assign(status="finished")
    units = pd.concat([by_split(source.runs(experiment)), fits.drop(columns="label")])
    cells = summarise_all(units, list(METRICS), ["experiment", "method"])
    wide = cells.pivot(index="method", columns="metric", values=["mean", "sd"])
    wide.columns = pd.Index([f"{metric}_{statistic}" for statistic, metric in wide.columns])
    columns = ["experiment", "method", "n", "diverged", "genes", "different_genes", "over_splits", "over_seeds"]
    return stable[columns].join(wide, on="method"), labels


def _rows(cells: pd.DataFrame, labels: Mapping[str, str], source: Source) -> list[Row]:
    federated = cells.set_index("method").loc[source.federated(cells["method"])]
    first = best(federated.rename(columns={"accuracy_mean": "mean"}))
    rows: list[Row] = []
    for _, row in cells.iterrows():
        texts = {words: spread(row, f"{metric}_mean", f"{metric}_sd", False) for metric, words in METRICS.items()}
        texts["accuracy"] = bold(texts["accuracy"], row["method"] in first)
        name = labels[row["method"]] + (f" ({row['diverged']} diverged)" if row["diverged"] else "")
        genes = {"genes": number(row, "genes", "{:.1f}"), "stability": number(row, "over_splits", share)}
        rows.append({"Method": name, **texts, **genes})
    return rows


def tests(source: Source, names: Mapping[str, str]) -> Table:
    """One row per metric, data set and other method; each metric and data set is a separate family."""
    frames = []
    for metric in METRICS:
        for experiment in source.experiments:
            runs = by_split(source.runs(experiment))
            first, *others = source.from_reference(runs["method"])
            family = f"the comparisons of {METRICS[metric]} on {names[experiment]}"
            frames.append(paired_tests(runs, metric, first, others, ["draw"], family, ["experiment"], overlap=OVERLAP))
    pairs = (
        "A pair is a split, with its run seeds averaged. The t-test is the corrected resampled one, because splits "
        "overlap."
    )
    columns, tests = {"metric": "metric", "experiment": "data"}, pd.concat(frames, ignore_index=True)
    words, families = METRICS | dict(names), "the rows of one metric and one data set"
    return comparison_table(tests, columns, source, _all_runs(source), pairs, words, families)


def figure(source: Source, names: Mapping[str, str]) -> Figure:
    """A panel per metric and data set: every split, and the mean with its interval.

    The references on pooled samples are below the methods, in grey.
    """
    parts = [part for name in source.experiments for part in (by_split(source.runs(name)), _fits(source, name))]
    units = pd.concat(parts, ignore_index=True)
    labels = source.labels | dict(units[["method", "label"]].dropna().drop_duplicates().to_numpy())
    methods = [method for method in labels if method in set(units["method"])]
    panels = [(metric, experiment) for metric in METRICS for experiment in source.experiments]
    rows = []
    for metric, experiment in panels:
        experiment_units = units[units["experiment"] == experiment]
        for method in methods:
            values = experiment_units.loc[experiment_units["method"] == method, metric].dropna()
            half = half_width(values.std(), len(values))
            rows.append((experiment, method, metric, values.mean(), half, len(values)))
    # What names a row stands in front, so that `eflops explain` finds it.
    data = pd.DataFrame(rows, columns=["experiment", "method", "metric", "mean", "half_width", "n"])

    def paint() -> Drawing:
        shape = (len(METRICS), len(source.experiments))
        drawing, axes = canvas(*shape, size=(7.2, 4.2), sharey=True, sharex="row", squeeze=False)
        for axis, (metric, experiment) in zip(axes.flat, panels, strict=True):
            cells = data[(data["metric"] == metric) & (data["experiment"] == experiment)]
            _draw(axis, units[units["experiment"] == experiment], metric, cells)
            axis.set(title=names[experiment] if metric == next(iter(METRICS)) else "")
        for row, metric in zip(axes, METRICS, strict=True):
            row[len(row) // 2].set_xlabel(METRICS[metric])
        axes[0, 0].set_yticks(range(len(methods)), [labels[method] for method in methods])
        axes[0, 0].invert_yaxis()
        return drawing

    return Figure(data, _all_runs(source), paint)


def _draw(axes: Axes, units: pd.DataFrame, metric: str, data: pd.DataFrame) -> None:
    for y, row in enumerate(data.itertuples()):
        method_units = units[units["method"] == row.method]
        values = method_units[metric].dropna()
        colour, marker = style(row.method) if method_units["status"].notna().any() else ("0.45", "|")
        axes.plot(values, [y] * len(values), ".", color=colour, alpha=0.3, markersize=3, markeredgewidth=0)
        axes.errorbar(row.mean, y, xerr=row.half_width, fmt=marker, color=colour, markersize=4, linewidth=1)
    axes.grid(axis="x", color="0.9", linewidth=0.5)
    axes.tick_params(axis="y", length=0)
