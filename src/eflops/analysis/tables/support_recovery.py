"""Table 1: the share of the true support that each method finds, over N/d, beside what is attainable on pooled rows."""

import pandas as pd

from eflops.analysis.source import Source
from eflops.analysis.summary import best, bold, seeds_and_draws, spread, summarise
from eflops.analysis.table import Table

METRIC = "support_recovery"


def make(source: Source) -> Table:
    """Mean and standard deviation over run seeds; the best federated method of a row in bold; references behind."""
    runs = source.runs("support_recovery")
    references = source.references("support_recovery")
    cells = pd.concat([summarise(runs, METRIC, ["ratio", "method"]), _reference_cells(references)], ignore_index=True)
    methods = source.order(runs["method"])
    federated = [method for method in methods if method not in source.context["pooled"]]
    labels = source.labels | dict(zip(references["reference"], references["label"], strict=True))
    columns = [*methods, *references["reference"].unique()]
    shown = [_row(ratio, group.set_index("method"), columns, federated) for ratio, group in cells.groupby("ratio")]
    return Table(
        cells,
        pd.DataFrame(shown).rename(columns=labels),
        "Support recovery over N/d",
        f"Mean ± standard deviation over {seeds_and_draws(runs)}. The best federated method of a row whose every run "
        "finished is bold. The last columns are one fit each to the pooled, shifted training rows of the same draw.",
    )


def _reference_cells(references: pd.DataFrame) -> pd.DataFrame:
    """References as cells: one fit a data draw, and so a spread only where there are several."""
    cells = references.groupby(["ratio", "reference"], as_index=False)[METRIC].agg(mean="mean", sd="std", n="size")
    return cells.rename(columns={"reference": "method"}).assign(diverged=0)


def _row(ratio: float, cells: pd.DataFrame, columns: list[str], federated: list[str]) -> dict[str, str]:
    first = best(cells.loc[federated])
    texts = {name: spread(*cells.loc[name, ["mean", "sd", "n", "diverged"]]) for name in columns}
    return {"N/d": f"{ratio:.2f}"} | {name: bold(text, name in first) for name, text in texts.items()}
