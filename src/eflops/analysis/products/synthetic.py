"""Synthetic regression: support recovery (Table 1), with and without the paper's numbers, and test R2 (Figure 1)."""

from collections.abc import Callable

import pandas as pd

from eflops.analysis.cells import Row, bold, number, rows_by, spread
from eflops.analysis.figure import Axes, Figure, Panel, four_panels
from eflops.analysis.lines import band, draw_bands, draw_points, limits
from eflops.analysis.needs import TARGETS
from eflops.analysis.paper import read_paper
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import (
    INTERVAL,
    SUMMARY,
    best,
    seeds_and_draws,
    spread_over_draws,
    summarise,
    units_named,
    with_interval,
)
from eflops.analysis.table import Table
from eflops.analysis.text import exact, signed
from eflops.files import PROJECT

RECOVERY, R2 = "support_recovery", "r2"
BY = ["ratio", "method"]
# Where Figure 1a is drawn, or at the nearest N/d.
RATIO = 0.64
KEYS = ["panel", "method", "ratio", "phase", "round", "set_rate", "set_gate_rate"]
SYMBOLS = {"set_rate": r"\eta_\theta", "set_gate_rate": r"\eta_\phi"}


def support_recovery(source: Source) -> Table:
    """Table 1: the share of the true support that each method finds, over N/d, with the references on pooled rows.

    Mean and standard deviation over draws; the best federated method of a row is bold; references come last.
    """
    runs, references = source.runs(source.experiment), source.references(source.experiment)
    within = spread_over_draws(runs, RECOVERY).rename(columns={"sd_within": "sd_seeds"})
    own_cells = summarise(runs, RECOVERY, BY).merge(within[[*BY, "sd_seeds"]], on=BY)
    fits = references.rename(columns={"reference": "method"}).assign(status="finished")
    cells = pd.concat([own_cells, summarise(fits, RECOVERY, BY)], ignore_index=True)
    methods = source.order(runs["method"])
    labels = source.labels_with(references.assign(label=references["label"] + " (reference)"))
    rows: list[Row] = []
    for ratio, group in cells.groupby("ratio"):
        at_ratio = rows_by(group, "method")
        first = best(group.set_index("method").loc[source.federated(methods)])
        printed = [*methods, *references["reference"].unique()]
        texts = {labels[name]: bold(spread(at_ratio[name]), name in first) for name in printed}
        rows.append({"N/d": exact(ratio), **texts})
    note = (
        f"Mean ± standard deviation over {seeds_and_draws(runs)}. The best federated method of a row is bold if all "
        "its runs finished. Each reference is one fit per draw to the pooled, shifted training rows. References are "
        "not upper bounds: each client has its own shift, and pooling mixes the shifts."
    )
    return Table(cells, rows, note, runs, RECOVERY)


def beside_the_paper(source: Source) -> Table:
    """The paper's Table 1 and ours, column by column, at the N/d that both have."""
    runs = source.runs(source.experiment)
    printed = [
        {"ratio": ratio, "method": method, "paper_mean": number.value, "paper_sd": number.sd}
        for ratio, row in read_paper(PROJECT / TARGETS).recovery.items()
        for method, number in row.items()
    ]
    cells = summarise(runs, RECOVERY, BY).merge(pd.DataFrame(printed), on=BY)
    cells["difference"] = cells["mean"] - cells["paper_mean"]
    rows = []
    for ratio, group in cells.groupby("ratio"):
        row: Row = {"N/d": exact(ratio)}
        at_ratio = rows_by(group, "method")
        for method in source.order(cells["method"]):
            cell = at_ratio[method]
            change = "" if pd.isna(cell["difference"]) else " (" + number(cell, "difference", signed) + ")"
            row[f"{source.labels[method]}, paper"] = spread(cell, "paper_mean", "paper_sd", counts=False)
            row[f"{source.labels[method]}, ours"] = spread(cell) + change
        rows.append(row)
    note = (
        "Mean ± standard deviation: the paper's over 30 run seeds of its own data draw, ours over "
        f"{seeds_and_draws(runs)}, with the difference from the paper in brackets. The two standard "
        "deviations measure different things: draws vary more than the run seeds of one draw."
    )
    return Table(cells, rows, note, runs, RECOVERY, columns=() if rows else ["N/d"])


def over_rounds(source: Source) -> Panel:
    """Test R2 over rounds at one N/d."""
    curves = source.curves("curves")
    nearest = min(curves["ratio"].unique(), key=lambda ratio: abs(ratio - RATIO))
    curves = curves[curves["ratio"] == nearest]
    data = band(curves, R2)

    def draw(axes: Axes) -> None:
        draw_bands(axes, data, source)
        # The first rounds of a method may be far worse than no fit; what counts is above.
        axes.set_ylim(*limits(data))
        title = f"$N/d = {nearest:g}$, mean ± sd of {data['n'].max()} run seeds"
        axes.set(xlabel="round", ylabel="test $R^2$", title=title)

    return Panel(data.assign(ratio=nearest)[["ratio", *data.columns]], curves, draw, R2)


def over_ratios(source: Source) -> Panel:
    """Test R2 over N/d."""
    runs = source.runs("support_recovery")
    data = with_interval(summarise(runs, R2, ["method", "ratio"]))

    def draw(axes: Axes) -> None:
        draw_points(axes, data, "ratio", source)
        axes.set(xlabel="$N/d$", ylabel="test $R^2$", title=f"mean, 95 % interval over {units_named(runs)}")

    return Panel(data, runs, draw, R2)


def over_rates(source: Source, experiment: str, rate: str, fixed: str) -> Panel:
    """Test R2 over a learning rate, the other one fixed."""
    runs = source.runs(experiment)
    data = summarise(runs, R2, ["method", rate])
    words = f"$N/d = {runs['ratio'].iloc[0]:g}$, ± sd of {units_named(runs)}"
    title = rf"${SYMBOLS[fixed]} = {runs[fixed].iloc[0]:g}$, {words}"

    def draw(axes: Axes) -> None:
        draw_points(axes, data, rate, source)
        values = data[rate].unique()
        margin = 0.06 * (values.max() - values.min()) or 0.1 * values.max()
        axes.set(ylabel="test $R^2$", xlim=(values.min() - margin, values.max() + margin))
        axes.set(xlabel=f"${SYMBOLS[rate]}$", title=title)

    return Panel(data, runs, draw, R2)


PANELS: dict[str, Callable[[Source], Panel]] = {
    "a": over_rounds,
    "b": over_ratios,
    "c": lambda source: over_rates(source, "rates_theta", "set_rate", "set_gate_rate"),
    "d": lambda source: over_rates(source, "rates_phi", "set_gate_rate", "set_rate"),
}


def fig1_panel(source: Source, panel: str) -> Figure:
    """One panel of Figure 1."""
    return PANELS[panel](source).alone(source, columns=2 if panel in "cd" else 3)


def fig1(source: Source) -> Figure:
    """The four panels with their letters and one legend."""
    panels = {name: made(source) for name, made in PANELS.items()}
    return four_panels(panels, source, [*KEYS, *SUMMARY, *INTERVAL], R2)
