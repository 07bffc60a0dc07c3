"""The cost of sparse messages: recovery and R2 over the bytes of training, each regime with its own search."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from eflops.analysis.cells import Row, difference, number, rows_by, spread
from eflops.analysis.figure import (
    Axes,
    Drawing,
    Figure,
    canvas,
    letter,
    line_key,
    log_scale,
    method_legend,
    write_sentence,
)
from eflops.analysis.lines import limits
from eflops.analysis.source import Source
from eflops.analysis.stats.costs import with_costs
from eflops.analysis.stats.paired import differences_from
from eflops.analysis.stats.summary import (
    INTERVAL,
    METRIC_LABELS,
    seeds_and_draws,
    summarise_all,
    too_few,
    with_interval,
)
from eflops.analysis.style import METRIC_AXES, style
from eflops.analysis.table import Table
from eflops.analysis.text import MISSING, exact

SENT = "share_training"
METRICS = ("support_recovery", "r2")
BY = ["ratio", "experiment", "method"]
FILLS = ("full", "left", "none", "top", "right")
# The N/d of data of one size.
ONE_SIZE = 0.0
LABELS = METRIC_LABELS | {"accuracy": "Accuracy", "auc": "AUC"}


def regimes(source: Source, names: Mapping[str, str], same: Mapping[str, str] | None = None) -> pd.DataFrame:
    """The federated runs of all regimes, with their costs, at the N/d and draws that all regimes share.

    Args:
        names: the label of each experiment's regime; the first is the one to compare with.
        same: methods to treat as variants of another method, such as eflops_feedback: eflops.
    """
    runs = [source.sending(source.runs(name)) for name in names]
    runs = [part.assign(ratio=part["ratio"].astype(float).fillna(ONE_SIZE)) for part in runs]
    for column in ("ratio", "draw"):
        common = set.intersection(*(set(part[column]) for part in runs))
        runs = [part[part[column].isin(common)] for part in runs]
    together = with_costs(pd.concat(runs, ignore_index=True))
    return together.assign(method=together["method"].replace(dict(same or {})))


def cells_of(runs: pd.DataFrame, first: str, metrics: Sequence[str] = METRICS) -> pd.DataFrame:
    """One row per N/d, regime, method and metric: mean over draws with its interval, and the cost per draw.

    The cost is the difference from the same method in the first regime, paired by draw, with its interval.
    """
    cells = with_interval(summarise_all(runs, [*metrics, SENT], BY))
    costs = differences_from(first, runs, metrics, ["ratio", "method"], "experiment", "draw")
    return cells.merge(costs, on=["metric", *BY], how="left")


def repeated(runs: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Methods and regimes whose results equal those of an earlier regime exactly, with that regime."""
    first: dict[tuple[str, frozenset[str]], str] = {}
    repeats = {}
    for (experiment, method), hashes in runs.groupby(["experiment", "method"], sort=False)["result_sha256"]:
        original = first.setdefault((method, frozenset(hashes)), experiment)
        if original != experiment:
            repeats[method, experiment] = original
    return repeats


def table(
    source: Source, names: Mapping[str, str], same: Mapping[str, str] | None = None, metrics: Sequence[str] = METRICS
) -> Table:
    """One row per N/d, regime and method; names and same: as for `regimes`.

    `same_as` is an earlier regime with identical runs of the method. Such a row is in the data, but not printed.
    """
    runs = regimes(source, names, same)
    first, repeats = next(iter(names)), repeated(runs)
    cells = cells_of(runs, first, metrics)
    cells["same_as"] = [repeats.get(key, "") for key in zip(cells["method"], cells["experiment"], strict=True)]
    rows: list[Row] = []
    for ratio, at_ratio in cells[cells["same_as"] == ""].groupby("ratio"):
        for experiment, words in names.items():
            regime = at_ratio[at_ratio["experiment"] == experiment]
            for method in source.order(regime["method"].unique()):
                ratio_of = {} if ratio == ONE_SIZE else {"N/d": exact(ratio)}
                names_of = {**ratio_of, "messages": words, "Method": source.labels[method]}
                rows.append({**names_of, **_texts(rows_by(regime[regime["method"] == method], "metric"), metrics)})
    note = (
        f"Mean ± standard deviation over {seeds_and_draws(runs[runs['experiment'] != first])}, the same draws in every "
        "regime; each regime has its own search. In brackets: the difference from the same method with messages "
        f"{names[first]}, by draw, with its 95 % interval. Bytes: of training, as a share of the bytes of as many "
        f"dense messages.{_once(source, names, repeats)}{too_few(cells['units'])}"
    )
    return Table(cells, rows, note, runs)


