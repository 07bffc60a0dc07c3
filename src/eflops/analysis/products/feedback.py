"""Error feedback, our addition: metrics over bytes sent, and comparisons with aims."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from eflops.analysis.cells import Row, difference, number, probability
from eflops.analysis.figure import Axes, Drawing, Figure, canvas, letter, line_key, log_scale
from eflops.analysis.lines import limits
from eflops.analysis.products.sparse_regime import LABELS, ONE_SIZE, repeated
from eflops.analysis.source import Source
from eflops.analysis.stats.paired import compare
from eflops.analysis.stats.summary import INTERVAL, summarise, too_few, unit_means, with_interval
from eflops.analysis.style import METRIC_AXES, style
from eflops.analysis.table import Table
from eflops.analysis.text import MISSING, exact, with_minus

SENT, MEGABYTE = "bytes_sent", 1e6
# Where the axis of bytes starts, in times of the first point that is drawn, if others lie below the axis.
LEFT = 0.8
BY = ["experiment", "method", "ratio"]
DASHES = ("-", ":", (0, (5, 1.5)), "-.")
ALL_DRAWS = "all"
# A wanted outcome of a comparison, by what the config calls it, of the comparison and a number.
AIMS: dict[str, Callable[[Mapping[str, float], float], bool]] = {
    "difference at least": lambda row, limit: row["difference"] >= limit,
    "interval above": lambda row, limit: row["low"] > limit,
    "interval around": lambda row, value: row["low"] <= value <= row["high"],
    "mean at least": lambda row, limit: row["mean_reference"] >= limit,
}


def over_bytes(
    source: Source,
    lines: Mapping[str, Sequence[str]],
    metrics: Sequence[str],
    ratios: Sequence[float] = (),
    lowest: float = -math.inf,
) -> Figure:
    """Metrics of the model cut to m over all bytes sent so far: a column of panels per N/d, a row per metric.

    Args:
        lines: label of each line: its experiment and method; experiments differ in their dashes.
        metrics: what is drawn over bytes.
        ratios: the N/d to draw; None for all.
        lowest: the lower limit of the axis of a metric, so that the end of training is large.
    """
    parts = [_curves(source, experiment, method, ratios) for experiment, method in lines.values()]
    curves = pd.concat(parts, ignore_index=True)
    by = [*BY, "phase", "round"]
    sent = summarise(curves, SENT, by).rename(columns={"mean": SENT})[[*by, SENT]]
    parts = [with_interval(summarise(curves, metric, by)).assign(metric=metric) for metric in metrics]
    data = pd.concat(parts, ignore_index=True).merge(sent, on=by)[[*by, "metric", SENT, "mean", *INTERVAL, "sd", "n"]]
    data = data.sort_values([*BY, "metric", "round"], ignore_index=True)
    return Figure(data, curves, lambda: _paint(data, lines, metrics, lowest))


def _paint(data: pd.DataFrame, lines: Mapping[str, Sequence[str]], metrics: Sequence[str], lowest: float) -> Drawing:
    """The panels, and one legend below all of them."""
    shown = sorted(data["ratio"].unique())
    wide = len(shown) > 1
    size = (7.0, 0.9 + 2.1 * len(metrics)) if wide else (4.4, 1.3 + 2.2 * len(metrics))
    drawing, axes = canvas(len(metrics), max(len(shown), 1), size=size, squeeze=False, sharex=True)
    for name, (metric, ratio), axis in zip("abcdefgh", product(metrics, shown), axes.flat, strict=False):
        panel = data[(data["metric"] == metric) & (data["ratio"] == ratio)]
        for experiment, method in lines.values():
            line = panel[(panel["experiment"] == experiment) & (panel["method"] == method)]
            _draw(axis, line, lowest, *_look(lines, experiment, method))
        _limit(axis, panel, lowest, steps=(1.0,) if wide else (1.0, 3.0))
        axis.set_ylabel(METRIC_AXES.get(metric, metric))
        if ratio != ONE_SIZE:
            axis.set_title(f"$N/d = {ratio:g}$")
            letter(axis, name)
    for axis in axes[-1]:
        axis.set_xlabel("megabytes sent, both ways")
    keys = []
    for words, line in lines.items():
        (colour, marker), dash = _look(lines, *line)
        keys.append(line_key(words, color=colour, marker=marker, markersize=4, linewidth=1.2, linestyle=dash))
    legend = {"title": "markers: the ends of training and finetuning", "title_fontsize": 7, "handlelength": 3}
    drawing.legend(handles=keys, loc="outside lower center", ncols=3 if wide else 2, **legend)
    return drawing


def _limit(axes: Axes, panel: pd.DataFrame, lowest: float, steps: Sequence[float]) -> None:
    """The ends of both axes, and the log scale of bytes with ticks at so many times a power of ten."""
    near = panel[panel["mean"] >= lowest]
    low, high = limits(near)
    axes.set_ylim(max(low, lowest), high)
    if (panel[SENT] > 0).any():  # a log scale has no place for nothing sent at all
        log_scale(axes, "x", steps=steps)
        if lowest > -math.inf and len(near):
            axes.set_xlim(left=LEFT * near[SENT].min() / MEGABYTE)


def _curves(source: Source, experiment: str, method: str, ratios: Sequence[float]) -> pd.DataFrame:
    """The evaluated rounds of a method's runs, at these N/d if the experiment has ratios."""
    curves = source.curves(experiment)
    curves = curves[curves["method"] == method]
    curves = curves.assign(ratio=curves["ratio"].astype(float).fillna(ONE_SIZE))
    return curves[curves["ratio"].isin(ratios)] if curves["ratio"].isin(ratios).any() else curves


