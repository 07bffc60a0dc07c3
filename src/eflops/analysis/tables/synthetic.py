"""Support recovery on synthetic data: Table 1, and the same beside the paper's."""

import pandas as pd

from eflops.analysis.needs import TARGETS
from eflops.analysis.paper import read_paper
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import CELL, best, seeds_and_draws, spread_over_draws, summarise
from eflops.analysis.table import Table
from eflops.analysis.text import bold, exact, signed, spread
from eflops.config.products import PROJECT

METRIC = "support_recovery"
CEILING = "best_subset"
BY = ["ratio", "method"]


def support_recovery(source: Source) -> Table:
    """Table 1: the share of the true support that each method finds, over N/d, beside what pooled rows attain.

    Mean and standard deviation over draws; the best federated method of a row is bold; references stand behind.
    """
    (experiment,) = source.experiments
    runs, references = source.runs(experiment), source.references(experiment)
    within = spread_over_draws(runs, METRIC).rename(columns={"sd_within": "sd_seeds"})
    own_cells = summarise(runs, METRIC, BY).merge(within[[*BY, "sd_seeds"]], on=BY)
    fits = references.rename(columns={"reference": "method"}).assign(status="finished")
    cells = pd.concat([own_cells, summarise(fits, METRIC, BY)], ignore_index=True)
    methods = source.order(runs["method"])
    columns = [*methods, *references["reference"].unique()]
    rows = []
    for ratio, group in cells.groupby("ratio"):
        own = group.set_index("method")
        first = best(own.loc[source.federated(methods)])
        texts = {name: bold(spread(*own.loc[name, CELL]), name in first) for name in columns}
        rows.append({"N/d": exact(ratio)} | texts)
    note = (
        f"Mean ± standard deviation over {seeds_and_draws(runs)}. The best federated method of a row whose every run "
        "finished is bold. The last columns are one fit each to the pooled, shifted training rows of the same draws: "
        "best subset selection is the ceiling of what these rows allow."
    )
    return Table(cells, pd.DataFrame(rows).rename(columns=source.labels | _names(references)), note, runs, METRIC)


def _names(references: pd.DataFrame) -> dict[str, str]:
    """What the references are called, the ceiling by that name."""
    labels = dict(zip(references["reference"], references["label"], strict=True))
    return {name: f"{label} (ceiling)" if name == CEILING else label for name, label in labels.items()}


def beside_the_paper(source: Source) -> Table:
    """The paper's Table 1 beside ours, column by column, at the N/d that both have."""
    (experiment,) = source.experiments
    runs = source.runs(experiment)
    cells = summarise(runs, METRIC, BY).merge(_printed(), on=BY)
    cells["difference"] = cells["mean"] - cells["paper_mean"]
    rows = []
    for ratio, group in cells.groupby("ratio"):
        row = {"N/d": exact(ratio)}
        for method, cell in group.set_index("method").loc[source.order(cells["method"])].iterrows():
            told = "" if pd.isna(cell["difference"]) else f" ({signed(cell['difference'])})"
            row[f"{source.labels[method]}, paper"] = spread(cell["paper_mean"], cell["paper_sd"])
            row[f"{source.labels[method]}, ours"] = spread(*cell[CELL]) + told
        rows.append(row)
    note = (
        "Mean ± standard deviation: the paper's over 30 run seeds of its own data draw, ours over "
        f"{seeds_and_draws(runs)}, with the difference from the paper in brackets. So the two deviations are not of "
        "one kind: one draw differs from the next by more than run seeds of one draw do."
    )
    return Table(cells, pd.DataFrame(rows, columns=None if rows else ["N/d"]), note, runs, METRIC)


def _printed() -> pd.DataFrame:
    """The paper's Table 1, one row per cell."""
    rows = [
        {"ratio": ratio, "method": method, "paper_mean": number.value, "paper_sd": number.sd}
        for ratio, row in read_paper(PROJECT / TARGETS).recovery.items()
        for method, number in row.items()
    ]
    return pd.DataFrame(rows)
