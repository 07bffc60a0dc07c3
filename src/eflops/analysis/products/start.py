"""Random or zero initial weights: what they decide, compared with the paper's numbers."""

from typing import Any

import pandas as pd

from eflops.analysis.figure import Axes, Drawing, Figure, canvas, letter, line_key, name_bars, patch_key, write_sentence
from eflops.analysis.needs import TARGETS
from eflops.analysis.paper import DENSE, Paper, read_paper
from eflops.analysis.source import Source
from eflops.analysis.stats.genes import gene_shares, selected_features
from eflops.analysis.stats.summary import summarise
from eflops.analysis.style import style
from eflops.files import PROJECT

START = "set_initial"
STARTS = {"uniform": ("random start (filled)", ""), "zeros": ("from zero (hatched, hollow)", "////")}
PAPER = "paper"
GENES, SPREAD = "genes", "support_recovery"
COLUMNS = ["panel", "method", START, "place", "value", "sd", "n"]


def figure(source: Source, synthetic: str, expression: str) -> Figure:
    """Three panels: genes per run, the shares of FedAvg's genes by rank, and spreads over run seeds.

    synthetic, expression: the experiments that vary the start on the two kinds of data.
    """
    paper = read_paper(PROJECT / TARGETS)
    spreads, selected = source.runs(synthetic), _selected(source, expression)
    shares = ranked_shares(selected, source.probes(expression), paper)
    parts = [genes_per_run(selected), shares, seed_spreads(spreads, paper)]
    data = pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)

    def paint() -> Drawing:
        drawing, axes = canvas(1, 3, size=(7.4, 2.7))
        draws = (_draw_bars, _draw_ranks, _draw_bars)
        names = ("genes per run (Golub)", f"share of {source.labels.get(DENSE, DENSE)}'s runs", "sd over run seeds")
        for index, (axis, draw, name) in enumerate(zip(axes, draws, names, strict=True)):
            draw(axis, data[data["panel"] == "abc"[index]], source)
            axis.set_ylabel(name)
            letter(axis, "abc"[index])
        ratio = "" if spreads["ratio"].isna().all() else f", N/d {spreads['ratio'].iloc[0]:g}"
        # What solid and hatched bars, filled and hollow points, and black dashes stand for.
        keys = [
            patch_key(words, facecolor="0.3", alpha=0.5 if hatch else 1.0, hatch=hatch, edgecolor="w")
            for words, hatch in STARTS.values()
        ]
        drawing.legend(
            handles=[*keys, line_key("the paper", color="k", linewidth=1.3)], loc="outside lower center", ncols=3
        )
        axes[2].set_title(f"support recovery{ratio}")
        return drawing

    genes_of = selected.drop(columns="selected")
    dense = genes_of[genes_of["method"] == DENSE]
    runs = pd.concat([genes_of.assign(panel="a"), dense.assign(panel="b"), spreads.assign(panel="c")])
    return Figure(data, runs.reset_index(drop=True), paint)


def _selected(source: Source, experiment: str) -> pd.DataFrame:
    """One row per run with its start and how many genes it selects."""
    selected = selected_features(source, experiment, len(source.probes(experiment)))
    starts = source.runs(experiment)[["record", START]]
    finished = selected["status"] == "finished"
    counts = selected["selected"].map(len).where(finished)
    return selected.assign(**{GENES: counts}).merge(starts, on="record", validate="1:1")


def genes_per_run(selected: pd.DataFrame) -> pd.DataFrame:
    """Panel a: mean and deviation of the number of genes of a run, by method and start."""
    cells = summarise(selected, GENES, ["method", START])
    return cells.rename(columns={"mean": "value"}).assign(panel="a")


def ranked_shares(selected: pd.DataFrame, names: pd.DataFrame, paper: Paper) -> pd.DataFrame:
    """Panel b: the shares of FedAvg's genes, highest first, by start and in the paper."""
    printed = sorted((number.value for number in paper.genes[DENSE].values()), reverse=True)
    columns = {PAPER: printed}
    for start, runs in selected[selected["method"] == DENSE].groupby(START, sort=False):
        columns[str(start)] = gene_shares(runs, names)["frequency"].head(len(printed)).tolist()
    rows = [
        {"panel": "b", "method": DENSE, START: start, "place": rank, "value": share}
        for start, shares in columns.items()
        for rank, share in enumerate(shares, 1)
    ]
    return pd.DataFrame(rows)


def seed_spreads(runs: pd.DataFrame, paper: Paper) -> pd.DataFrame:
    """Panel c: the deviation of support recovery over run seeds, by method and start and in the paper."""
    cells = summarise(runs, SPREAD, ["method", START])
    ours = cells.rename(columns={"sd": "value"})[["method", START, "value", "n"]]
    printed = paper.recovery.get(float(runs["ratio"].iloc[0]), {})
    rows = [
        {"method": method, START: PAPER, "value": printed[method].sd}
        for method in runs["method"].unique()
        if method in printed
    ]
    theirs = pd.DataFrame(rows, columns=["method", START, "value"])
    return pd.concat([ours, theirs], ignore_index=True).assign(panel="c")


def _draw_bars(axes: Axes, data: pd.DataFrame, source: Source) -> None:
    """Bars by method and start; the paper's number is a dash across them."""
    methods = source.order(data["method"])
    if data["value"].isna().all():
        write_sentence(axes, "every run diverged")
        return
    for index, method in enumerate(methods):
        method_rows = data[data["method"] == method].set_index(START)
        for side, (start, (_, hatch)) in zip((-0.2, 0.2), STARTS.items(), strict=True):
            if start in method_rows.index:
                value, sd = method_rows.loc[start, "value"], method_rows.loc[start, "sd"]
                look: dict[str, Any] = {"alpha": 0.5 if hatch else 1.0, "hatch": hatch, "edgecolor": "w"}
                axes.bar(index + side, value, 0.36, color=style(method)[0], linewidth=0.3, **look)
                if sd > 0:
                    axes.errorbar(index + side, value, sd, color="0.2", linewidth=0.8, capsize=1.5)
        if PAPER in method_rows.index:
            axes.plot([index - 0.42, index + 0.42], [method_rows.loc[PAPER, "value"]] * 2, color="k", linewidth=1.3)
    name_bars(axes, [source.labels[method] for method in methods])


def _draw_ranks(axes: Axes, data: pd.DataFrame, source: Source) -> None:
    """Shares over their rank, one line per start."""
    ours: dict[str, Any] = {"color": style(DENSE)[0], "marker": "o", "markersize": 4, "linewidth": 1.0}
    looks: dict[str, dict[str, Any]] = {
        PAPER: {"color": "k", "marker": "_", "markersize": 9, "linestyle": "", "markeredgewidth": 1.3},
        "uniform": ours,
        "zeros": ours | {"linestyle": ":", "markerfacecolor": "w"},
    }
    for start, start_rows in data.groupby(START, sort=False):
        axes.plot(start_rows["place"], start_rows["value"], **looks.get(str(start), {}))
    axes.set(xlabel="rank of the gene", ylim=(0, 1.05), xticks=sorted(data["place"].dropna().unique()))
