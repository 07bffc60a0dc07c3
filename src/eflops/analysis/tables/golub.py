"""The leukaemia data: genes by frequency (Table 2), accuracy, paired tests, and how stable the genes are.

`over` says what each experiment varies, in the order of the rows.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from eflops.analysis.paper import OVERLAP
from eflops.analysis.source import Source
from eflops.analysis.stats.genes import fitted_features, gene_shares, selected_features, selections
from eflops.analysis.stats.stability import mean_jaccard, nogueira, selection
from eflops.analysis.stats.summary import CELL, best, seeds_and_draws, summarise_all
from eflops.analysis.table import Table
from eflops.analysis.tables.comparisons import compared, comparison_table
from eflops.analysis.text import bold, share, shortened, spread
from eflops.data.golub import genes

PLACES = 7
LONGEST = 48
METRICS = {"accuracy": "accuracy", "cross_entropy": "cross-entropy", "auc": "AUC"}
TESTED = {"accuracy": "accuracy", "auc": "AUC", "cross_entropy": "cross-entropy"}


def gene_frequency(source: Source, splits: str, seeds: str = "") -> Table:
    """Table 2: the share of runs that select each gene, over splits; shown are the most frequent seven of each method.

    splits: the experiment over splits; seeds: one over run seeds of one split, whose shares stand beside. The data hold
    all probes that any run over splits selects.
    """
    names = genes()
    selected = selected_features(source, splits, len(names))
    picked = selections(selected, names["probe"])
    shares = gene_shares(selected, names).merge(_over_splits(picked), on=["method", "probe"], how="left")
    over = seeds_and_draws(selected, "split")
    note = f"Share of runs that keep any weight of the probe: mean ± standard deviation over {over}"
    if seeds:
        one_split = selected_features(source, seeds, len(names))
        beside = gene_shares(one_split, names).rename(columns={"frequency": "one_split"})
        shares = shares.merge(beside[["method", "probe", "one_split"]], on=["method", "probe"], how="left")
        shares = shares.fillna({"one_split": 0.0})
        note += f"; behind the stroke the share over {seeds_and_draws(one_split, 'split')}"
    methods = source.order(selected["method"])
    columns = {source.labels[method]: _places(shares[shares["method"] == method]) for method in methods}
    return Table(
        pd.concat([shares[shares["method"] == method] for method in methods], ignore_index=True),
        pd.DataFrame({"place": range(1, PLACES + 1), **columns}),
        f"{note}. Where runs select several probes of one gene, `any` is the share with at least one of them.",
        picked.merge(names.rename(columns={"label": "gene"})[["probe", "gene"]]),
        "value",
    )


def _over_splits(picked: pd.DataFrame) -> pd.DataFrame:
    """How much a probe's share differs from split to split."""
    by_split = picked.groupby(["method", "probe", "draw"], as_index=False)["value"].mean()
    return by_split.groupby(["method", "probe"], as_index=False)["value"].agg(sd_splits="std", splits="count")


def _places(shares: pd.DataFrame) -> list[str]:
    cells = [_place(row) for _, row in shares.head(PLACES).iterrows()]
    return cells + [""] * (PLACES - len(cells))


def _place(row: pd.Series) -> str:
    name = shortened(row["gene"], LONGEST)
    probe = "" if name == row["probe"] else f" {row['probe']}"
    together = f", any {row['together']:.2f}" if row["together"] > row["frequency"] else ""
    spread_over = "" if pd.isna(row["sd_splits"]) else f" ± {row['sd_splits']:.2f}"
    beside = f" / {row['one_split']:.2f}" if "one_split" in row else ""
    return f"{name}{probe} ({row['frequency']:.2f}{spread_over}{together}{beside})"


def accuracy(source: Source, over: Mapping[str, str], referenced: Iterable[str]) -> Table:
    """One row per experiment and method, the references last; the best federated accuracy of an experiment is bold.

    referenced: the experiments whose pooled samples were fitted without a federation, once per split.
    """
    runs = pd.concat([source.runs(name) for name in over], ignore_index=True)
    references = pd.concat([source.references(name).assign(experiment=name) for name in referenced], ignore_index=True)
    fits = references.rename(columns={"reference": "method"}).assign(status="finished")
    both = [summarise_all(frame, list(METRICS), ["experiment", "method"]) for frame in (runs, fits)]
    cells = pd.concat(both, ignore_index=True)
    labels = source.labels_with(references)
    rows = [row for name in over for row in _accuracies(cells[cells["experiment"] == name], over[name], labels, source)]
    note = (
        "Mean ± standard deviation: over run seeds of one split, or over splits, each the mean of its seeds; n runs in "
        "all. With 15 test samples in a split, one sample is 0.067. The best federated accuracy is bold. Best subset "
        "and L1 logistic regression are fitted to the pooled training samples, once per split."
    )
    return Table(cells, pd.DataFrame(rows), note, runs)


