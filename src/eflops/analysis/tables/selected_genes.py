"""The genes that E-FLoPS selects: the share of runs that select each, and which class a higher value speaks for."""

from collections.abc import Mapping

import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.source import Source
from eflops.analysis.stats.genes import directions, fitted_features, gene_shares, selected_features, selections
from eflops.analysis.stats.summary import seeds_and_draws
from eflops.analysis.table import Table
from eflops.analysis.text import shortened

PLACES = 15
LONGEST = 48


def make(source: Source) -> Table:
    """All genes that any run or reference selects as data; shown are those that the first method selects most."""
    (experiment,) = source.experiments
    genes = source.genes(experiment)
    shares = pd.concat([_runs(source, experiment, genes), _references(source, experiment, genes)], ignore_index=True)
    labels = source.labels_with(source.references(experiment))
    methods = [method for method in labels if method in set(shares["method"])]
    first = METHOD if METHOD in methods else methods[0]
    note = (
        f"The {PLACES} genes that {labels[first]} selects most. Share of runs that keep any weight of the gene: "
        f"{seeds_and_draws(source.runs(experiment))}; of best subset and L1, fitted to the pooled samples, share of "
        f"splits. The direction is that of most runs of {labels[first]}."
    )
    runs = selections(selected_features(source, experiment, len(genes)), genes["gene"])
    return Table(shares, _shown(shares, first, {method: labels[method] for method in methods}), note, runs, "value")


def _runs(source: Source, experiment: str, genes: pd.DataFrame) -> pd.DataFrame:
    shares = _shares(selected_features(source, experiment, len(genes)), genes)
    known = directions(source.supports(experiment), len(genes), source.classes(experiment))
    known["gene"] = known["feature"].map(genes["gene"])
    return shares.merge(known.drop(columns="feature"), on=["method", "gene"], how="left")


def _references(source: Source, experiment: str, genes: pd.DataFrame) -> pd.DataFrame:
    fits = source.references(experiment)
    selected = fits[["reference"]].rename(columns={"reference": "method"}).assign(selected=fitted_features(fits))
    return _shares(selected, genes).assign(direction="", agreement=float("nan"))


def _shares(selected: pd.DataFrame, genes: pd.DataFrame) -> pd.DataFrame:
    shares = gene_shares(selected, genes.rename(columns={"gene": "probe"}))
    shares = shares.rename(columns={"gene": "label", "probe": "gene"})
    return shares[["method", "gene", "label", "frequency", "n"]]


def _shown(shares: pd.DataFrame, first: str, labels: Mapping[str, str]) -> pd.DataFrame:
    own = shares[shares["method"] == first].head(PLACES)
    by_method = shares.pivot(index="gene", columns="method", values="frequency").fillna(0.0)
    rows = []
    for row in own.itertuples():
        name = row.gene if row.label == row.gene else f"{shortened(row.label, LONGEST)} ({row.gene})"
        agreed = "" if row.agreement == 1 else f" ({row.agreement:.0%} of runs)"
        texts = {label: f"{by_method.loc[row.gene, method]:.2f}" for method, label in labels.items()}
        rows.append({"Gene": name, "a higher value speaks for": f"{row.direction}{agreed}", **texts})
    return pd.DataFrame(rows)
