"""Which genes runs select, the share of runs that select each, and which class a gene's higher value speaks for.

A run selects a probe when it keeps any of the probe's weights, of whichever class.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from eflops.analysis.source import Source

_SECOND = re.compile(r"^(.*) \(second probe\)$")


def selected_features(source: Source, experiment: str, features: int) -> pd.DataFrame:
    """One row per run: its identity, status, and `selected`, the sorted features with any kept weight.

    Weights are laid out class by class, `features` of them for each class.
    """
    return selected_of(source.supports(experiment), features)


def selected_of(supports: pd.DataFrame, features: int) -> pd.DataFrame:
    """The same for runs with their `support`."""
    selected = [sorted({int(weight) % features for weight in kept.split()}) for kept in supports["support"]]
    return supports.drop(columns=["support", "weights"], errors="ignore").assign(selected=selected)


def fitted_features(fits: pd.DataFrame) -> list[list[int]]:
    """The features of each reference fit."""
    return [[int(feature) for feature in str(text).split()] for text in fits["features"]]


def selections(selected: pd.DataFrame, names: pd.Series) -> pd.DataFrame:
    """One row per run and name that any run of its method selects; `value` is 1 where the run itself does, else 0.

    selected: as `selected_features` gives it; names: what each feature is called, such as its probe or its gene.
    """
    parts = []
    for _, runs in selected.groupby("method", sort=False):
        chosen = [{names[feature] for feature in row} for row in runs["selected"]]
        known = pd.DataFrame({names.name: sorted(set().union(*chosen))})
        rows = runs.drop(columns="selected").merge(known, how="cross")
        parts.append(rows.assign(value=[float(name in row) for row in chosen for name in known[names.name]]))
    return pd.concat(parts, ignore_index=True)


def gene_shares(selected: pd.DataFrame, genes: pd.DataFrame) -> pd.DataFrame:
    """One row per method and probe that any of its runs selects, the most frequent first.

    selected: as `selected_features` gives it; a diverged run counts in n and selects nothing.
    genes: one row per feature, as `eflops.data.golub.genes` gives it.
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
    ranked = shares.sort_values(["method", "chosen", "feature"], ascending=[True, False, True], ignore_index=True)
    return ranked[columns]


def share_of(printed: str, shares: dict[str, list[float]], aliases: dict[str, str]) -> float:
    """Our share for a gene as the paper prints it: its most selected probe, or the second where it says so.

    shares: those of a gene's probes, the most selected first. The paper lists probes under the names of their genes:
    interleukin 8 stands twice in one of its columns.
    """
    second = _SECOND.match(printed)
    gene = second.group(1) if second else printed
    probes = shares.get(aliases.get(gene, gene), [])
    place = 1 if second else 0
    return probes[place] if len(probes) > place else 0.0


def _chosen(selected: pd.DataFrame, genes: pd.DataFrame) -> pd.DataFrame:
    """One row per run and selected feature."""
    rows = selected[["method", "selected"]].rename_axis("run").reset_index().explode("selected")
    rows = rows.dropna(subset="selected").rename(columns={"selected": "feature"}).astype({"feature": int})
    return rows.join(_gene_key(genes).rename("gene_key"), on="feature")


def _gene_key(genes: pd.DataFrame) -> pd.Series:
    """What the probes of one gene have in common: its symbol; a probe without one stands for itself."""
    return genes["symbol"].where(genes["symbol"] != "", genes["probe"])


def directions(runs: pd.DataFrame, features: int, classes: Sequence[str]) -> pd.DataFrame:
    """One row per method and selected feature: its usual `direction` and `agreement`, the share of runs that have it.

    runs: one row per run, as `Source.supports` gives it; weights are laid out class by class.
    """
    found: dict[tuple[str, int], Counter[str]] = {}
    for run in runs.itertuples():
        kept = [int(index) for index in run.support.split()]
        weights = np.zeros((len(classes), features))
        weights.ravel()[kept] = [float(weight) for weight in run.weights.split()]
        for feature in {index % features for index in kept}:
            found.setdefault((run.method, feature), Counter())[direction(weights[:, feature], classes)] += 1
    rows = []
    for (method, feature), counts in found.items():
        usual, times = counts.most_common(1)[0]
        rows.append((method, feature, usual, times / counts.total()))
    return pd.DataFrame(rows, columns=["method", "feature", "direction", "agreement"])


def direction(weights: np.ndarray, classes: Sequence[str]) -> str:
    """The class with the largest weight; of several that no weight speaks for, the one that a weight speaks against."""
    order = np.argsort(-weights, kind="stable")
    if weights[order[0]] > weights[order[1]]:
        return classes[order[0]]
    return f"not {classes[order[-1]]}"
