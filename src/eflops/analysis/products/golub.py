"""The leukaemia data: accuracy, paired tests, and accuracy over rounds with the final accuracies of runs (Figure 3).

With 15 test samples accuracy moves in steps of 1/15: a mean and a band hide that, so each step of Figure 3 has a disc
whose area is the number of runs that end there. `over` names what each experiment varies, in the order of the rows.
"""

from collections.abc import Iterable, Mapping

import pandas as pd

from eflops.analysis.cells import Row, bold, number, rows_by, spread
from eflops.analysis.figure import Axes, Drawing, Figure, Panel, canvas, letter, method_legend
from eflops.analysis.lines import band, draw_bands
from eflops.analysis.paper import OVERLAP
from eflops.analysis.products.general import compared, comparison_table
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import best, summarise_all, with_metric
from eflops.analysis.style import style
from eflops.analysis.table import Table

METRICS = {"accuracy": "accuracy", "cross_entropy": "cross-entropy", "auc": "AUC"}
TESTED = ("accuracy", "auc", "cross_entropy")
FINAL = "final"
COLUMNS = ["method", "phase", "round", "value", "mean", "sd", "n"]
# The area of the largest disc.
LARGEST = 90.0
# Panel a is over run seeds of one split, panel b over splits, each the mean of its seeds.
PANELS = {"a": ("golub_runs", "one split, ± sd of run seeds"), "b": ("golub_splits", "mean ± sd of splits")}


def accuracy(source: Source, over: Mapping[str, str], referenced: Iterable[str]) -> Table:
    """One row per experiment and method, the references last; the best federated accuracy of an experiment is bold.

    referenced: the experiments with reference fits to the pooled samples, one per split.
    """
    runs = pd.concat([source.runs(name) for name in over], ignore_index=True)
    references = pd.concat([source.references(name).assign(experiment=name) for name in referenced], ignore_index=True)
    fits = references.rename(columns={"reference": "method"}).assign(status="finished")
    both = [summarise_all(frame, list(METRICS), ["experiment", "method"]) for frame in (runs, fits)]
    cells = pd.concat(both, ignore_index=True)
    labels = source.labels_with(references)
    rows: list[Row] = []
    for experiment, words in over.items():
        of = rows_by(cells[cells["experiment"] == experiment], "metric", "method")
        accuracies = cells[(cells["experiment"] == experiment) & (cells["metric"] == "accuracy")].set_index("method")
        first = best(accuracies.loc[source.federated(accuracies.index)])
        for name in [name for name in labels if name in accuracies.index]:
            texts = {label: spread(of[metric, name]) for metric, label in METRICS.items()}
            texts["accuracy"] = bold(texts["accuracy"], name in first)
            n = number(of["accuracy", name], "n", "{:.0f}")
            rows.append({"Method": labels[name], "over": words, "n": n, **texts})
    note = (
        "Mean ± standard deviation: over run seeds of one split, or over splits, each the mean of its seeds; n runs in "
        "all. A split has 15 test samples, so one sample is 0.067. The best federated accuracy is bold. Best subset "
        "and L1 logistic regression are fitted to the pooled training samples, once per split."
    )
    return Table(cells, rows, note, runs)


def tests(source: Source, over: Mapping[str, str]) -> Table:
    """One row per metric, experiment and other method; each metric and experiment is a separate family."""
    frames = []
    for metric in TESTED:
        for experiment, words in over.items():
            runs = source.runs(experiment)
            overlap = OVERLAP if runs["draw"].nunique() > 1 else 0.0
            family = f"the comparisons of {METRICS[metric]} over {words}"
            frames.append(compared(source, runs, metric, family, ["experiment"], overlap))
    return comparison_table(
        pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True),
        {"metric": "metric", "experiment": "over"},
        source,
        pd.concat([source.runs(name) for name in over], ignore_index=True),
        "Over run seeds, a pair is a seed of the one split. Over splits, it is a split with its seeds averaged, and "
        "the test is the corrected resampled t-test, because splits overlap. A higher accuracy or AUC is better, and "
        "a lower cross-entropy.",
        METRICS | dict(over),
        "the rows of one metric and one kind of runs",
    )


