"""Table 1: the share of the true support that each method finds, over N/d."""

import pandas as pd

from eflops.analysis.source import Source
from eflops.analysis.table import BOLD, Table


def make(source: Source) -> Table:
    """Mean and standard deviation over run seeds; the best federated method of a row in bold."""
    runs = source.runs("support_recovery")
    methods = source.order(runs["method"])
    cells = runs.groupby(["ratio", "method"], as_index=False).agg(
        mean=("support_recovery", "mean"),
        sd=("support_recovery", "std"),
        n=("seed", "size"),
        diverged=("status", lambda status: int((status == "diverged").sum())),
    )
    federated = [method for method in methods if method not in source.context["pooled"]]
    shown = [_row(ratio, group.set_index("method"), methods, federated) for ratio, group in cells.groupby("ratio")]
    frame = pd.DataFrame(shown).rename(columns=source.labels)
    return Table(
        cells,
        frame,
        "Support recovery over N/d",
        f"Mean ± standard deviation over {cells['n'].max()} run seeds of one data draw. "
        "The best federated method of a row is bold.",
    )


def _row(ratio: float, cells: pd.DataFrame, methods: list[str], federated: list[str]) -> dict[str, str]:
    best = cells.loc[federated, "mean"].idxmax()
    row = {"N/d": f"{ratio:.2f}"}
    for method in methods:
        mean, sd, diverged = cells.loc[method, ["mean", "sd", "diverged"]]
        text = f"{mean:.3f} ± {sd:.3f}" + (f" ({diverged:.0f} diverged)" if diverged else "")
        row[method] = f"{BOLD}{text}{BOLD}" if method == best else text
    return row
