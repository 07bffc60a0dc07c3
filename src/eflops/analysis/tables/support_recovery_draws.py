"""Support recovery over data draws: how far one draw differs from the next, and how far run seeds differ within one."""

import numpy as np
import pandas as pd

from eflops.analysis.source import Source
from eflops.analysis.summary import best, bold, seeds_and_draws
from eflops.analysis.table import Table

METRIC = "support_recovery"


def make(source: Source) -> Table:
    """Mean over draws, standard deviation between the draws' means and within a draw; the best federated in bold."""
    runs = source.runs("draws")
    cells = spread_over_draws(runs)
    methods = source.order(runs["method"])
    federated = [method for method in methods if method not in source.context["pooled"]]
    shown = [_row(ratio, group.set_index("method"), methods, federated) for ratio, group in cells.groupby("ratio")]
    return Table(
        cells,
        pd.DataFrame(shown).rename(columns=source.labels),
        "Support recovery over N/d and data draws",
        f"Mean over {seeds_and_draws(runs)}; ± the standard deviation between the draws' means, and in brackets that "
        "of run seeds within a draw. The best federated method of a row whose every run finished is bold.",
    )


def spread_over_draws(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a ratio and method: the mean of the draws' means, the sd between them and the pooled sd within a draw."""
    by = ["ratio", "method"]
    draws = runs.groupby([*by, "draw"], as_index=False).agg(mean=(METRIC, "mean"), variance=(METRIC, "var"))
    cells = draws.groupby(by, as_index=False).agg(
        mean=("mean", "mean"),
        sd_between=("mean", "std"),
        sd_within=("variance", lambda variances: np.sqrt(variances.mean())),
        draws=("mean", "size"),
    )
    counts = runs.groupby(by, as_index=False).agg(
        n=("status", "size"), diverged=("status", lambda status: int((status == "diverged").sum()))
    )
    return cells.merge(counts, on=by)


def _row(ratio: float, cells: pd.DataFrame, methods: list[str], federated: list[str]) -> dict[str, str]:
    first = best(cells.loc[federated])
    return {"N/d": f"{ratio:.2f}"} | {method: bold(_text(cells.loc[method]), method in first) for method in methods}


def _text(cell: pd.Series) -> str:
    if cell["diverged"] == cell["n"]:
        return f"all {cell['n']:.0f} diverged"
    text = f"{cell['mean']:.3f} ± {cell['sd_between']:.3f} ({cell['sd_within']:.3f})"
    return f"{text}, {cell['diverged']:.0f} of {cell['n']:.0f} diverged" if cell["diverged"] else text
