"""How far a search's trials are from the paper's numbers: is there a setting at which they come out?"""

from pathlib import Path

import numpy as np
import pandas as pd

from eflops.analysis.paper import Paper
from eflops.analysis.stats.genes import gene_shares, selected_of, share_of
from eflops.data.golub import genes

KEYS = ["method", "variant"]


def distances(table: str, runs: pd.DataFrame, supports: Path, paper: Paper) -> dict[tuple[str, str], float]:
    """The root mean square distance of each trial from its method's column in a table of the paper."""
    if table == "gene_frequency":
        kept = pd.read_csv(supports, keep_default_na=False, dtype=str)
        runs, known, differences = runs.merge(kept, on="record", validate="1:1"), set(paper.genes), _from_shares
    else:
        known, differences = {method for row in paper.recovery.values() for method in row}, _from_recovery
    trials = runs[runs["method"].isin(known)].groupby(KEYS, sort=False)
    return {(method, variant): _rms(differences(method, trial, paper)) for (method, variant), trial in trials}


def _from_recovery(method: str, trial: pd.DataFrame, paper: Paper) -> list[float]:
    """At each ratio, the mean over draws and seeds less the paper's number; a diverged run has found nothing."""
    found = trial["support_recovery"].where(trial["status"] == "finished", 0.0).groupby(trial["ratio"]).mean()
    return [float(value) - paper.recovery[float(ratio)][method].value for ratio, value in found.items()]


def _from_shares(method: str, trial: pd.DataFrame, paper: Paper) -> list[float]:
    """For each gene of the paper's column, the share of runs that select the gene less the paper's share."""
    names = genes()
    shares = gene_shares(selected_of(trial, len(names)), names)
    probes = {str(gene): list(group) for gene, group in shares.groupby("gene", sort=False)["frequency"]}
    return [share_of(gene, probes, paper.gene_aliases) - share.value for gene, share in paper.genes[method].items()]


def _rms(differences: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(differences))))
