"""The products of any experiment: metrics by method, N/d and variant as a table and a figure, and paired tests."""

from collections.abc import Iterable, Mapping

import pandas as pd

from eflops.analysis.cells import Cell, Row, difference, number, probability, rows_by, spread
from eflops.analysis.figure import Axes, Drawing, Figure, canvas, method_legend, sentence, write_sentence
from eflops.analysis.source import Source
from eflops.analysis.stats.paired import paired_tests
from eflops.analysis.stats.summary import seeds_and_draws, summarise_all, too_few, unit_column, unit_means, with_metric
from eflops.analysis.style import style
from eflops.analysis.table import Table
from eflops.analysis.text import MISSING, exact, short

LABELS = {"ratio": "N/d", "variant": "variant"}
NOTE = (
    "Differences are {reference} minus the other method, with their 95 % interval; n pairs; diverged runs are left out "
    "and counted as missing; Holm's adjustment over {family}; d_z is the mean of the differences over their standard "
    "deviation."
)
# More cells than this are no picture: a column per cell would be metres wide.
MOST_DRAWN = 200
COLUMNS = ["against", "n", "difference [95 % interval]", "t (df)", "p", "p (Holm)", "d_z", "p (Wilcoxon)"]


def cases(runs: pd.DataFrame) -> list[str]:
    """The columns that distinguish an experiment's cells besides the method: N/d and variant, if they vary."""
    return [column for column in LABELS if runs[column].nunique() > 1]


def summary(source: Source) -> Table:
    """One row per N/d, variant and method, one column per metric."""
    runs = source.runs(source.experiment)
    by = cases(runs)
    cells = summarise_all(runs, source.metrics(source.experiment), [*by, "method"])
    rows: list[Row] = []
    for case, group in cells.groupby(by, sort=False) if by else [((), cells)]:
        names = {LABELS[column]: short(value) for column, value in zip(by, case, strict=True)}
        for method in source.order(group["method"]):
            method_rows = group[group["method"] == method]
            runs_of = number(method_rows.loc[method_rows["n"].idxmax()], "n", "{:.0f}")
            texts: Row = {metric: spread(row) for metric, row in rows_by(method_rows, "metric").items()}
            rows.append({**names, "Method": source.labels[method], "n": runs_of, **texts})
    lost = int((runs["status"] == "diverged").sum())
    note = f"Mean ± standard deviation over n runs: {seeds_and_draws(runs)}."
    return Table(cells, rows, note + (f" {lost} of {len(runs)} runs diverged." if lost else ""), runs)


def tests(source: Source) -> Table:
    """One row per metric, N/d, variant and other method, and per other variant; each metric is a separate family."""
    runs = source.runs(source.experiment)
    by = cases(runs)
    metrics = source.metrics(source.experiment)
    frames = [compared(source, runs, metric, f"the comparisons of {metric}", by) for metric in metrics]
    pairs = f"Pairs share the data draw and the run seed: {seeds_and_draws(runs)}."
    if "variant" in by:
        frames += [variants_compared(source, runs, metric) for metric in metrics]
        pairs += " Against another variant: the method at the first variant minus the same method at the other."
    columns = {"metric": "metric"} | {column: LABELS[column] for column in by}
    made = [frame for frame in frames if len(frame)] or frames[:1]
    return comparison_table(pd.concat(made, ignore_index=True), columns, source, runs, pairs)


