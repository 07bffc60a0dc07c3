"""How alike the genes are that a method selects, over splits and over run seeds."""

from collections.abc import Mapping

import pandas as pd

from eflops.analysis.source import Source
from eflops.analysis.stats.genes import fitted_features, selected_features
from eflops.analysis.stats.stability import stability_over
from eflops.analysis.table import Table
from eflops.analysis.text import share

NOTE = (
    "Nogueira's index of the sets of genes that runs select (1: always the same genes; 0: as by chance), across splits "
    "with the run seed held, and across run seeds with the split held. Runs that diverged are left out."
)


def make(source: Source) -> Table:
    """One row per method, the references last."""
    (experiment,) = source.experiments
    cells, labels = stabilities(source, experiment)
    runs = selected_features(source, experiment, len(source.genes(experiment)))
    runs = runs[runs["status"] == "finished"]
    runs = runs.assign(genes=runs["selected"].map(len)).drop(columns="selected")
    return Table(cells, pd.DataFrame([_shown(row, labels) for _, row in cells.iterrows()]), NOTE, runs, "genes")


def stabilities(source: Source, experiment: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """One row per method and reference of an experiment, and what each is called."""
    features = len(source.genes(experiment))
    runs, fits = selected_features(source, experiment, features), source.references(experiment)
    rows = []
    for method in source.order(runs["method"]):
        own = runs[runs["method"] == method]
        finished = own[own["status"] == "finished"]
        rows.append({"method": method, "diverged": len(own) - len(finished), **stability_over(finished, features)})
    for name, fit in fits.groupby("reference", sort=False):
        chosen = fit.assign(seed=0, selected=fitted_features(fit))
        rows.append({"method": name, "diverged": 0, **stability_over(chosen, features)})
    return pd.DataFrame(rows).assign(experiment=experiment), source.labels_with(fits)


def _shown(row: pd.Series, labels: Mapping[str, str]) -> dict[str, str]:
    return {
        "Method": labels[row["method"]],
        "n": f"{row['n']}" + (f" ({row['diverged']} diverged)" if row["diverged"] else ""),
        "genes per run": share(row["genes"], "{:.1f}"),
        "different genes": f"{row['different_genes']}",
        "over splits": share(row["over_splits"]),
        "over seeds": share(row["over_seeds"]),
    }