def over_rounds(source: Source, experiment: str, title: str) -> Panel:
    """Curves, and next to them, on the same scale, discs at the final accuracies (phase `final` of the data)."""
    curves, runs = source.curves(experiment), with_metric(source.runs(experiment), "accuracy")
    lines, discs = band(curves, "accuracy"), distribution(runs)
    lows = [*(lines["mean"] - lines["sd"].fillna(0)).dropna(), *discs["value"], 1.0]

    def draw(curve: Axes, final: Axes) -> None:
        draw_bands(curve, lines, source)
        _draw_discs(final, discs, source)
        for axes in (curve, final):
            axes.set_ylim(max(min(lows), 0.0) - 0.04, 1.04)
        curve.set(xlabel="round", ylabel="test accuracy", title=title)
        final.set(xticks=[], xlabel="final", title="runs by area")
        final.tick_params(labelleft=False)

    ends = runs.assign(phase=FINAL, value=runs["accuracy"].round(6))
    data = pd.concat([lines, discs], ignore_index=True).reindex(columns=COLUMNS)
    return Panel(data, pd.concat([curves, ends], ignore_index=True), draw, "accuracy")


def distribution(runs: pd.DataFrame) -> pd.DataFrame:
    """How many runs of a method end at each accuracy; diverged runs are not counted."""
    rounded = runs.assign(value=runs["accuracy"].round(6)).dropna(subset="value")
    counts = rounded.groupby(["method", "value"], as_index=False).size()
    return counts.rename(columns={"size": "n"}).assign(phase=FINAL)


def fig3_panel(source: Source, panel: str) -> Figure:
    """One panel of Figure 3: test accuracy over rounds, and the final accuracies."""
    pair = over_rounds(source, *PANELS[panel])

    def paint() -> Drawing:
        drawing, (curve, final) = canvas(1, 2, size=(4.6, 3.0), width_ratios=[2.6, 1])
        pair.draw(curve, final)
        method_legend(drawing, pair.data["method"], source, columns=3)
        return drawing

    return Figure(pair.data, pair.runs, paint, pair.metric)


def fig3(source: Source) -> Figure:
    """Both panels with their letters and one legend."""
    pairs = {name: over_rounds(source, *panel) for name, panel in PANELS.items()}
    data, runs = (
        pd.concat([getattr(pair, part).assign(panel=name) for name, pair in pairs.items()], ignore_index=True)
        for part in ("data", "runs")
    )

    def paint() -> Drawing:
        drawing, axes = canvas(1, 4, size=(7.6, 3.0), width_ratios=[2.6, 1, 2.6, 1])
        for (name, pair), curve, final in zip(pairs.items(), axes[::2], axes[1::2], strict=True):
            pair.draw(curve, final)
            letter(curve, name)
        method_legend(drawing, data["method"], source, columns=6)
        return drawing

    return Figure(data[["panel", *COLUMNS]], runs, paint, "accuracy")


def _draw_discs(axes: Axes, discs: pd.DataFrame, source: Source) -> None:
    methods = source.order(discs["method"])
    most = discs["n"].max()
    for x, method in enumerate(methods):
        part = discs[discs["method"] == method]
        colour, _ = style(method)
        area = part["n"] / most * LARGEST
        axes.scatter([x] * len(part), part["value"], s=area, color=colour, alpha=0.75, linewidth=0)
        mean = (part["value"] * part["n"]).sum() / part["n"].sum()
        axes.plot([x - 0.42, x + 0.42], [mean, mean], color=colour, linewidth=1.4)
    axes.set_xlim(-0.7, len(methods) - 0.3)