def _look(lines: Mapping[str, Sequence[str]], experiment: str, method: str) -> tuple[tuple[str, str], Any]:
    """Colour and marker of a method, and the dashes of an experiment: solid for the first."""
    experiments = list(dict.fromkeys(name for name, _ in lines.values()))
    return style(method), DASHES[experiments.index(experiment) % len(DASHES)]


def _draw(axes: Axes, line: pd.DataFrame, lowest: float, look: tuple[str, str], dash: Any) -> None:
    """Draw a line, its interval if the mean is within the axis, and markers at the ends of training and finetuning."""
    (colour, marker), near = look, line[line["mean"] >= lowest]
    axes.plot(line[SENT] / MEGABYTE, line["mean"], color=colour, linestyle=dash, linewidth=1.2)
    band = near[SENT] / MEGABYTE, near[INTERVAL[0]], near[INTERVAL[1]]
    axes.fill_between(*band, color=colour, alpha=0.1, linewidth=0)
    last = line.groupby("phase", sort=False).tail(1)
    axes.plot(last[SENT] / MEGABYTE, last["mean"], color=colour, marker=marker, markersize=4, linestyle="")


def comparisons(
    source: Source, names: Mapping[str, str], pairs: Sequence[Mapping[str, Any]], unseen: Sequence[int] = ()
) -> Table:
    """Paired differences over draws, some with an aim that was fixed beforehand, over all draws and over unseen ones.

    Args:
        names: the label of each experiment's regime.
        pairs: comparisons, each with its `metric`, `one` and `other` (experiment and method), and where there are any
            its `ratios`, its `aim`, a key of `AIMS` with a number, and whose effect it `shows`, in words.
        unseen: draws not used before; comparisons are also made on these draws only.
    """
    runs = {name: source.sending(source.runs(name)) for name in names}
    repeats = repeated(pd.concat(runs.values(), ignore_index=True))
    rows, behind = [], []
    for pair in pairs:
        sides = pair["one"], pair["other"]
        labels = [
            f"{source.called(method)}, {names[experiment]}"
            + (f" (the settings of {names[repeats[method, experiment]]})" if (method, experiment) in repeats else "")
            for experiment, method in sides
        ]
        one, other = (_side(runs[side[0]], side[1], label) for side, label in zip(sides, labels, strict=True))
        for draws, chosen in {ALL_DRAWS: None, _span(unseen): unseen}.items():
            both = pd.concat([one, other], ignore_index=True)
            both = both[both["draw"].isin(set(one["draw"]) & set(other["draw"]) & set(chosen or both["draw"]))]
            both = both[both["ratio"].isin(pair.get("ratios", both["ratio"]))].assign(draws=draws)
            rows += list(_compared(both, pair, *labels))
            behind.append(both)
    data = pd.DataFrame(rows, columns=COLUMNS)
    printed = [_printed(row) for _, row in data.iterrows()]
    note = (
        "Differences by draw, run seeds averaged, with their 95 % intervals; p of the paired t-test, not adjusted. "
        f"Aims were fixed before the runs. The prototype of error feedback never ran on draws {_span(unseen)}."
        f"{too_few(data['n'])}"
    )
    return Table(data, printed, note, pd.concat(behind).drop_duplicates(), columns=() if printed else ["metric"])


COLUMNS = [
    *("metric", "ratio", "draws", "reference", "other", "n", "mean_reference", "mean_other", "difference", "low"),
    *("high", "t", "df", "p", "aim", "met", "shows"),
]


def _side(runs: pd.DataFrame, method: str, label: str) -> pd.DataFrame:
    """The runs of one side, under a name that includes the regime; empty if the method was not run."""
    runs = runs[runs["method"] == method]
    return runs.assign(method=label, ratio=runs["ratio"].astype(float).fillna(ONE_SIZE))


def _compared(runs: pd.DataFrame, pair: Mapping[str, Any], one: str, other: str) -> Iterator[dict[str, Any]]:
    """One row per N/d that both sides have."""
    ((aim, limit),) = pair.get("aim", {"": math.nan}).items()
    for ratio, group in runs.groupby("ratio"):
        means = unit_means(group, pair["metric"], ["method"])
        unit = next(name for name in ("draw", "seed") if name in means)
        wide = means.pivot(index=unit, columns="method", values=pair["metric"])
        if not {one, other} <= set(wide):
            continue
        test = compare(wide[one], wide[other], ranks=False)
        met = AIMS[aim](test, limit) if aim and not math.isnan(test["low"]) else None
        words = f"{aim} {with_minus('{:g}', limit)}" if aim else ""
        keys = {"metric": pair["metric"], "ratio": ratio, "draws": group["draws"].iloc[0]}
        keys |= {"reference": one, "other": other, "shows": pair.get("shows", "")}
        yield {**keys, **test, "aim": words, "met": met}


def _printed(row: pd.Series) -> Row:
    of_size = {} if row["ratio"] == ONE_SIZE else {"N/d": exact(row["ratio"])}
    means = number(row, "mean_reference") + " and " + number(row, "mean_other")
    return {
        "metric": LABELS[row["metric"]],
        "N/d": MISSING,
        **of_size,
        "draws": row["draws"],
        "method": row["reference"],
        "minus": row["other"],
        "shows": row["shows"] or MISSING,
        "means": means if len(means.numbers) == 2 else MISSING,
        "difference": difference(row),
        "p": probability(row, "p"),
        "aim": row["aim"] or MISSING,
        "met": MISSING if pd.isna(row["met"]) else "yes" if row["met"] else "no",
    }


def _span(draws: Sequence[int]) -> str:
    return f"{min(draws)} to {max(draws)}" if draws else ALL_DRAWS
