"""Which genes runs select: the share of runs for each gene, its associated class, and the similarity of the sets.

A run selects a probe when it keeps any of the probe's weights, of whichever class. Sets are a 0/1 matrix [runs,
features], one row per run. Two measures of their similarity:

    Jaccard     the mean over all pairs of runs of shared features / features of either; sets by chance are not at 0
    Nogueira's  1 - mean_f s_f^2 / (k/d (1 - k/d)), s_f^2 the unbiased variance of feature f's column, k the mean size
                of a set, d the number of features: 1 for equal sets, 0 in expectation for sets drawn by chance
                (Nogueira, Sechidis and Brown, Journal of Machine Learning Research 18, 2018)
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from eflops.analysis.paper import PROBES, our_probe
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import LEVEL


def selected_features(source: Source, experiment: str, features: int) -> pd.DataFrame:
    """One row per run: its identity, status, and `selected`, the sorted features with any kept weight.

    Weights are laid out class by class, `features` of them for each class.
    """
    return selected_of(source.supports(experiment), features)


def selected_of(supports: pd.DataFrame, features: int) -> pd.DataFrame:
    """`selected_features` for runs with a column `support`."""
    # A feature with weights of several classes is one selected feature.
    selected = [sorted({int(weight) % features for weight in kept.split()}) for kept in supports["support"]]
    return supports.drop(columns=["support", "weights"], errors="ignore").assign(selected=selected)


def fitted_features(fits: pd.DataFrame) -> list[list[int]]:
    """The features of each reference fit."""
    return [[int(feature) for feature in str(text).split()] for text in fits["features"]]


def selections(selected: pd.DataFrame, names: pd.Series) -> pd.DataFrame:
    """One row per run and name that any run of its method selects; `value` is 1 if the run selects it, else 0.

    selected: as returned by `selected_features`; names: the name of each feature, such as its probe or its gene.
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

    selected: as returned by `selected_features`; a diverged run counts in n and selects nothing. genes: one row per
    feature, as returned by `Source.probes`. `frequency` is the probe's share of runs, `together` that of runs with
    any probe of the same gene.
    """
    chosen = _chosen(selected, genes)
    runs = selected.groupby("method").size().rename("n")
    probes = chosen.groupby(["method", "feature"]).size().rename("chosen").reset_index()
    probes = probes.merge(genes, left_on="feature", right_index=True).assign(gene_key=lambda row: _gene_key(row))
    # A run with two probes of a gene selects the gene once.
    either = chosen.drop_duplicates(["method", "run", "gene_key"]).groupby(["method", "gene_key"]).size()
    probes = probes.join(runs, on="method").join(either.rename("either"), on=["method", "gene_key"])
    shares = probes.assign(
        gene=probes["label"], frequency=probes["chosen"] / probes["n"], together=probes["either"] / probes["n"]
    )
    columns = ["method", "gene", "symbol", "probe", "frequency", "together", "n"]
    ranked = shares.sort_values(["method", "chosen", "feature"], ascending=[True, False, True], ignore_index=True)
    return ranked[columns]


def share_of(printed: str, shares: dict[str, list[float]], aliases: dict[str, str]) -> float:
    """Our share for a gene that the paper prints: its most selected probe, or the second if the paper means that.

    shares: the shares of a gene's probes, the most selected first.
    """
    gene, index = our_probe(printed, aliases)
    return (shares.get(gene, []) + [0.0] * len(PROBES))[index]


def _chosen(selected: pd.DataFrame, genes: pd.DataFrame) -> pd.DataFrame:
    """One row per run and selected feature."""
    rows = selected[["method", "selected"]].rename_axis("run").reset_index().explode("selected")
    rows = rows.dropna(subset="selected").rename(columns={"selected": "feature"}).astype({"feature": int})
    return rows.join(_gene_key(genes).rename("gene_key"), on="feature")


def _gene_key(genes: pd.DataFrame) -> pd.Series:
    """The key that the probes of one gene share: its symbol; a probe without a symbol is its own key."""
    return genes["symbol"].where(genes["symbol"] != "", genes["probe"])


def directions(runs: pd.DataFrame, features: int, classes: Sequence[str]) -> pd.DataFrame:
    """One row per method and selected feature: its usual `direction` and `agreement`, the share of runs that have it.

    runs: one row per run, as returned by `Source.supports`; weights are laid out class by class; classes: empty if
    the target is a number.
    """
    counts_by_feature: dict[tuple[str, int], Counter[str]] = {}
    for run in runs.itertuples():
        kept = [int(index) for index in run.support.split()]
        weights = np.zeros((len(classes) or 1, features))
        weights.ravel()[kept] = [float(weight) for weight in run.weights.split()]
        for feature in {index % features for index in kept}:
            counts_by_feature.setdefault((run.method, feature), Counter())[direction(weights[:, feature], classes)] += 1
    rows = []
    for (method, feature), counts in counts_by_feature.items():
        usual, times = counts.most_common(1)[0]
        rows.append((method, feature, usual, times / counts.total()))
    return pd.DataFrame(rows, columns=["method", "feature", "direction", "agreement"])


def direction(weights: np.ndarray, classes: Sequence[str]) -> str:
    """The class that a higher value is associated with: the one with the largest weight.

    If several classes share the largest weight, "not" the class with the smallest. For a numeric target, higher or
    lower.
    """
    if not classes:
        return "higher" if weights[0] > 0 else "lower"
    # Stable, so that classes with equal weights keep the order of the config on every machine.
    order = np.argsort(-weights, kind="stable")
    if weights[order[0]] > weights[order[1]]:
        return classes[order[0]]
    return f"not {classes[order[-1]]}"


@dataclass(frozen=True)
class Stability:
    """Nogueira's index and its interval; NaN below two sets, or where none or all features are selected."""

    value: float
    low: float
    high: float


