"""The genes that runs select: how often (Table 2), their class, the stability of the sets, and the effect of scaling.

In the Golub data a feature is a probe, and a gene may have several probes; `over` names what each experiment varies.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from eflops.analysis.cells import Cell, Row, as_cell, number, rows_by
from eflops.analysis.figure import Axes, Drawing, Figure, canvas, sentence
from eflops.analysis.paper import METHOD
from eflops.analysis.source import Source
from eflops.analysis.stats.genes import (
    directions,
    fitted_features,
    gene_shares,
    mean_jaccard,
    nogueira,
    selected_features,
    selection,
    selections,
    stability_over,
)
from eflops.analysis.stats.summary import seeds_and_draws, with_metric
from eflops.analysis.table import Table
from eflops.analysis.text import share, shortened

PROBES, GENES, BY_SCALING = 7, 15, 5
LONGEST, LONGEST_TICK = 48, 40


def frequency(source: Source, splits: str, seeds: str = "") -> Table:
    """Table 2: the share of runs that select each gene, over splits, for the seven most frequent genes of each method.

    splits: the experiment over splits; seeds: an experiment over run seeds of one split, whose shares are shown
    too. The data hold all probes that any run over splits selects.
    """
    names = source.probes(splits)
    selected = selected_features(source, splits, len(names))
    picked = selections(selected, names["probe"])
    by_split = picked.groupby(["method", "probe", "draw"], as_index=False)["value"].mean()
    spreads = by_split.groupby(["method", "probe"], as_index=False)["value"].agg(sd_splits="std", splits="count")
    shares = gene_shares(selected, names).merge(spreads, on=["method", "probe"], how="left")
    over = seeds_and_draws(selected, "split")
    note = f"Share of runs that keep any weight of the probe: mean ± standard deviation over {over}"
    if seeds:
        one_split = selected_features(source, seeds, len(names))
        beside = gene_shares(one_split, names).rename(columns={"frequency": "one_split"})
        shares = shares.merge(beside[["method", "probe", "one_split"]], on=["method", "probe"], how="left")
        shares = shares.fillna({"one_split": 0.0})
        note += f"; behind the stroke the share over {seeds_and_draws(one_split, 'split')}"
    methods = source.order(selected["method"])
    data = pd.concat([shares[shares["method"] == method] for method in methods], ignore_index=True)
    columns = {source.labels[method]: _ranked(data[data["method"] == method]) for method in methods}
    return Table(
        data,
        [{"rank": str(rank + 1)} | {label: cells[rank] for label, cells in columns.items()} for rank in range(PROBES)],
        f"{note}. Where runs select several probes of one gene, `any` is the share with at least one of them.",
        picked.merge(names.rename(columns={"label": "gene"})[["probe", "gene"]]),
        "value",
    )


def _ranked(shares: pd.DataFrame) -> list[Cell]:
    """The most frequent probes of a method, one cell each; empty cells where it selects fewer."""
    cells = []
    for _, row in shares.head(PROBES).iterrows():
        name = shortened(row["gene"], LONGEST)
        cell = f"{name} (" if name == row["probe"] else f"{name} {row['probe']} ("
        cells.append(cell + number(row, "frequency", share))
        if pd.notna(row["sd_splits"]):
            cells[-1] += " ± " + number(row, "sd_splits", share)
        if row["together"] > row["frequency"]:
            cells[-1] += ", any " + number(row, "together", share)
        if "one_split" in row:
            cells[-1] += " / " + number(row, "one_split", share)
        cells[-1] += ")"
    return cells + [Cell()] * (PROBES - len(cells))


def golub_stability(source: Source, over: Mapping[str, str], referenced: str) -> Table:
    """How similar the genes are that a method selects, over runs and over splits.

    One row per method; over splits also the references, which have one fit per split.
    """
    features = len(source.probes(referenced))
    sets = pd.concat([selected_features(source, name, features) for name in over], ignore_index=True)
    references = source.references(referenced)
    parts = [(name, sets[sets["experiment"] == name], references.iloc[:0]) for name in over]
    indices = [
        {"experiment": experiment, **row}
        for experiment, selected, fits in [*parts, (referenced, sets.iloc[:0], references)]
        for row in _by_method(source, selected, fits, lambda runs: _measured(runs, features))
    ]
    labels, data = source.labels_with(references), pd.DataFrame(indices)
    rows: list[Row] = []
    for _, row in data.iterrows():
        index, jaccard, low, high = (number(row, name, share) for name in ("nogueira", "jaccard", "low", "high"))
        index += " [" + low + ", " + high + "]" if pd.notna(row["nogueira"]) else ""
        names = {"Method": labels[row["method"]], "over": over[row["experiment"]]}
        rows.append({**names, **_sizes(row), "Jaccard": jaccard, "Nogueira's index": index})
    note = (
        "For the sets of genes that a method's runs select: their mean size, the mean Jaccard index of all pairs, and "
        "Nogueira's index with its 95 % interval (1: always the same genes; 0: chance). Over splits, they are "
        "computed across the splits of each run seed and averaged over seeds. Diverged runs are left out."
    )
    return Table(data, rows, note, _numbers(sets), "genes")


def measures(sets: Iterable[list[int]], features: int) -> dict[str, float]:
    """The measures that a row shows for some sets of features."""
    selected = selection(sets, features)
    chosen = [row.nonzero()[0].tolist() for row in selected]
    index = nogueira(selected)
    return {
        "n": len(chosen),
        "genes": float(selected.sum(axis=1).mean()) if chosen else float("nan"),
        "different_genes": int(selected.any(axis=0).sum()),
        "jaccard": mean_jaccard(chosen),
        "nogueira": index.value,
        "low": index.low,
        "high": index.high,
    }


def _measured(runs: pd.DataFrame, features: int) -> dict[str, float]:
    """The measures of some runs; with several splits, those over the splits of each run seed, averaged over seeds."""
    if runs["draw"].nunique() < 2 or runs["seed"].nunique() < 2:
        return measures(runs["selected"], features)
    by_seed = pd.DataFrame([measures(seed_runs["selected"], features) for _, seed_runs in runs.groupby("seed")])
    whole = {"n": len(runs), "different_genes": len({feature for row in runs["selected"] for feature in row})}
    return {str(name): float(value) for name, value in by_seed.mean().items()} | whole


def _sizes(row: pd.Series, word: str = "gene") -> dict[str, Cell]:
    lost = " (" + number(row, "diverged", "{:.0f}") + " diverged)" if row["diverged"] else ""
    return {
        "n": number(row, "n", "{:.0f}") + lost,
        f"{word}s per run": number(row, "genes", "{:.1f}"),
        f"different {word}s": number(row, "different_genes", "{:.0f}"),
    }


def _numbers(sets: pd.DataFrame) -> pd.DataFrame:
    """The finished runs with the number of genes that each selects."""
    finished = sets[sets["status"] == "finished"]
    return finished.assign(genes=finished["selected"].map(len)).drop(columns="selected")


def stability(source: Source, word: str = "gene") -> Table:
    """Stability of the selected features of any data with named features: one row per method, the references last.

    word: the word for a feature.
    """
    cells, labels = stabilities(source, source.experiment)
    rows: list[Row] = [
        {
            "Method": labels[row["method"]],
            **_sizes(row, word),
            "over splits": number(row, "over_splits", share),
            "over seeds": number(row, "over_seeds", share),
        }
        for _, row in cells.iterrows()
    ]
    note = (
        f"Nogueira's index of the sets of {word}s that runs select (1: always the same {word}s; 0: chance), "
        "across splits with the run seed held, and across run seeds with the split held. Runs that diverged are left"
        " out."
    )
    sets = selected_features(source, source.experiment, len(source.genes(source.experiment)))
    return Table(cells, rows, note, _numbers(sets), "genes")


def stabilities(source: Source, experiment: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """One row per method and reference of an experiment, and the label of each."""
    features = len(source.genes(experiment))
    runs, fits = selected_features(source, experiment, features), source.references(experiment)
    rows = _by_method(source, runs, fits, lambda finished: stability_over(finished, features))
    return pd.DataFrame(rows).assign(experiment=experiment), source.labels_with(fits)


def _by_method(
    source: Source, selected: pd.DataFrame, fits: pd.DataFrame, measured: Callable[[pd.DataFrame], dict[str, float]]
) -> Iterator[dict[str, Any]]:
    """A row per method and reference: the measures of its finished runs, and how many diverged."""
    for method in source.order(selected["method"]):
        runs = selected[selected["method"] == method]
        finished = runs[runs["status"] == "finished"]
        yield {"method": method, "diverged": len(runs) - len(finished), **measured(finished)}
    for name, fit in fits.groupby("reference", sort=False):
        yield {"method": name, "diverged": 0, **measured(fit.assign(seed=0, selected=fitted_features(fit)))}


def selected(source: Source, word: str = "gene") -> Table:
    """The data: all features that any run or reference selects.

    The table shows those that the first method selects most.

    word: the word for a feature.
    """
    experiment = source.experiment
    genes, fits = source.genes(experiment), source.references(experiment)
    chosen = selected_features(source, experiment, len(genes))
    classes = source.classes(experiment)
    known = directions(source.supports(experiment), len(genes), classes)
    known["gene"] = known["feature"].map(genes["gene"])
    ours = _shares(chosen, genes).merge(known.drop(columns="feature"), on=["method", "gene"], how="left")
    fitted = fits[["reference"]].rename(columns={"reference": "method"}).assign(selected=fitted_features(fits))
    theirs = _shares(fitted, genes).assign(direction="", agreement=float("nan"))
    shares = pd.concat([ours, theirs], ignore_index=True)
    labels = {name: label for name, label in source.labels_with(fits).items() if name in set(shares["method"])}
    first = METHOD if METHOD in labels else next(iter(labels))
    note = (
        f"The {GENES} {word}s that {labels[first]} selects most. Share of runs that keep any weight of the {word}: "
        f"{seeds_and_draws(source.runs(experiment))}; of best subset and L1, fitted to the pooled rows, share of "
        f"splits. The direction is the one in most runs of {labels[first]}."
    )
    heading = "a higher value is associated with" if classes else "target at higher values"
    of, rows = rows_by(shares, "method", "gene"), []
    for _, row in shares[shares["method"] == first].head(GENES).iterrows():
        gene, label = row["gene"], row["label"]
        agreed = "" if row["agreement"] == 1 else " (" + number(row, "agreement", "{:.0%}") + " of runs)"
        cells: Row = {
            word.capitalize(): gene if label == gene else f"{shortened(label, LONGEST)} ({gene})",
            heading: as_cell(row["direction"]) + agreed,
        }
        for method, name in labels.items():
            cells[name] = number(of[method, gene], "frequency", share) if (method, gene) in of else share(0.0)
        rows.append(cells)
    return Table(shares, rows, note, selections(chosen, genes["gene"]), "value")


def _shares(selected: pd.DataFrame, genes: pd.DataFrame) -> pd.DataFrame:
    shares = gene_shares(selected, genes.rename(columns={"gene": "probe"}))
    shares = shares.rename(columns={"gene": "label", "probe": "gene"})
    return shares[["method", "gene", "label", "frequency", "n"]]


def by_scaling(source: Source, scalings: Mapping[str, str]) -> Figure:
    """The genes selected under each scaling of the Golub data: a heat map per method, dark if many runs select a gene.

    scalings: the label of each experiment's scaling; the figure shows the methods that all experiments ran.
    """
    picked, parts = [], []
    for name, words in scalings.items():
        names = source.probes(name)
        chosen = selected_features(source, name, len(names))
        picked.append(selections(chosen, names["label"].rename("gene")))
        shares = gene_shares(chosen, names).drop_duplicates(["method", "gene"])[["method", "gene", "together", "n"]]
        accuracy = with_metric(source.runs(name), "accuracy").groupby("method")["accuracy"].mean()
        parts.append(shares.join(accuracy, on="method").assign(experiment=name, scaling=words.replace("\n", " ")))
    columns = ["experiment", "method", "gene", "scaling", "together", "accuracy", "n"]
    shares = pd.concat(parts, ignore_index=True)[columns].rename(columns={"together": "frequency"})
    methods = source.from_reference(set.intersection(*(set(source.runs(name)["method"]) for name in scalings)))
    leading = _leading(shares[shares["method"].isin(methods[:1])], scalings)
    data = shares[shares["gene"].isin(leading) & shares["method"].isin(methods)].reset_index(drop=True)

    def paint() -> Drawing:
        if data.empty:
            return sentence("no method that ran under every scaling selects a gene")
        size = (2.5 + 1.5 * len(methods), 1.5 + 0.17 * len(leading))
        drawing, axes = canvas(1, len(methods), size=size, sharey=True, squeeze=False)
        for axis, method in zip(axes.flat, source.order(methods), strict=True):
            _draw_map(axis, data[data["method"] == method], leading, scalings)
            axis.set_title(source.labels[method])
        axes[0, 0].set_yticks([0.5 + row for row in range(len(leading))])
        axes[0, 0].set_yticklabels([shortened(name, LONGEST_TICK) for name in leading])
        drawing.suptitle("share of runs that select any probe of the gene, by scaling of the data", fontsize=8)
        return drawing

    return Figure(data, pd.concat(picked, ignore_index=True), paint, "value")


def _leading(shares: pd.DataFrame, experiments: Iterable[str]) -> list[str]:
    """The genes that a method selects most under any scaling, scaling by scaling."""
    ranked = shares.sort_values(["frequency", "gene"], ascending=[False, True])
    top = [ranked.loc[ranked["experiment"] == experiment, "gene"].head(BY_SCALING) for experiment in experiments]
    return list(dict.fromkeys(pd.concat(top)))


def _draw_map(axes: Axes, shares: pd.DataFrame, leading: list[str], scalings: Mapping[str, str]) -> None:
    import seaborn  # takes half a second

    grid = shares.pivot(index="gene", columns="experiment", values="frequency")
    grid = grid.reindex(index=leading, columns=list(scalings)).fillna(0.0)
    texts = grid.map(lambda share: f"{share:.2f}" if share else "")
    look = {"fmt": "", "annot_kws": {"fontsize": 6}, "cmap": "Blues", "vmin": 0, "vmax": 1, "cbar": False}
    seaborn.heatmap(grid, annot=texts, ax=axes, **look)
    accuracy = shares.groupby("experiment")["accuracy"].first()
    labels = [f"{words}\nacc. {accuracy.get(name, float('nan')):.2f}" for name, words in scalings.items()]
    axes.set_xticklabels(labels, fontsize=6, rotation=90)
    axes.tick_params(length=0)
    axes.set(xlabel="", ylabel="")
