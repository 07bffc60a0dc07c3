"""Ablation: the temperature of the entropy term, crossed with the rate of the gates."""

import pandas as pd

from eflops.analysis.entropy import GATE_RATE, TEMPERATURE, entropy_grid, is_clear
from eflops.analysis.source import Source
from eflops.analysis.summary import METRIC_LABELS, best, bold, seeds_and_draws, spread
from eflops.analysis.table import Table


def make(source: Source) -> Table:
    """One row a ratio, metric and gate rate, one column a temperature; the best of a row in bold."""
    cells = entropy_grid(source)
    shown = [
        _row(key, group.set_index(TEMPERATURE))
        for key, group in cells.groupby(["metric", "ratio", GATE_RATE], sort=False)
    ]
    runs = source.runs("ablation_entropy")
    setting = runs.iloc[0]
    return Table(
        cells,
        pd.DataFrame(shown),
        "Ablation: entropy and the rate of the gates",
        f"Mean ± standard deviation over {seeds_and_draws(runs)}; the best temperature of a row is "
        "bold, and † marks a paired difference from T = 0 whose 95 % interval leaves 0 out. Weights' rate "
        f"{setting['set_rate']:g}, initial density {setting['set_rho_init']:g}, pruning from "
        f"{setting['set_prune_from']:g} of the rounds.",
    )


def _row(key: tuple[str, float, float], cells: pd.DataFrame) -> dict[str, str]:
    metric, ratio, gate_rate = key
    first = best(cells)
    row = {"metric": METRIC_LABELS[metric], "N/d": f"{ratio:.2f}", "gate rate": f"{gate_rate:g}"}
    for temperature, cell in cells.iterrows():
        text = spread(*cell[["mean", "sd", "n", "diverged"]]) + ("†" if is_clear(cell) else "")
        row[f"T = {temperature:g}"] = bold(text, temperature in first)
    return row
