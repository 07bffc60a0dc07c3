"""Accuracy and AUC on data that nobody tuned on, a panel per data set: every split, and the mean with its interval."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from eflops.analysis.figure import Figure, canvas, style
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import half_width
from eflops.analysis.tables.beyond import METRICS, by_split


def make(source: Source, names: Mapping[str, str]) -> Figure:
    """A row of panels per metric; below the methods stand the references on pooled samples, in grey."""
    units = pd.concat([_units(source, experiment) for experiment in source.experiments], ignore_index=True)
    labels = source.labels | dict(units[["method", "label"]].dropna().drop_duplicates().to_numpy())
    methods = [method for method in labels if method in set(units["method"])]
    panels = [(metric, experiment) for metric in METRICS for experiment in source.experiments]
    own = {panel: units[units["experiment"] == panel[1]] for panel in panels}
    parts = [_intervals(own[panel], panel[0], methods).assign(experiment=panel[1]) for panel in panels]

    def paint() -> Drawing:
        shape = (len(METRICS), len(source.experiments))
        drawing, axes = canvas(*shape, size=(7.2, 4.2), sharey=True, sharex="row", squeeze=False)
        for place, panel, data in zip(axes.flat, panels, parts, strict=True):
            metric, experiment = panel
            _draw(place, own[panel], metric, data)
            place.set(title=names[experiment] if metric == next(iter(METRICS)) else "", xlabel=METRICS[metric])
        axes[0, 0].set_yticks(range(len(methods)), [labels[method] for method in methods])
        axes[0, 0].invert_yaxis()
        return drawing

    runs = pd.concat([source.runs(name) for name in source.experiments], ignore_index=True)
    data = pd.concat(parts, ignore_index=True)
    # What names a row stands in front, so that `eflops explain` finds it.
    return Figure(data[["experiment", *data.columns.drop("experiment")]], runs, paint)


def _units(source: Source, experiment: str) -> pd.DataFrame:
    """One row per split and method or reference."""
    fits = source.references(experiment).rename(columns={"reference": "method"})
    fits = fits[["method", "label", "draw", *METRICS]].assign(experiment=experiment)
    return pd.concat([by_split(source.runs(experiment)), fits], ignore_index=True)


def _intervals(units: pd.DataFrame, metric: str, methods: list[str]) -> pd.DataFrame:
    """The plotted means over splits, with half the width of their interval."""
    rows = []
    for method in methods:
        values = units.loc[units["method"] == method, metric].dropna()
        half = half_width(values.std(), len(values))
        rows.append({"method": method, "metric": metric, "mean": values.mean(), "half_width": half, "n": len(values)})
    return pd.DataFrame(rows)


def _draw(axes: Axes, units: pd.DataFrame, metric: str, data: pd.DataFrame) -> None:
    for place, row in enumerate(data.itertuples()):
        own = units[units["method"] == row.method]
        values = own[metric].dropna()
        colour, marker = style(row.method) if own["status"].notna().any() else ("0.45", "|")
        axes.plot(values, [place] * len(values), ".", color=colour, alpha=0.3, markersize=3, markeredgewidth=0)
        axes.errorbar(row.mean, place, xerr=row.half_width, fmt=marker, color=colour, markersize=4, linewidth=1)
    axes.grid(axis="x", color="0.9", linewidth=0.5)
    axes.tick_params(axis="y", length=0)
