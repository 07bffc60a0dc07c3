"""The share of runs that select each gene: probe by probe, and all probes of a gene together.

A run selects a probe when it keeps any of the probe's weights, of whichever class.
"""

import pandas as pd


def gene_shares(selected: pd.DataFrame, genes: pd.DataFrame) -> pd.DataFrame:
    """One row a method and probe that any of its runs selects, the most frequent first.

    selected: one row a run, as `selected_features` gives it; a diverged run counts in n and selects nothing.
    genes: one row a feature, as `eflops.data.golub.genes` gives it.
    `frequency` is the probe's share of runs, `together` that of runs with any probe of the same gene.
    """
    chosen = _chosen(selected, genes)
    runs = selected.groupby("method").size().rename("n")
    probes = chosen.groupby(["method", "feature"]).size().rename("chosen").reset_index()
    probes = probes.merge(genes, left_on="feature", right_index=True).assign(gene_key=lambda row: _gene_key(row))
    either = chosen.drop_duplicates(["method", "run", "gene_key"]).groupby(["method", "gene_key"]).size()
    probes = probes.join(runs, on="method").join(either.rename("either"), on=["method", "gene_key"])
    shares = probes.assign(
        gene=probes["label"], frequency=probes["chosen"] / probes["n"], together=probes["either"] / probes["n"]
    )
    columns = ["method", "gene", "symbol", "probe", "frequency", "together", "n"]
    return shares.sort_values(["method", "chosen", "feature"], ascending=[True, False, True], ignore_index=True)[
        columns
    ]


def _chosen(selected: pd.DataFrame, genes: pd.DataFrame) -> pd.DataFrame:
    """One row a run and selected feature."""
    rows = selected[["method", "selected"]].rename_axis("run").reset_index().explode("selected")
    rows = rows.dropna(subset="selected").rename(columns={"selected": "feature"}).astype({"feature": int})
    return rows.join(_gene_key(genes).rename("gene_key"), on="feature")


def _gene_key(genes: pd.DataFrame) -> pd.Series:
    """What the probes of one gene have in common: its symbol; a probe without one stands for itself."""
    return genes["symbol"].where(genes["symbol"] != "", genes["probe"])
