"""Which genes runs selected at each split, under the names that the paper's lists have."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.stats.genes import selected_of
from eflops.data.golub import genes

LISTED = 7
# Fewer splits do not show how far shares and lists vary from one to the next.
FEWEST = 5
# The paper lists probes under the names of their genes: interleukin 8 stands twice in one of its columns.
PLACES = ("", " (second probe)", " (third probe)")

# Gene -> 0 or 1 for each run, [splits, seeds]; the most selected first.
Selected = dict[str, np.ndarray]


def selected(evidence: Evidence, experiment: str, method: str) -> Selected:
    """What the runs of a method selected: every probe that any run did. A diverged run has selected nothing."""
    runs = evidence.runs(experiment, [method], "accuracy", draws=FEWEST)
    kept, names = evidence.supports(experiment), genes()
    chosen = selected_of(kept[kept["record"].isin(runs["record"])], len(names)).sort_values(["draw", "seed"])
    shape = chosen["draw"].nunique(), chosen["seed"].nunique()
    runs_of: dict[int, list[int]] = {}
    for run, row in enumerate(chosen["selected"]):
        for feature in row:
            runs_of.setdefault(feature, []).append(run)
    features = sorted(runs_of)
    found = {feature: np.bincount(runs_of[feature], minlength=len(chosen)).astype(float) for feature in features}
    ranked = sorted(features, key=lambda feature: -found[feature].sum())
    return {name: found[feature].reshape(shape) for name, feature in zip(_names(ranked, names), ranked, strict=True)}


def printed_name(gene: str, aliases: Mapping[str, str]) -> str:
    """Our name of a gene as the paper prints it."""
    for place in PLACES[1:]:
        if gene.endswith(place):
            return aliases.get(gene.removesuffix(place), gene.removesuffix(place)) + place
    return aliases.get(gene, gene)


def most_selected(shares: Mapping[str, float]) -> list[str]:
    """The genes with the largest shares, seven at most, none that was never selected."""
    present = [gene for gene, share in shares.items() if share > 0]
    return sorted(present, key=lambda gene: -shares[gene])[:LISTED]


def split_lists(found: Selected) -> list[list[str]]:
    """The list of each split."""
    splits = len(next(iter(found.values()))) if found else 0
    return [most_selected({gene: float(runs[split].mean()) for gene, runs in found.items()}) for split in range(splits)]


def whole_list(found: Selected) -> list[str]:
    """The list over all splits."""
    return most_selected({gene: float(runs.mean()) for gene, runs in found.items()})


def _names(ranked: list[int], names: pd.DataFrame) -> list[str]:
    """A probe by its gene's name; a gene's second probe by its place among them."""
    seen: dict[str, int] = {}
    told = []
    for feature in ranked:
        gene = str(names["label"][feature])
        place = seen.get(gene, 0)
        seen[gene] = place + 1
        told.append(gene + (PLACES[place] if place < len(PLACES) else f" (probe {place + 1})"))
    return told
