"""The paper's Table 1 beside ours, column by column."""

from pathlib import Path

import pandas as pd

from eflops.analysis.paper import read_paper
from eflops.analysis.source import Source
from eflops.analysis.summary import seeds_and_draws, spread, summarise
from eflops.analysis.table import Table

METRIC = "support_recovery"
TARGETS = Path(__file__).resolve().parents[4] / "resources" / "paper" / "targets.yaml"


def make(source: Source) -> Table:
    """Two columns for each method that the paper has, and the N/d that both have."""
    runs = source.runs("support_recovery")
    runs = runs.assign(ratio=runs["ratio"].round(2))
    cells = summarise(runs, METRIC, ["ratio", "method"]).merge(_printed(), on=["ratio", "method"])
    cells["difference"] = cells["mean"] - cells["paper_mean"]
    methods = source.order(cells["method"])
    shown = [_row(ratio, group.set_index("method"), methods, source) for ratio, group in cells.groupby("ratio")]
    return Table(
        cells,
        pd.DataFrame(shown),
        "Support recovery over N/d, the paper's and ours",
        f"Mean ± standard deviation: the paper's 30 run seeds of its own data draw, and our {seeds_and_draws(runs)}. "
        "The draws differ, which alone moves a number by several hundredths "
        "(table support_recovery_draws).",
    )


def _printed() -> pd.DataFrame:
    """The paper's Table 1, one row a cell."""
    rows = [
        {"ratio": ratio, "method": method, "paper_mean": number.value, "paper_sd": number.sd}
        for ratio, row in read_paper(TARGETS).recovery.items()
        for method, number in row.items()
    ]
    return pd.DataFrame(rows)


def _row(ratio: float, cells: pd.DataFrame, methods: list[str], source: Source) -> dict[str, str]:
    row = {"N/d": f"{ratio:.2f}"}
    for method in methods:
        cell, label = cells.loc[method], source.labels[method]
        row[f"{label}, paper"] = spread(cell["paper_mean"], cell["paper_sd"])
        row[f"{label}, ours"] = spread(cell["mean"], cell["sd"], cell["n"], cell["diverged"])
    return row