def variants_compared(source: Source, runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Each method's first variant compared with its other variants, at each N/d, paired as methods are.

    Returns: rows as returned by `paired_tests`, with `variant` (the first) and `other_variant`; both methods are
    the same.
    """
    first, *others = runs["variant"].unique()
    by = [column for column in cases(runs) if column != "variant"]
    frames = []
    for method in source.order(runs["method"]):
        mine = runs[runs["method"] == method]
        means = unit_means(mine.assign(method=mine["variant"]), metric, [*by, "method"])
        family = f"the variants of {source.labels[method]} in {metric}"
        tests = paired_tests(means, metric, first, others, [unit_column(runs)], family, by)
        frames.append(tests.assign(variant=first, other_variant=tests["other"], reference=method, other=method))
    return pd.concat(frames, ignore_index=True)


def tests_over_ratios(source: Source, metric: str, words: str) -> Table:
    """The tests of a metric at each N/d, paired over draws."""
    runs = source.runs(source.experiment)
    tests = compared(source, runs, metric, f"all comparisons of {words} in this table", ["ratio"])
    shared = "A pair is a data draw, its seeds averaged" if runs["draw"].nunique() > 1 else "A pair is a run seed"
    return comparison_table(tests, {"ratio": "N/d"}, source, runs, f"{shared}: {seeds_and_draws(runs)}.")


def compared(
    source: Source, runs: pd.DataFrame, metric: str, family: str, by: Iterable[str] = (), overlap: float = 0.0
) -> pd.DataFrame:
    """The reference method against every other method that ran; no rows if it is the only one.

    The unit is the draw, whose seeds are averaged, or the run seed if there is only one draw.
    """
    first, *others = source.from_reference(runs["method"])
    means = unit_means(runs, metric, [*by, "method"])
    return paired_tests(means, metric, first, others, [unit_column(runs)], family, tuple(by), overlap=overlap)


def comparison_table(
    tests: pd.DataFrame,
    by: Mapping[str, str],
    source: Source,
    runs: pd.DataFrame,
    pairs: str,
    words: Mapping[str, str] | None = None,
    family: str = "",
) -> Table:
    """A table of tests.

    tests: from `paired_tests`; by: the leading columns and how they are printed; runs: the compared runs; pairs: a
    sentence on what a pair shares; words: labels of the values of those columns; family: a common name for the
    families, if there are too many to name each.
    """
    if tests.empty:
        alone = " and ".join(source.labels[name] for name in source.order(runs["method"])) or "nothing"
        return Table(tests, [], f"Only {alone} ran, so there is no pair to test.", columns=[*by.values(), *COLUMNS])
    rows = []
    for _, row in tests.iterrows():
        keys = [row[column] for column in by]
        missing = " (" + number(row, "missing", "{:.0f}") + " missing)" if row["missing"] else ""
        cells: list[Cell | str] = [
            *(exact(key) if isinstance(key, float) else (words or {}).get(str(key), str(key)) for key in keys),
            source.labels[row["other"]] + (f", {row['other_variant']}" if pd.notna(row.get("other_variant")) else ""),
            number(row, "n", "{:.0f}") + missing,
            difference(row),
            number(row, "t", "{:.2f}") + " (" + number(row, "df", "{}") + ")" if row["df"] > 0 else MISSING,
            probability(row, "p"),
            probability(row, "p_holm"),
            number(row, "d_z", "{:.2f}"),
            probability(row, "p_wilcoxon"),
        ]
        rows.append(dict(zip([*by.values(), *COLUMNS], cells, strict=True)))
    reference = source.labels[tests["reference"].iloc[0]]
    named = tests[["family", "tests"]].drop_duplicates().itertuples(index=False)
    families = " and ".join(f"{name} ({n} {'test' if n == 1 else 'tests'})" for name, n in named)
    note = NOTE.format(reference=reference, family=family or families)
    return Table(tests, rows, f"{note} {pairs}{too_few(tests['n'])}", runs)


def figure(source: Source) -> Figure:
    """Every run as a point, with mean and standard deviation, with one panel per metric, N/d and variant."""
    runs, metrics = source.runs(source.experiment), source.metrics(source.experiment)
    by = cases(runs)
    data = summarise_all(runs, metrics, [*by, "method"])
    names = [
        [f"{LABELS[key]} {short(value)}" if key == "ratio" else str(value) for key, value in case.items()]
        for case in runs[by].to_dict("records")
    ]
    named = runs.assign(case=["\n".join(name) for name in names])

    def paint() -> Drawing:
        if len(data) > MOST_DRAWN * len(metrics):
            return sentence(f"{len(data) // len(metrics)} cells are too many to draw; see the table")
        width = max(3.0, 1.0 + 0.22 * len(data) / len(metrics))
        drawing, axes = canvas(1, len(metrics), size=(width * len(metrics), 3.2), squeeze=False)
        for axis, metric in zip(axes.flat, metrics, strict=True):
            _draw(axis, with_metric(named, metric), metric, source)
        method_legend(drawing, data["method"], source, columns=4)
        return drawing

    return Figure(data, runs, paint)


def _draw(axes: Axes, runs: pd.DataFrame, metric: str, source: Source) -> None:
    """Draw points and means; the panel's title states how many runs diverged, if any."""
    import seaborn  # takes half a second

    lost = int((runs["status"] == "diverged").sum())
    if runs[metric].isna().all():
        write_sentence(axes, f"{metric}: {lost} of {len(runs)} runs diverged")
        return
    methods = source.order(runs["method"])
    colours = [style(method)[0] for method in methods]
    data = {"data": runs, "x": "case", "y": metric, "hue": "method", "hue_order": methods, "palette": colours}
    seaborn.stripplot(**data, legend=False, ax=axes, dodge=True, jitter=False, size=3, alpha=0.5)
    # A strip plot spreads the methods over 0.8; a point plot's dodge is the distance from the first to the last.
    dodge = 0.8 - 0.8 / len(methods) if len(methods) > 1 else False
    marks = {"markers": [style(method)[1] for method in methods], "markersize": 5, "linestyle": "none"}
    seaborn.pointplot(**data, **marks, legend=False, ax=axes, dodge=dodge, errorbar="sd", err_kws={"lw": 1})
    axes.tick_params(axis="x", length=0)
    axes.set(xlabel="", ylabel=metric, title=f"{lost} of {len(runs)} runs diverged" if lost else "runs, mean ± sd")
