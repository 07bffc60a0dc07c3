"""Table 2 of the paper: the share of runs in which a method selects a gene, number by number and list by list.

A share is compared with the interval for the paper's number of runs at one more split (`stats.prediction`). For a list
the question is whether it would be an outlier among our splits. It is one if its mean Jaccard index with our splits'
lists is among the lowest 5 % of each list's mean index with the others, or with fewer than 19 splits, if it is the
lowest.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from eflops.analysis.paper import PROBES, Printed, our_probe
from eflops.analysis.scorecard.card import GeneList, MissingGene
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.line import Estimate, Line, combine_verdicts, estimate
from eflops.analysis.scorecard.verdict import ALPHA, SHARE_LONGEST, Value, Verdict, unjudged
from eflops.analysis.stats.genes import jaccard, selected_of
from eflops.analysis.stats.prediction import beta_binomial_interval
from eflops.errors import UserError

SEARCHED, NEAREST = "golub_splits", "golub_nearest"
LISTED = 7
# Fewer splits do not show how far shares and lists vary from one to the next.
FEWEST = 5

# Gene -> 0 or 1 for each run, [splits, seeds]; the most selected first.
Selected = dict[str, np.ndarray]


def lines(evidence: Evidence) -> Iterator[Line]:
    """One line per gene and method, in the paper's order."""
    for method, column in evidence.paper.genes.items():
        searched, nearest = (_selected(evidence, name, method) for name in (SEARCHED, NEAREST))
        for rank, (gene, printed) in enumerate(column.items(), 1):
            where = (f"table2/{method}/{gene}", str(rank), method, gene)
            if isinstance(searched, str):
                yield Line(*where, unjudged(searched), printed)
                continue
            first = _share(evidence, gene, printed, searched)
            second = None if isinstance(nearest, str) else _share(evidence, gene, printed, nearest)
            yield Line(*where, combine_verdicts(first, second), printed, (first.value.mean or 0.0) - printed.value)


def lists(evidence: Evidence) -> Iterator[Line]:
    """One line per method: whether the paper's list would be an outlier among our splits'."""
    for method in evidence.paper.genes:
        where = (f"table2-list/{method}", "list", method, "")
        searched, nearest = (_selected(evidence, name, method) for name in (SEARCHED, NEAREST))
        if isinstance(searched, str):
            yield Line(*where, unjudged(searched))
            continue
        first, alike = _listed(evidence, method, searched)
        second = None if isinstance(nearest, str) else _listed(evidence, method, nearest)[0]
        yield Line(*where, combine_verdicts(first, second), Printed(alike), (first.value.mean or 0.0) - alike)


def facts(evidence: Evidence) -> list[GeneList]:
    """By method and settings: how many genes our splits' lists share with each other, and with the paper's.

    shared: how many of the paper's genes are among our seven; missing: the others with our share and the paper's.
    """
    rows: list[GeneList] = []
    for method in evidence.paper.genes:
        for settings, experiment in (("searched", SEARCHED), ("nearest", NEAREST)):
            selection = _selected(evidence, experiment, method)
            if isinstance(selection, str):
                continue
            named, lists = _names_of(evidence, method), split_lists(selection)
            missing = _missing(evidence, method, selection)
            rows.append(
                {
                    "method": method,
                    "settings": settings,
                    "genes": len(named),
                    "among_ours": float(np.mean([len({*one} & {*other}) for one, other in combinations(lists, 2)])),
                    "with_paper": float(np.mean([len({*one} & {*named.values()}) for one in lists])),
                    "shared": len(named) - len(missing),
                    "missing": missing,
                }
            )
    return rows


def selected(evidence: Evidence, experiment: str, method: str) -> Selected:
    """The probes that the runs of a method selected. A diverged run has selected none."""
    runs = evidence.runs(experiment, [method], "accuracy", draws=FEWEST)
    kept, names = evidence.supports(experiment), evidence.source.probes(experiment)
    chosen = selected_of(kept[kept["record"].isin(runs["record"])], len(names)).sort_values(["draw", "seed"])
    shape = chosen["draw"].nunique(), chosen["seed"].nunique()
    table = np.zeros((len(names), len(chosen)))
    for run, features in enumerate(chosen["selected"]):
        table[features, run] = 1.0
    counts = table.sum(axis=1)
    ranked = [int(feature) for feature in np.argsort(-counts, kind="stable") if counts[feature]]
    return {name: table[feature].reshape(shape) for name, feature in zip(_names(ranked, names), ranked, strict=True)}


def our_name(gene: str, aliases: dict[str, str]) -> str:
    """Our name for a gene that the paper prints."""
    name, number = our_probe(gene, aliases)
    return name + PROBES[number]


