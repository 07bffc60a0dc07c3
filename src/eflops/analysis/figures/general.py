"""A figure of any experiment: every run as a point, with mean and standard deviation, one panel per metric."""

import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from eflops.analysis.figure import Figure, canvas, method_legend, say, style
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import summarise_all, with_metric
from eflops.analysis.tables.general import LABELS, cases
from eflops.analysis.text import short


def make(source: Source) -> Figure:
    """Methods side by side, for each N/d and variant."""
    (experiment,) = source.experiments
    runs, metrics = source.runs(experiment), source.metrics(experiment)
    by = cases(runs)
    data = summarise_all(runs, metrics, [*by, "method"])
    named = runs.assign(case=["\n".join(_names(row)) for row in runs[by].to_dict("records")])

    def paint() -> Drawing:
        width = max(3.0, 1.0 + 0.22 * len(data) / len(metrics))
        drawing, axes = canvas(1, len(metrics), size=(width * len(metrics), 3.2), squeeze=False)
        for place, metric in zip(axes.flat, metrics, strict=True):
            _draw(place, with_metric(named, metric), metric, source)
        method_legend(drawing, data["method"], source, columns=4)
        return drawing

    return Figure(data, runs, paint)


def _draw(axes: Axes, runs: pd.DataFrame, metric: str, source: Source) -> None:
    """Points and means; where runs diverged, the panel's title says how many."""
    lost = int((runs["status"] == "diverged").sum())
    if runs[metric].isna().all():
        say(axes, f"{metric}: {lost} of {len(runs)} runs diverged")
        return
    methods = source.order(runs["method"])
    look = {
        "data": runs,
        "x": "case",
        "y": metric,
        "hue": "method",
        "hue_order": methods,
        "palette": [style(method)[0] for method in methods],
        "legend": False,
        "ax": axes,
    }
    seaborn.stripplot(**look, dodge=True, jitter=False, size=3, alpha=0.5)
    dodge = 0.8 - 0.8 / len(methods) if len(methods) > 1 else False
    marks = {"markers": [style(method)[1] for method in methods], "markersize": 5, "linestyle": "none"}
    seaborn.pointplot(**look, **marks, dodge=dodge, errorbar="sd", err_kws={"lw": 1})
    axes.tick_params(axis="x", length=0)
    axes.set(xlabel="", ylabel=metric, title=f"{lost} of {len(runs)} runs diverged" if lost else "runs, mean ± sd")


def _names(case: dict[str, object]) -> list[str]:
    return [f"{LABELS[key]} {short(value)}" if key == "ratio" else str(value) for key, value in case.items()]
