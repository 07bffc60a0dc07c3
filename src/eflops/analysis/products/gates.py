"""The constraint at work: open gates, the multiplier, the gates' entropy and changes of the support, over rounds."""

from collections.abc import Mapping

import pandas as pd

from eflops.analysis.figure import Axes, Drawing, Figure, canvas, log_scale, method_legend, write_sentence
from eflops.analysis.lines import band, draw_bands
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import units_named

OPEN = "open_gates"
SHOWN = {
    OPEN: "expected open gates",
    "multiplier": "multiplier",
    "gate_entropy": "mean entropy of gates",
    "support_changed": "support weights changed",
}
TARGET = "target"


def figure(source: Source, names: Mapping[str, str]) -> Figure:
    """One row of panels per experiment, one panel per quantity; the dashed line is the target of the constraint.

    names: the label of each experiment's data, in the order of the rows; pooled training is not shown.
    """
    curves = {name: gated(source, name) for name in names}
    data = pd.concat([_lines(name, rows) for name, rows in curves.items()], ignore_index=True)
    runs = pd.concat([source.runs(name) for name in names], ignore_index=True)

    def paint() -> Drawing:
        drawing, axes = canvas(len(names), len(SHOWN), size=(7.4, 0.5 + 1.75 * len(names)), squeeze=False)
        for row_axes, (name, words) in zip(axes, names.items(), strict=True):
            lines, shown = data[data["experiment"] == name], curves[name]
            what = f"mean ± sd over {units_named(shown)}" if len(shown) else "no gated run finished"
            for axis, metric in zip(row_axes, SHOWN, strict=True):
                _draw(axis, lines[lines["metric"] == metric], metric, source)
            row_axes[0].set_title(f"{words}: {what}", loc="left", fontsize=7.5)
        for axis in axes[-1]:
            axis.set_xlabel("round")
        method_legend(drawing, data["method"], source, columns=3)
        return drawing

    behind = pd.concat([rows.assign(experiment=name) for name, rows in curves.items()], ignore_index=True)
    return Figure(data, behind if len(behind) else runs, paint)


def gated(source: Source, experiment: str) -> pd.DataFrame:
    """The curves of the federated gated methods before finetuning, with the target."""
    curves = source.curves(experiment)
    curves = curves[(curves["phase"] == "training") & curves["method"].isin(source.federated(curves["method"]))]
    if OPEN not in curves:
        return curves.iloc[:0].assign(**{name: pd.Series(dtype=float) for name in (TARGET, *SHOWN)})
    targets = source.runs(experiment)[["record", "kept"]].rename(columns={"kept": TARGET})
    has_gates = curves.groupby("method")[OPEN].transform("count") > 0
    return curves[has_gates].merge(targets, on="record", how="left")


def _lines(experiment: str, curves: pd.DataFrame) -> pd.DataFrame:
    """Mean and deviation of each quantity by method and round, with the target."""
    target = float(curves[TARGET].max()) if len(curves) else float("nan")
    parts = [band(curves, metric).assign(metric=metric) for metric in SHOWN]
    columns = ["experiment", "metric", "method", "phase", "round", "mean", "sd", "n", TARGET]
    return pd.concat(parts, ignore_index=True).assign(experiment=experiment, target=target)[columns]


def _draw(axes: Axes, data: pd.DataFrame, metric: str, source: Source) -> None:
    measured = data.dropna(subset="mean")
    if measured.empty:
        write_sentence(axes, "nothing was measured")
        return
    draw_bands(axes, measured, source, mark_end=False)
    if metric == OPEN:
        axes.axhline(data[TARGET].iloc[0], color="0.3", linestyle="--", linewidth=0.9)
        log_scale(axes, "y", "{:,.0f}")
        end = (1.02, data[TARGET].iloc[0])
        axes.annotate("target", end, xycoords=("axes fraction", "data"), ha="left", va="center", fontsize=6)
    else:
        axes.set_ylim(bottom=0)
    axes.set_ylabel(SHOWN[metric], fontsize=7)
    axes.tick_params(labelsize=6.5)