def most_selected(shares: Mapping[str, float]) -> list[str]:
    """The genes with the largest shares, at most seven; genes that were never selected are left out."""
    present = [gene for gene, share in shares.items() if share > 0]
    return sorted(present, key=lambda gene: -shares[gene])[:LISTED]


def split_lists(selection: Selected) -> list[list[str]]:
    """The list of each split."""
    splits = len(next(iter(selection.values()))) if selection else 0
    shares = [{gene: float(runs[split].mean()) for gene, runs in selection.items()} for split in range(splits)]
    return list(map(most_selected, shares))


def whole_list(selection: Selected) -> list[str]:
    """The list over all splits."""
    return most_selected({gene: _mean(selection, gene) for gene in selection})


def similarity(lists: Sequence[Sequence[str]]) -> np.ndarray:
    """The mean Jaccard index of each list with all others; two empty lists count as equal."""
    return (jaccard(lists).sum(axis=1) - 1) / (len(lists) - 1)


def _selected(evidence: Evidence, experiment: str, method: str) -> Selected | str:
    """The selected probes, or the reason why they are unknown."""
    try:
        return selected(evidence, experiment, method)
    except UserError as lack:
        return str(lack)


def _names_of(evidence: Evidence, method: str) -> dict[str, str]:
    """The genes of the paper's column, and our names for them."""
    return {gene: our_name(gene, evidence.paper.gene_aliases) for gene in evidence.paper.genes[method]}


def _names(ranked: list[int], names: pd.DataFrame) -> list[str]:
    """The name of each probe: its gene's name, with a number from the gene's second probe on."""
    seen: dict[str, int] = {}
    labels = []
    for feature in ranked:
        gene = str(names["label"][feature])
        number = seen.get(gene, 0)
        seen[gene] = number + 1
        labels.append(gene + (PROBES[number] if number < len(PROBES) else f" (probe {number + 1})"))
    return labels


def _missing(evidence: Evidence, method: str, selection: Selected) -> list[MissingGene]:
    """The genes of the paper's column that are not among our seven, each with our share of runs and the paper's."""
    first, column = whole_list(selection), evidence.paper.genes[method]
    return [
        {"gene": gene, "ours": _mean(selection, name), "paper": column[gene].value}
        for gene, name in _names_of(evidence, method).items()
        if name not in first
    ]


def _mean(selection: Selected, gene: str) -> float:
    return float(selection[gene].mean()) if gene in selection else 0.0


def _share(evidence: Evidence, gene: str, printed: Printed, selection: Selected) -> Estimate:
    runs = evidence.paper.sizes["golub"].runs or 1
    like = next(iter(selection.values()), np.zeros((2, 1)))
    chosen = selection.get(our_name(gene, evidence.paper.gene_aliases), np.zeros_like(like))
    share = beta_binomial_interval(chosen, runs)
    value = Value(gene, share.mean, share.low, share.high, share.splits, "splits")
    # The paper prints two decimals of what is a whole number of its runs.
    whole = round(printed.value * runs) / runs
    return estimate(whole, value, SHARE_LONGEST, f" for {runs} runs at one more split")


def _listed(evidence: Evidence, method: str, selection: Selected) -> tuple[Estimate, float]:
    """The judgement of a list, and its similarity to ours."""
    named, lists = _names_of(evidence, method), split_lists(selection)
    alike = similarity([list(named.values()), *lists])
    paper, others = float(alike[0]), alike[1:]
    position, rank = (1 + int(lower.sum()) for lower in (others < paper, others <= paper))
    outlier = rank / len(alike) <= max(ALPHA, 1 / len(alike))
    shared = [gene for gene in whole_list(selection) if gene in named.values()]
    shares = "{gene} ({ours:.2f} of our runs, {paper:.2f} of the paper's)"
    missing = [shares.format(**each) for each in _missing(evidence, method, selection)]
    ends = float(others.mean()), float(others.min()), float(others.max())
    reason = (
        f"Among the lists of our {len(lists)} splits, the paper's ranks {position} of {len(alike)} by mean Jaccard "
        f"index with the others, the lowest first ({paper:.2f}): it is {'an' if outlier else 'no'} outlier. Of its "
        f"{len(named)} genes {len(shared)} are among our seven: {'; '.join(shared) or 'none'}"
        f"{'. Not among them: ' if missing else ''}{'; '.join(missing)}"
    )
    value = Value("mean Jaccard index of a split's list", *ends, len(lists), "splits")
    return Estimate(value, Verdict.DIFFERS if outlier else Verdict.AGREES, reason), paper