def selection(sets: Iterable[Sequence[int]], features: int) -> np.ndarray:
    """The 0/1 matrix [runs, features] of sets of feature indices."""
    rows = [np.bincount(np.asarray(chosen, dtype=int), minlength=features) > 0 for chosen in sets]
    return np.array(rows, dtype=float).reshape(len(rows), features)


def jaccard(sets: Iterable[Iterable[object]]) -> np.ndarray:
    """The Jaccard index of each pair of sets, [sets, sets]; two empty sets count as equal."""
    frozen = [frozenset(chosen) for chosen in sets]
    return np.array([[len(a & b) / len(a | b) if a | b else 1.0 for b in frozen] for a in frozen])


def mean_jaccard(sets: Iterable[Iterable[object]]) -> float:
    """The mean Jaccard index of all pairs of sets; NaN below two sets."""
    table = jaccard(sets)
    return float(table[np.triu_indices(len(table), 1)].mean()) if len(table) > 1 else math.nan


def nogueira(selected: np.ndarray) -> Stability:
    """The index of a selection [runs, features] with its asymptotic interval (the delta method over runs)."""
    runs, features = selected.shape
    share = selected.mean(axis=0) if runs else np.zeros(features)
    density = float(share.mean())
    by_chance = density * (1 - density)
    # With no or all features selected there is no variance by chance to divide by.
    if runs < 2 or by_chance == 0:
        return Stability(math.nan, math.nan, math.nan)
    # runs / (runs - 1) makes the variance of each column unbiased, so that sets drawn by chance have the mean 0.
    value = 1 - runs / (runs - 1) * float((share * (1 - share)).mean()) / by_chance
    half = float(ndtri((1 + LEVEL) / 2)) * _standard_error(selected, share, value, by_chance)
    return Stability(value, value - half, value + half)


def _standard_error(selected: np.ndarray, share: np.ndarray, value: float, by_chance: float) -> float:
    """From each run's influence on the index: 2 (z_i.p/d - k_i k/d^2 + value/2 (2 k_i k/d^2 - k_i/d)) / by_chance."""
    run_density, mean = selected.mean(axis=1), float(share.mean())
    agreement = (selected * share).mean(axis=1) - run_density * mean
    influence = 2 * (agreement + value / 2 * (2 * mean - 1) * run_density) / by_chance
    # Summed over runs and not over features, which are dependent within a run.
    return float(np.sqrt(((influence - influence.mean()) ** 2).sum())) / len(selected)


def stability_over(runs: pd.DataFrame, features: int) -> dict[str, float]:
    """Measures of one method's runs: genes per run, different genes, and Nogueira's index over splits and seeds.

    runs: one row per finished run with draw, seed and `selected`. Over splits, the index is computed across the
    splits of each seed and averaged over seeds; over seeds, vice versa. NaN with one split or one seed.
    """
    sets = [list(chosen) for chosen in runs["selected"]]
    return {
        "n": len(sets),
        "genes": float(np.mean([len(chosen) for chosen in sets])) if sets else float("nan"),
        "different_genes": len({feature for chosen in sets for feature in chosen}),
        "over_splits": _index(runs.groupby("seed")["selected"], features),
        "over_seeds": _index(runs.groupby("draw")["selected"], features),
        "jaccard": mean_jaccard(sets),
    }


def _index(groups: Iterable[tuple[object, pd.Series]], features: int) -> float:
    values = [nogueira(selection(chosen, features)).value for _, chosen in groups]
    # A group with one set has no index, and counting it as 0 or 1 would be a statement.
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