def _once(source: Source, names: Mapping[str, str], repeats: Mapping[tuple[str, str], str]) -> str:
    """The rows to print: if a search chose the same settings in two regimes, only the first."""
    methods: dict[tuple[str, str], list[str]] = {}
    for (method, experiment), first in repeats.items():
        methods.setdefault((experiment, first), []).append(method)
    sentences = []
    for (experiment, first), same in methods.items():
        called = " and ".join(source.called(method) for method in source.order(same))
        sentences.append(
            f" With {names[experiment]}, the search chose the same settings for {called} as with {names[first]}; these "
            "rows are not repeated."
        )
    return "".join(sentences)


def _texts(cells: Mapping[str, pd.Series], metrics: Sequence[str]) -> Row:
    sent = cells[SENT]
    texts: Row = {"bytes": MISSING if pd.isna(sent["mean"]) else number(sent, "mean", _percent)}
    for metric in metrics:
        cell = cells[metric]
        cost = "" if pd.isna(cell["difference"]) else " (" + difference(cell) + ")"
        texts[LABELS[metric]] = spread(cell) + cost
    return texts


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("%", " %")


def figure(
    source: Source, names: Mapping[str, str], same: Mapping[str, str] | None = None, metrics: Sequence[str] = METRICS
) -> Figure:
    """Metrics over bytes: one column of panels per N/d, one row per metric; a method's regimes are joined by a line.

    names and same: as for `regimes`.
    """
    runs = regimes(source, names, same)
    cells = cells_of(runs, next(iter(names)), metrics)
    shown = sorted(cells["ratio"].unique())

    def paint() -> Drawing:
        size = (7.0, 0.6 + 2.3 * len(metrics))
        drawing, axes = canvas(len(metrics), max(len(shown), 1), size=size, squeeze=False, sharex=True)
        panels = [(metric, ratio) for metric in metrics for ratio in shown]
        for name, (metric, ratio), axis in zip("abcdefgh", panels, axes.flat, strict=False):
            _draw(axis, cells[cells["ratio"] == ratio], metric, names, source)
            axis.set(ylabel=METRIC_AXES.get(metric, metric) if ratio == shown[0] else "")
            axis.set_title(f"$N/d = {ratio:g}$" if metric == metrics[0] else "")
            letter(axis, name)
        for axis in axes[-1]:
            axis.set_xlabel("bytes in training, share of dense messages")
        keys = [
            line_key(words, color="0.3", marker="o", markersize=5, linestyle="", markerfacecoloralt="w", fillstyle=fill)
            for fill, words in zip(FILLS, names.values(), strict=False)
        ]
        drawing.legend(handles=keys, loc="outside upper center", ncols=len(keys))
        method_legend(drawing, cells["method"], source, columns=6)
        return drawing

    return Figure(cells, runs, paint)


def _draw(axes: Axes, cells: pd.DataFrame, metric: str, names: Mapping[str, str], source: Source) -> None:
    table = cells.set_index(["metric", "method", "experiment"])
    if cells.loc[cells["metric"] == metric, "mean"].isna().all():
        write_sentence(axes, "every run diverged")
        return
    for method in source.order(cells["method"]):
        colour, marker = style(method)
        points = [(name, fill) for name, fill in zip(names, FILLS, strict=False) if (SENT, method, name) in table.index]
        x = [table.loc[(SENT, method, name), "mean"] for name, _ in points]
        y = table.loc[[(metric, method, name) for name, _ in points]]
        axes.plot(x, y["mean"], color=colour, linewidth=0.8, alpha=0.6)
        for at, (_, fill), (_, cell) in zip(x, points, y.iterrows(), strict=True):
            low, high = (abs(cell[end] - cell["mean"]) for end in INTERVAL)
            look: dict[str, Any] = {"marker": marker, "markersize": 5, "fillstyle": fill, "markerfacecoloralt": "w"}
            axes.errorbar(at, cell["mean"], [[low], [high]], color=colour, linewidth=0.9, capsize=2, **look)
    axes.set_ylim(*limits(cells[cells["metric"] == metric]))
    log_scale(axes, "x", "{:.0%}")