def _accuracies(cells: pd.DataFrame, over: str, labels: dict[str, str], source: Source) -> Iterable[dict[str, str]]:
    table = cells.set_index(["metric", "method"])
    accuracies = table.loc["accuracy"]
    first = best(accuracies.loc[source.federated(cells["method"])])
    for name in [name for name in labels if name in set(cells["method"])]:
        texts = {words: spread(*table.loc[(metric, name), CELL]) for metric, words in METRICS.items()}
        texts["accuracy"] = bold(texts["accuracy"], name in first)
        yield {"Method": labels[name], "over": over, "n": f"{accuracies.loc[name, 'n']:.0f}", **texts}


def tests(source: Source, over: Mapping[str, str]) -> Table:
    """One row per metric, experiment and other method; each metric and experiment is a family of its own."""
    frames = [
        _compared(source, name, metric, f"the comparisons of {words} over {over[name]}")
        for metric, words in TESTED.items()
        for name in over
    ]
    return comparison_table(
        pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True),
        {"metric": "metric", "experiment": "over"},
        source,
        pd.concat([source.runs(name) for name in over], ignore_index=True),
        "Over run seeds a pair is a seed of the one split; over splits it is a split, its seeds averaged, with the "
        "corrected resampled t-test, because splits overlap. A higher accuracy or AUC is better, and a lower "
        "cross-entropy.",
        TESTED | dict(over),
        "the rows of one metric and one kind of runs",
    )


def _compared(source: Source, experiment: str, metric: str, family: str) -> pd.DataFrame:
    runs = source.runs(experiment)
    overlap = OVERLAP if runs["draw"].nunique() > 1 else 0.0
    return compared(source, runs, metric, family, ("experiment",), overlap)


def stability(source: Source, over: Mapping[str, str], referenced: str) -> Table:
    """How alike the genes are that a method selects from run to run, and from split to split.

    One row per method; for splits the references too, whose one fit per split is all there is.
    """
    features = len(genes())
    sets = pd.concat([selected_features(source, name, features) for name in over], ignore_index=True)
    rows = [row for name in over for row in _rows(sets[sets["experiment"] == name], source, features)]
    references = source.references(referenced)
    for name, fits in references.groupby("reference", sort=False):
        row = measures(fitted_features(fits), features)
        rows.append({"experiment": referenced, "method": name, "diverged": 0, **row})
    cells = pd.DataFrame(rows)
    labels = source.labels_with(references)
    note = (
        "Of the sets of genes that a method's runs select: their mean size, the mean Jaccard index of all pairs, and "
        "Nogueira's index with its 95 % interval (1: always the same genes; 0: as by chance). Over splits these are "
        "taken across the splits of each run seed, and averaged over seeds. Runs that diverged are left out."
    )
    finished = sets[sets["status"] == "finished"]
    runs = finished.assign(genes=finished["selected"].map(len)).drop(columns="selected")
    shown = pd.DataFrame([_stability(row, labels, over) for _, row in cells.iterrows()])
    return Table(cells, shown, note, runs, "genes")


def measures(sets: Iterable[list[int]], features: int) -> dict[str, float]:
    """All that a row says of some sets of features."""
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


def _rows(sets: pd.DataFrame, source: Source, features: int) -> Iterable[dict[str, Any]]:
    for method in source.order(sets["method"]):
        own = sets[sets["method"] == method]
        finished = own[own["status"] == "finished"]
        place = {"experiment": own["experiment"].iloc[0], "method": method, "diverged": len(own) - len(finished)}
        yield {**place, **_measured(finished, features)}


def _measured(runs: pd.DataFrame, features: int) -> dict[str, float]:
    """The measures of some runs; of several splits, those across the splits of each run seed, averaged over seeds."""
    whole = {"n": len(runs), "different_genes": len({feature for row in runs["selected"] for feature in row})}
    if runs["draw"].nunique() < 2 or runs["seed"].nunique() < 2:
        return measures(runs["selected"], features) | whole
    by_seed = pd.DataFrame([measures(own["selected"], features) for _, own in runs.groupby("seed")])
    return {str(name): float(value) for name, value in by_seed.mean().items()} | whole


def _stability(row: pd.Series, labels: Mapping[str, str], over: Mapping[str, str]) -> dict[str, str]:
    interval = f" [{share(row['low'])}, {share(row['high'])}]" if pd.notna(row["nogueira"]) else ""
    return {
        "Method": labels[row["method"]],
        "over": over[row["experiment"]],
        "n": f"{row['n']}" + (f" ({row['diverged']} diverged)" if row["diverged"] else ""),
        "genes per run": share(row["genes"], "{:.1f}"),
        "different genes": f"{row['different_genes']}",
        "Jaccard": share(row["jaccard"]),
        "Nogueira's index": f"{share(row['nogueira'])}{interval}",
    }
