"""Table 2: the share of runs that select each gene, the most frequent seven of each method."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from eflops.analysis.gene_shares import gene_shares
from eflops.analysis.source import Source
from eflops.analysis.supports import selected_features
from eflops.analysis.table import Table
from eflops.data.golub import genes

EXPERIMENT = "golub_runs"
PLACES = 7
LONGEST = 48


def make(source: Source) -> Table:
    """All probes that any run selects as data; shown are a column a method and a row a place."""
    names = genes()
    shares = gene_shares(selected_features(source, EXPERIMENT, len(names)), names)
    methods = source.order(shares["method"])
    columns = {source.labels[method]: _column(shares[shares["method"] == method]) for method in methods}
    shown = pd.DataFrame({"place": range(1, PLACES + 1), **columns})
    return Table(
        pd.concat([shares[shares["method"] == method] for method in methods], ignore_index=True),
        shown,
        "Genes by the share of runs that select them",
        f"Share of {shares['n'].max()} run seeds of one split that keep any weight of the probe. Where runs select "
        "several probes of one gene, `any` is the share with at least one of them.",
    )


def trace(source: Source, keys: Mapping[str, Any]) -> pd.DataFrame:
    """The runs of a row's method, each with 1 where it selects the row's probe and 0 where not."""
    names = genes()
    runs = selected_features(source, EXPERIMENT, len(names))
    runs = runs[runs["method"] == keys["method"]]
    wanted = names["probe"] == keys["probe"] if "probe" in keys else names["label"] == keys["gene"]
    features = set(names.index[wanted])
    return runs.assign(value=[float(not features.isdisjoint(row)) for row in runs["selected"]]).drop(columns="selected")


def _column(shares: pd.DataFrame) -> list[str]:
    cells = [_cell(row) for _, row in shares.head(PLACES).iterrows()]
    return cells + [""] * (PLACES - len(cells))


def _cell(row: pd.Series) -> str:
    name = row["gene"] if len(row["gene"]) <= LONGEST else row["gene"][: LONGEST - 1] + "…"
    probe = "" if name == row["probe"] else f" {row['probe']}"
    together = f", any {row['together']:.2f}" if row["together"] > row["frequency"] else ""
    return f"{name}{probe} ({row['frequency']:.2f}{together})"
