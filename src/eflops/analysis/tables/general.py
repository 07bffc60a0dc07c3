"""Tables of any experiment: every metric by method, N/d and variant, and paired tests of it."""

import pandas as pd

from eflops.analysis.source import Source
from eflops.analysis.stats.summary import CELL, seeds_and_draws, summarise_all
from eflops.analysis.table import Table
from eflops.analysis.tables.comparisons import compared, comparison_table
from eflops.analysis.text import short, spread

LABELS = {"ratio": "N/d", "variant": "variant"}


def cases(runs: pd.DataFrame) -> list[str]:
    """The columns that tell an experiment's cells apart besides the method: N/d and variant where they differ."""
    return [column for column in LABELS if runs[column].nunique() > 1]


def summary(source: Source) -> Table:
    """One row per N/d, variant and method, one column per metric."""
    (experiment,) = source.experiments
    runs = source.runs(experiment)
    by = cases(runs)
    cells = summarise_all(runs, source.metrics(experiment), [*by, "method"])
    rows = []
    for case, group in cells.groupby(by, sort=False) if by else [((), cells)]:
        names = {LABELS[column]: short(value) for column, value in zip(by, case, strict=True)}
        for method in source.order(group["method"]):
            own = group[group["method"] == method]
            texts = {row["metric"]: spread(*row[CELL]) for _, row in own.iterrows()}
            rows.append({**names, "Method": source.labels[method], "n": f"{own['n'].max()}", **texts})
    lost = int((runs["status"] == "diverged").sum())
    note = f"Mean ± standard deviation over n runs: {seeds_and_draws(runs)}."
    return Table(cells, pd.DataFrame(rows), note + (f" {lost} of {len(runs)} runs diverged." if lost else ""), runs)


def tests(source: Source) -> Table:
    """One row per metric, N/d, variant and other method; each metric is a family of its own."""
    (experiment,) = source.experiments
    runs = source.runs(experiment)
    by = cases(runs)
    frames = [
        compared(source, runs, metric, f"the comparisons of {metric}", tuple(by))
        for metric in source.metrics(experiment)
    ]
    columns = {"metric": "metric"} | {column: LABELS[column] for column in by}
    pairs = f"Pairs share the data draw and the run seed: {seeds_and_draws(runs)}."
    return comparison_table(pd.concat(frames, ignore_index=True), columns, source, runs, pairs)
