"""Shared gates, our addition: whole genes compared with single weights, at the same splits and run seeds."""

from collections.abc import Mapping, Sequence

import pandas as pd

from eflops.analysis.cells import Row, number, spread
from eflops.analysis.products.genes import measures
from eflops.analysis.source import Source
from eflops.analysis.stats.genes import selected_features
from eflops.analysis.stats.summary import seeds_and_draws, summarise_all
from eflops.analysis.table import Table
from eflops.analysis.text import share

METRICS = {"accuracy": "accuracy", "auc": "AUC"}


def genes(source: Source, rows: Mapping[str, Sequence[str]]) -> Table:
    """One row per kind of gates: accuracy, and the genes that it selects with their stability over splits.

    rows: label of each row: its experiment and method.
    """
    every = {words: _runs(source, *row) for words, row in rows.items()}
    there = {words: part for words, part in every.items() if len(part)}
    if not there:
        return Table(pd.DataFrame(columns=["experiment", "method"]), [], "None of the methods ran.", columns=["Gates"])
    common = set.intersection(*({*zip(part["draw"], part["seed"], strict=True)} for part in there.values()))
    parts = [part[[run in common for run in zip(part["draw"], part["seed"], strict=True)]] for part in there.values()]
    features = len(source.probes(next(iter(rows.values()))[0]))
    cells = []
    for (experiment, method), part in zip((rows[words] for words in there), parts, strict=True):
        finished = part[part["status"] == "finished"]
        # Over splits, run seed by run seed: sets of one split are alike whatever selects them.
        by_seed = [measures(runs["selected"], features) for _, runs in finished.groupby("seed")]
        genes_of = pd.DataFrame(by_seed or [measures([], features)]).mean()
        means = summarise_all(part, list(METRICS), ["experiment"]).set_index("metric")
        of_metrics = {f"{name}_{what}": means.loc[name, what] for name in METRICS for what in ("mean", "sd")}
        identity = {"experiment": experiment, "method": method, "diverged": len(part) - len(finished)}
        kept = {"kept": finished["kept"].mean()}
        cells.append({**identity, **of_metrics, **kept, **genes_of, "n": len(finished)})
    data, runs = pd.DataFrame(cells), pd.concat(parts, ignore_index=True)
    printed = [_printed(words, row) for words, (_, row) in zip(there, data.iterrows(), strict=True)]
    note = (
        f"Mean ± standard deviation: {seeds_and_draws(runs, 'split')}. Nogueira's index of the sets of genes over "
        "splits, with its 95 % interval (1: always the same genes; 0: as by chance), averaged over run seeds. A gate "
        "for each gene is ours; the cut then keeps whole genes."
    )
    return Table(data, printed, note, runs.assign(genes=runs["selected"].map(len)).drop(columns="selected"), "genes")


def _runs(source: Source, experiment: str, method: str) -> pd.DataFrame:
    """The runs of a method, with the genes that each selects."""
    chosen = selected_features(source, experiment, len(source.probes(experiment)))
    runs = source.runs(experiment).merge(chosen[["record", "selected"]], on="record")
    return runs[runs["method"] == method]


def _printed(words: str, row: pd.Series) -> Row:
    metrics = {label: spread(row, f"{name}_mean", f"{name}_sd", False) for name, label in METRICS.items()}
    index = number(row, "nogueira", share)
    if pd.notna(row["nogueira"]):
        index += " [" + number(row, "low", share) + ", " + number(row, "high", share) + "]"
    lost = " (" + number(row, "diverged", "{:.0f}") + " diverged)" if row["diverged"] else ""
    return {
        "Gates": words,
        "n": number(row, "n", "{:.0f}") + lost,
        **metrics,
        "weights": number(row, "kept", "{:.1f}"),
        "genes": number(row, "genes", "{:.1f}"),
        "different genes": number(row, "different_genes", "{:.0f}"),
        "Nogueira's index": index,
    }
